#include "interpose/mpi/host_needs.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "interpose/mpi/arguments.hpp"
#include "interpose/mpi/communicators.hpp"

namespace sluice::host_needs {
namespace {

using Reach = HostNeeds::Reach;

HostNeeds everything() { return HostNeeds(Reach::everything); }

/// nullopt: not understood.
using Range = std::optional<ByteRange>;

constexpr ByteRange nothing{};

Range range_of(const void* address, MPI_Count count, MPI_Datatype type) {
  const BufferArgument buffer(address, count, type);
  return buffer.valid() ? Range(buffer.span()) : std::nullopt;
}

/// Of what is only bytes.
Range range_of(const void* address, MPI_Count bytes) {
  return bytes < 0 ? std::nullopt : Range(ByteRange::of(address, static_cast<std::size_t>(bytes)));
}

/// From the first byte of all blocks to the last. A block of no elements lies nowhere.
class Hull {
 public:
  void add(const void* base, std::ptrdiff_t offset, MPI_Count count, MPI_Datatype type) {
    const auto address = reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset);
    const Range block = range_of(reinterpret_cast<const void*>(address), count, type);
    if (!block) {
      understood_ = false;
    } else if (!block->empty()) {
      hull_ = hull_.empty() ? *block : ByteRange{std::min(hull_.begin, block->begin), std::max(hull_.end, block->end)};
    }
  }
  [[nodiscard]] Range range() const { return understood_ ? Range(hull_) : std::nullopt; }

 private:
  ByteRange hull_;
  bool understood_ = true;
};

std::optional<std::ptrdiff_t> extent_of(MPI_Datatype type) {
  const FlatType* flat = flat_type(type);
  if (!flat) return std::nullopt;
  return flat->simple ? static_cast<std::ptrdiff_t>(flat->size) : flat->layout->extent();
}

template <typename Count>
MPI_Count sum(const Count counts[], int ranks) {
  return std::accumulate(counts, counts + ranks, MPI_Count{0});
}

template <typename Count, typename Displacement>
Range blocks_of(const void* base, const Count counts[], const Displacement displacements[], MPI_Datatype type, int ranks) {
  const auto extent = extent_of(type);
  if (!extent || !counts || !displacements) return std::nullopt;
  Hull hull;
  for (int i = 0; i < ranks; ++i) hull.add(base, *extent * static_cast<std::ptrdiff_t>(displacements[i]), counts[i], type);
  return hull.range();
}

HostNeeds needs(Reach reach, const Range& read, const Range& written) {
  if (!read || !written) return everything();
  return HostNeeds(reach).reads(*read).writes(*written);
}

/// Of a call that has no longer messages than so many elements.
Reach reach_of(MPI_Count longest, MPI_Datatype type) {
  const FlatType* flat = flat_type(type);
  const MPI_Count most = flat && flat->size != 0 ? static_cast<MPI_Count>(copied_bytes / flat->size) : longest;
  return longest <= most ? Reach::copied : Reach::everything;
}

bool is_in_place(const void* address) { return address == MPI_IN_PLACE; }

Range unless_in_place(const void* address, MPI_Count count, MPI_Datatype type) {
  return is_in_place(address) ? Range(nothing) : range_of(address, count, type);
}

}  // namespace

HostNeeds barrier(MPI_Comm) { return HostNeeds(Reach::copied); }

HostNeeds bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (!adopted(comm)) return everything();
  const Range range = range_of(buffer, count, type);
  const bool is_root = rank_in(comm) == root;
  return needs(reach_of(count, type), is_root ? range : nothing, is_root ? nothing : range);
}

// Along a tree, a message may have the parts of all ranks.

HostNeeds gather(const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, void* received, MPI_Count count,
                 MPI_Datatype type, int root, MPI_Comm comm) {
  const Communicator* communicator = adopted(comm);
  if (!communicator) return everything();
  const MPI_Count ranks = communicator->size;
  if (rank_in(comm) != root)
    return needs(reach_of(sent_count * ranks, sent_type), range_of(sent, sent_count, sent_type), nothing);
  return needs(reach_of(count * ranks, type), unless_in_place(sent, sent_count, sent_type),
               range_of(received, count * ranks, type));
}

HostNeeds scatter(const void* sent, MPI_Count count, MPI_Datatype type, void* received, MPI_Count received_count,
                  MPI_Datatype received_type, int root, MPI_Comm comm) {
  const Communicator* communicator = adopted(comm);
  if (!communicator) return everything();
  const MPI_Count ranks = communicator->size;
  if (rank_in(comm) != root)
    return needs(reach_of(received_count * ranks, received_type), nothing, range_of(received, received_count, received_type));
  return needs(reach_of(count * ranks, type), range_of(sent, count * ranks, type),
               unless_in_place(received, received_count, received_type));
}

HostNeeds allgather(const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, void* received, MPI_Count count,
                    MPI_Datatype type, MPI_Comm comm) {
  const Communicator* communicator = adopted(comm);
  if (!communicator) return everything();
  const MPI_Count all = count * communicator->size;
  return needs(reach_of(all, type), unless_in_place(sent, sent_count, sent_type), range_of(received, all, type));
}

HostNeeds alltoall(const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, void* received, MPI_Count count,
                   MPI_Datatype type, MPI_Comm comm) {
  const Communicator* communicator = adopted(comm);
  if (!communicator) return everything();
  const MPI_Count all = count * communicator->size;
  const Range read = is_in_place(sent) ? Range(nothing) : range_of(sent, sent_count * communicator->size, sent_type);
  return needs(reach_of(all, type), read, range_of(received, all, type));
}

HostNeeds reduce(const void* sent, void* received, MPI_Count count, MPI_Datatype type, MPI_Op, int root, MPI_Comm comm) {
  if (!adopted(comm)) return everything();
  const Range written = rank_in(comm) == root ? range_of(received, count, type) : nothing;
  return needs(reach_of(count, type), unless_in_place(sent, count, type), written);
}

HostNeeds allreduce(const void* sent, void* received, MPI_Count count, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
  if (!adopted(comm)) return everything();
  return needs(reach_of(count, type), unless_in_place(sent, count, type), range_of(received, count, type));
}

HostNeeds reduce_scatter_block(const void* sent, void* received, MPI_Count count, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
  const Communicator* communicator = adopted(comm);
  if (!communicator) return everything();
  const MPI_Count all = count * communicator->size;
  if (is_in_place(sent)) return needs(reach_of(all, type), nothing, range_of(received, all, type));
  return needs(reach_of(all, type), range_of(sent, all, type), range_of(received, count, type));
}

HostNeeds reduce_local(const void* in, void* in_out, MPI_Count count, MPI_Datatype type, MPI_Op) {
  return needs(Reach::local, range_of(in, count, type), range_of(in_out, count, type));
}

template <typename Count>
HostNeeds reduce_scatter(const void* sent, void* received, const Count counts[], MPI_Datatype type, MPI_Op, MPI_Comm comm) {
  const Communicator* communicator = adopted(comm);
  if (!communicator || !counts) return everything();
  const MPI_Count all = sum(counts, communicator->size);
  if (is_in_place(sent)) return needs(reach_of(all, type), nothing, range_of(received, all, type));
  return needs(reach_of(all, type), range_of(sent, all, type), range_of(received, counts[rank_in(comm)], type));
}

template <typename Count, typename Displacement>
HostNeeds allgatherv(const void* sent, Count sent_count, MPI_Datatype sent_type, void* received, const Count counts[],
                     const Displacement displacements[], MPI_Datatype type, MPI_Comm comm) {
  const Communicator* communicator = adopted(comm);
  if (!communicator || !counts) return everything();
  const int ranks = communicator->size;
  return needs(reach_of(sum(counts, ranks), type), unless_in_place(sent, sent_count, sent_type),
               blocks_of(received, counts, displacements, type, ranks));
}

HostNeeds pack(const void* in, MPI_Count count, MPI_Datatype type, void* out, MPI_Count out_bytes, const void*, MPI_Comm) {
  return needs(Reach::local, range_of(in, count, type), range_of(out, out_bytes));
}

HostNeeds unpack(const void* in, MPI_Count in_bytes, const void*, void* out, MPI_Count count, MPI_Datatype type, MPI_Comm) {
  return needs(Reach::local, range_of(in, in_bytes), range_of(out, count, type));
}

HostNeeds pack_external(const char[], const void* in, MPI_Count count, MPI_Datatype type, void* out, MPI_Count out_bytes,
                        const void*) {
  return needs(Reach::local, range_of(in, count, type), range_of(out, out_bytes));
}

HostNeeds unpack_external(const char[], const void* in, MPI_Count in_bytes, const void*, void* out, MPI_Count count,
                          MPI_Datatype type) {
  return needs(Reach::local, range_of(in, in_bytes), range_of(out, count, type));
}

#define SLUICE_FOR_COUNTS_OF(Count, Displacement)                                                                           \
  template HostNeeds reduce_scatter(const void*, void*, const Count[], MPI_Datatype, MPI_Op, MPI_Comm);                     \
  template HostNeeds allgatherv(const void*, Count, MPI_Datatype, void*, const Count[], const Displacement[], MPI_Datatype, \
                                MPI_Comm)
SLUICE_FOR_COUNTS_OF(int, int);
SLUICE_FOR_COUNTS_OF(MPI_Count, MPI_Aint);
#undef SLUICE_FOR_COUNTS_OF

}  // namespace sluice::host_needs
