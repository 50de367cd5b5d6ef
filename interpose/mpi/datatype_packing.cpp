// A byte has 256 values, so that the places are packed digit by digit, to the base of 256.
#include "interpose/mpi/datatype_packing.hpp"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interpose/host/host.hpp"

namespace sluice {
namespace {

constexpr unsigned digit_bits = 8;

struct Extent {
  MPI_Count lower = 0;  // of the first byte
  MPI_Count bytes = 0;  // from the first to the last
  MPI_Count whole = 0;  // from one element to the next
  MPI_Count size = 0;
};

Extent extent_of(MPI_Datatype type) {
  Extent found;
  MPI_Count ignored = 0;
  host().Type_get_true_extent_x(type, &found.lower, &found.bytes);
  host().Type_get_extent_x(type, &ignored, &found.whole);
  host().Type_size_x(type, &found.size);
  return found;
}

/// Adds one digit of the place of every packed byte.
bool add_digit(std::vector<std::uint64_t>& places, unsigned shift, const Extent& extent, MPI_Datatype type, MPI_Comm comm) {
  std::vector<std::byte> element(static_cast<std::size_t>(extent.bytes));
  std::vector<std::byte> packed(places.size());
  for (std::size_t i = 0; i < element.size(); ++i) element[i] = static_cast<std::byte>(i >> shift);
  int position = 0;
  const auto room = static_cast<int>(packed.size());
  if (host().Pack(element.data() - extent.lower, 1, type, packed.data(), room, &position, comm) != MPI_SUCCESS) return false;
  for (std::size_t i = 0; i < packed.size(); ++i) places[i] |= std::to_integer<std::uint64_t>(packed[i]) << shift;
  return position == room;
}

}  // namespace

std::shared_ptr<const Layout> layout_by_packing(MPI_Datatype type, MPI_Comm comm) {
  const Extent extent = extent_of(type);
  if (extent.size < 0 || extent.size > INT_MAX || extent.bytes < 0) return nullptr;
  std::vector<std::uint64_t> places(static_cast<std::size_t>(extent.size));
  const auto last = static_cast<std::uint64_t>(extent.bytes);
  for (unsigned shift = 0; shift == 0 || (shift < 64 && last >> shift != 0); shift += digit_bits) {
    if (!places.empty() && !add_digit(places, shift, extent, type, comm)) return nullptr;
  }
  LayoutBuilder builder;
  for (std::size_t i = 0, next = 0; i < places.size(); i = next) {
    for (next = i + 1; next < places.size() && places[next] == places[next - 1] + 1; ++next) {
    }
    builder.add({static_cast<std::ptrdiff_t>(places[i]) + static_cast<std::ptrdiff_t>(extent.lower), next - i});
  }
  return builder.finish(extent.whole);
}

}  // namespace sluice
