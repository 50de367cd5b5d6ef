// Decodes random datatypes and compares what Sluice packs, unpacks and gathers with the host's MPI_Pack and MPI_Unpack.
//
// Usage: layout_check [first-seed [seeds]], one process. Prints seed and construction of whatever differs.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "interpose/mpi/datatype_decoder.hpp"
#include "interpose/mpi/datatype_packing.hpp"
#include "interpose/mpi/datatypes.hpp"
#include "random_type.hpp"

namespace {

using Bytes = std::vector<std::byte>;

constexpr MPI_Count largest_message = 1 << 20;
constexpr MPI_Count largest_span = 8 << 20;

/// Memory that `count` elements of a type occupy, with a margin on both sides.
class Memory {
 public:
  Memory(MPI_Datatype type, int count) {
    MPI_Count size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    PMPI_Type_size_x(type, &size);
    if (size == 0) return;  // the host gives such a type no sensible bounds
    PMPI_Type_get_extent_x(type, &lower, &extent);
    PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent);
    const MPI_Count last = extent * (count - 1);
    first_ = true_lower + std::min<MPI_Count>(last, 0) - 64;
    span_ = true_extent + std::abs(last) + 128;
  }
  [[nodiscard]] MPI_Count span() const { return span_; }
  [[nodiscard]] Bytes fresh(std::byte filler) const { return Bytes(static_cast<std::size_t>(span_), filler); }
  /// Where the buffer begins when its bytes are `memory`.
  [[nodiscard]] std::byte* origin(Bytes& memory) const { return memory.data() - first_; }

 private:
  MPI_Count first_ = -64;
  MPI_Count span_ = 128;
};

class Check {
 public:
  explicit Check(unsigned seed) : seed_(seed), maker_(seed) {}

  /// 1: compared, 0: too large to be compared; exits when something differs.
  int run() {
    type_ = maker_.make(1 + seed_ % 4);
    const int combiner = sluice::combiner_of(type_);
    const bool is_copy = combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_RESIZED;  // committed as its original is
    require(is_copy || sluice::flat_type(type_) == nullptr, "a type that is not committed was accepted");
    count_ = maker_.below(5);
    MPI_Count size = 0;
    PMPI_Type_size_x(type_, &size);
    const Memory memory(type_, std::max(count_, 1));
    if (size * count_ > largest_message || memory.span() > largest_span) return 0;
    PMPI_Type_commit(&type_);
    const sluice::FlatType* flat = sluice::flat_type(type_);
    require(flat != nullptr, "a committed type was not understood");
    require(flat->size == static_cast<std::size_t>(size), "the size differs");
    flat_ = *flat;
    compare(memory);
    flat_ = {flat->size, false, sluice::layout_by_packing(type_, MPI_COMM_SELF)};
    require(flat_.layout != nullptr, "a type could not be understood by packing it");
    compare(memory);
    const sluice::TypeFree free(type_);  // its maker has the host free it
    return 1;
  }

 private:
  void require(bool condition, const char* complaint) {
    if (condition) return;
    std::printf("seed %u: %s; count %d, type%s\n", seed_, complaint, count_, maker_.description().c_str());
    std::exit(1);
  }

  sluice::UserBuffer buffer(std::byte* origin) { return {origin, static_cast<std::size_t>(count_), flat_.layout}; }

  void compare(const Memory& memory) {
    Bytes user = memory.fresh(std::byte{});
    for (std::byte& byte : user) byte = static_cast<std::byte>(maker_.below(256));
    const Bytes packed = host_pack(memory, user);
    require(buffer(nullptr).bytes() == packed.size(), "the message size differs");
    if (flat_.simple) require(std::equal(packed.begin(), packed.end(), memory.origin(user)), "the type is not simple");
    require(pack(memory, user) == packed, "packed bytes differ");
    require(gather(memory, user) == packed, "gathered bytes differ");
    if (!overlaps(memory, user)) require(unpack(memory, packed) == host_unpack(memory, packed), "unpacked memory differs");
  }

  Bytes host_pack(const Memory& memory, Bytes& user) {
    Bytes packed(flat_.size * static_cast<std::size_t>(count_));
    if (packed.empty()) return packed;  // the host takes no buffer without an address
    int position = 0;
    PMPI_Pack(memory.origin(user), count_, type_, packed.data(), static_cast<int>(packed.size()), &position, MPI_COMM_SELF);
    require(static_cast<std::size_t>(position) == packed.size(), "the host packed another number of bytes");
    return packed;
  }

  Bytes host_unpack(const Memory& memory, const Bytes& packed) {
    Bytes user = memory.fresh(std::byte{0x5A});
    if (packed.empty()) return user;
    int position = 0;
    PMPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, memory.origin(user), count_, type_, MPI_COMM_SELF);
    return user;
  }

  std::size_t next_piece(std::size_t rest) {
    return std::min(rest, static_cast<std::size_t>(1 + maker_.below(maker_.below(2) == 0 ? 10 : 5000)));
  }

  Bytes pack(const Memory& memory, Bytes& user) {
    Bytes whole(flat_.size * static_cast<std::size_t>(count_));
    Bytes pieces(whole.size());
    sluice::LayoutCursor cursor(buffer(memory.origin(user)));
    require(cursor.pack(whole) == whole.size(), "pack stopped early");
    cursor.seek(0);
    for (std::size_t done = 0; done < pieces.size();) {
      done += cursor.pack(std::span(pieces).subspan(done, next_piece(pieces.size() - done)));
    }
    require(whole == pieces, "packing in pieces differs");
    return whole;
  }

  Bytes unpack(const Memory& memory, const Bytes& packed) {
    Bytes user = memory.fresh(std::byte{0x5A});
    sluice::LayoutCursor cursor(buffer(memory.origin(user)));
    for (std::size_t done = 0; done < packed.size();) {
      done += cursor.unpack(std::span(packed).subspan(done, next_piece(packed.size() - done)));
    }
    return user;
  }

  template <typename Note>
  void for_each_range(const Memory& memory, Bytes& user, Note note) {
    sluice::LayoutCursor cursor(buffer(memory.origin(user)));
    std::vector<iovec> ranges(1 + static_cast<std::size_t>(maker_.below(20)));
    while (const std::size_t used = cursor.gather(ranges, next_piece(~std::size_t{0}))) {
      for (const iovec& range : std::span(ranges).first(used)) note(static_cast<std::byte*>(range.iov_base), range.iov_len);
    }
  }

  Bytes gather(const Memory& memory, Bytes& user) {
    Bytes gathered;
    for_each_range(memory, user,
                   [&](const std::byte* start, std::size_t bytes) { gathered.insert(gathered.end(), start, start + bytes); });
    return gathered;
  }

  /// Such a type may be sent but not received.
  bool overlaps(const Memory& memory, Bytes& user) {
    Bytes seen(user.size());
    bool twice = false;
    for_each_range(memory, user, [&](const std::byte* start, std::size_t bytes) {
      for (std::byte& byte : std::span(seen).subspan(static_cast<std::size_t>(start - user.data()), bytes)) {
        twice = twice || byte != std::byte{};
        byte = std::byte{1};
      }
    });
    return twice;
  }

  unsigned seed_;
  layout_check::TypeMaker maker_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int count_ = 0;
  sluice::FlatType flat_;
};

}  // namespace

int main(int argc, char** argv) {
  PMPI_Init(&argc, &argv);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  sluice::open_datatypes();
  const auto first = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1);
  const auto seeds = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 2000);
  unsigned compared = 0;
  for (unsigned seed = first; seed < first + seeds; ++seed) compared += static_cast<unsigned>(Check(seed).run());
  std::printf("layout_check: seeds %u to %u, %u types compared\n", first, first + seeds - 1, compared);
  sluice::close_datatypes();
  PMPI_Finalize();
  return compared > seeds / 2 ? 0 : 1;
}
