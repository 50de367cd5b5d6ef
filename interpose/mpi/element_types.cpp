#include "interpose/mpi/element_types.hpp"

#include <array>
#include <vector>

#include "interpose/host/host.hpp"
#include "interpose/mpi/datatype_decoder.hpp"

namespace sluice {
namespace {

/// Those that a derived type was made of, while they are looked at.
class PartTypes {
 public:
  explicit PartTypes(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    host().Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (is_predefined(combiner) || types == 0) return;
    std::vector<int> numbers(static_cast<std::size_t>(integers));
    std::vector<MPI_Aint> displacements(static_cast<std::size_t>(addresses));
    types_.resize(static_cast<std::size_t>(types));
    host().Type_get_contents(type, integers, addresses, types, numbers.data(), displacements.data(), types_.data());
  }
  ~PartTypes() {
    for (MPI_Datatype& type : types_) {
      if (!is_predefined(combiner_of(type))) host().Type_free(&type);
    }
  }
  PartTypes(const PartTypes&) = delete;
  PartTypes& operator=(const PartTypes&) = delete;

  [[nodiscard]] const std::vector<MPI_Datatype>& all() const { return types_; }

 private:
  std::vector<MPI_Datatype> types_;
};

bool is_empty(MPI_Datatype type) {
  MPI_Count size = 0;
  host().Type_size_x(type, &size);
  return size == 0;
}

struct WholePair {
  MPI_Datatype type;
  FlatType flat;
};

WholePair make_whole_pair(const char* symbol) {
  const auto type = static_cast<MPI_Datatype>(host_symbol(symbol));
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  if (type) host().Type_get_extent_x(type, &lower_bound, &extent);
  const auto bytes = static_cast<std::size_t>(extent);
  return {type, {bytes, true, Layout::contiguous(bytes)}};
}

}  // namespace

const FlatType* whole_pair(MPI_Datatype type) {
  static const auto* const pairs = new std::array{make_whole_pair("ompi_mpi_double_int"), make_whole_pair("ompi_mpi_long_int"),
                                                  make_whole_pair("ompi_mpi_short_int"), make_whole_pair("ompi_mpi_longdbl_int")};
  for (const WholePair& pair : *pairs) {
    if (pair.type == type) return &pair.flat;
  }
  return nullptr;
}

MPI_Datatype element_type(MPI_Datatype type) {
  if (is_predefined(combiner_of(type))) return type;
  MPI_Datatype found = nullptr;
  const PartTypes parts(type);
  for (const MPI_Datatype part : parts.all()) {
    if (is_empty(part)) continue;
    const MPI_Datatype element = element_type(part);
    if (!element || (found && element != found)) return nullptr;
    found = element;
  }
  return found;
}

}  // namespace sluice
