// MPI_Gather, MPI_Scatter, MPI_Allgather, MPI_Alltoall, those with counts, and their nonblocking and persistent forms. Short
// ones go through lanes inside a node, but for nonblocking ones whose lengths only pairs of members know. All others go by
// messages, each of which lands where it belongs.

#include "interpose/mpi/block_call.hpp"
#include "interpose/mpi/host_needs.hpp"
#include "interpose/mpi/short_blocks.hpp"

namespace sluice::calls {
namespace {

using forms::Blocking;
using forms::Nonblocking;
using forms::Persistent;
using Prepared = std::optional<PreparedCollective>;
using Lengths = BlockCall::Lengths;

Prepared prepared(const BlockCall& call, bool is_carried, CallSite site) {
  return is_carried ? Prepared(call.prepare(site)) : std::nullopt;
}

/// Blocking, with lengths that only pairs know.
std::optional<int> in_lanes(BlockCall& call, bool is_carried, CallSite site) {
  return is_carried ? std::optional(call.carry_out_in_lanes(site)) : std::nullopt;
}

struct GatherCall {
  static auto prepare_short(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                            MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    return short_gather(site, {sent, sent_count, sent_type}, {received, count, type}, root, comm);
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    BlockCall call(OrderKind::gather, Lengths::equal, comm, root);
    const bool is_carried = call.between({sent, sent_count, sent_type}, equal(received, count, type));
    return prepared(call, is_carried, site);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::gather(arguments...); }
};

struct GathervCall {
  static std::optional<int> carry_out_short(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type,
                                            const void* received, auto counts, auto displacements, MPI_Datatype type, int root,
                                            MPI_Comm comm) {
    BlockCall call(OrderKind::gather, Lengths::of_pairs_in_lanes, comm, root);
    const bool is_carried = call.between({sent, sent_count, sent_type}, counted(received, counts, displacements, type));
    return in_lanes(call, is_carried, site);
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          auto counts, auto displacements, MPI_Datatype type, int root, MPI_Comm comm) {
    BlockCall call(OrderKind::gather, Lengths::of_pairs, comm, root);
    const bool is_carried = call.between({sent, sent_count, sent_type}, counted(received, counts, displacements, type));
    return prepared(call, is_carried, site);
  }
};

struct ScatterCall {
  static auto prepare_short(CallSite site, const void* sent, MPI_Count count, MPI_Datatype type, const void* received,
                            MPI_Count received_count, MPI_Datatype received_type, int root, MPI_Comm comm) {
    return short_scatter(site, {sent, count, type}, {received, received_count, received_type}, root, comm);
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count count, MPI_Datatype type, const void* received,
                          MPI_Count received_count, MPI_Datatype received_type, int root, MPI_Comm comm) {
    BlockCall call(OrderKind::scatter, Lengths::equal, comm, root);
    const bool is_carried = call.between({received, received_count, received_type}, equal(sent, count, type));
    return prepared(call, is_carried, site);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::scatter(arguments...); }
};

struct ScattervCall {
  static std::optional<int> carry_out_short(CallSite site, const void* sent, auto counts, auto displacements, MPI_Datatype type,
                                            const void* received, MPI_Count received_count, MPI_Datatype received_type, int root,
                                            MPI_Comm comm) {
    BlockCall call(OrderKind::scatter, Lengths::of_pairs_in_lanes, comm, root);
    const bool is_carried = call.between({received, received_count, received_type}, counted(sent, counts, displacements, type));
    return in_lanes(call, is_carried, site);
  }
  static Prepared prepare(CallSite site, const void* sent, auto counts, auto displacements, MPI_Datatype type,
                          const void* received, MPI_Count received_count, MPI_Datatype received_type, int root, MPI_Comm comm) {
    BlockCall call(OrderKind::scatter, Lengths::of_pairs, comm, root);
    const bool is_carried = call.between({received, received_count, received_type}, counted(sent, counts, displacements, type));
    return prepared(call, is_carried, site);
  }
};

struct AllgatherCall {
  static auto prepare_short(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                            MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    return short_allgather(site, {sent, sent_count, sent_type}, {received, count, type}, comm);
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    BlockCall call(OrderKind::allgather, Lengths::equal, comm);
    const bool is_carried = call.between_all(OneBlock{sent, sent_count, sent_type}, equal(received, count, type));
    return prepared(call, is_carried, site);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::allgather(arguments...); }
};

struct AllgathervCall {
  static std::optional<ShortCall<AllgathervStep>> prepare_short(CallSite site, const void* sent, MPI_Count sent_count,
                                                                MPI_Datatype sent_type, const void* received, auto counts,
                                                                auto displacements, MPI_Datatype type, MPI_Comm comm) {
    const Communicator* const communicator = adopted(comm);
    if (!communicator || received == MPI_IN_PLACE) return std::nullopt;
    return short_allgatherv(site, {sent, sent_count, sent_type},
                            counted_blocks(received, counts, displacements, type, communicator->size), comm);
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          auto counts, auto displacements, MPI_Datatype type, MPI_Comm comm) {
    BlockCall call(OrderKind::allgather, Lengths::known, comm);
    const bool is_carried =
        call.between_all(OneBlock{sent, sent_count, sent_type}, counted(received, counts, displacements, type));
    return prepared(call, is_carried, site);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::allgatherv(arguments...); }
};

struct AlltoallCall {
  static auto prepare_short(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                            MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    return short_alltoall(site, {sent, sent_count, sent_type}, {received, count, type}, comm);
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    BlockCall call(OrderKind::alltoall, Lengths::equal, comm);
    const bool is_carried = call.between_all(equal(sent, sent_count, sent_type), equal(received, count, type));
    return prepared(call, is_carried, site);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::alltoall(arguments...); }
};

struct AlltoallvCall {
  static std::optional<int> carry_out_short(CallSite site, const void* sent, auto sent_counts, auto sent_displacements,
                                            MPI_Datatype sent_type, const void* received, auto counts, auto displacements,
                                            MPI_Datatype type, MPI_Comm comm) {
    BlockCall call(OrderKind::alltoall, Lengths::of_pairs_in_lanes, comm);
    const bool is_carried = call.between_all(counted(sent, sent_counts, sent_displacements, sent_type),
                                             counted(received, counts, displacements, type));
    return in_lanes(call, is_carried, site);
  }
  static Prepared prepare(CallSite site, const void* sent, auto sent_counts, auto sent_displacements, MPI_Datatype sent_type,
                          const void* received, auto counts, auto displacements, MPI_Datatype type, MPI_Comm comm) {
    BlockCall call(OrderKind::alltoall, Lengths::of_pairs, comm);
    const bool is_carried = call.between_all(counted(sent, sent_counts, sent_displacements, sent_type),
                                             counted(received, counts, displacements, type));
    return prepared(call, is_carried, site);
  }
};

struct AlltoallwCall {
  static std::optional<int> carry_out_short(CallSite site, const void* sent, auto sent_counts, auto sent_displacements,
                                            const MPI_Datatype sent_types[], const void* received, auto counts,
                                            auto displacements, const MPI_Datatype types[], MPI_Comm comm) {
    BlockCall call(OrderKind::alltoall, Lengths::of_pairs_in_lanes, comm);
    const bool is_carried =
        call.between_all(typed(sent, sent_counts, sent_displacements, sent_types), typed(received, counts, displacements, types));
    return in_lanes(call, is_carried, site);
  }
  static Prepared prepare(CallSite site, const void* sent, auto sent_counts, auto sent_displacements,
                          const MPI_Datatype sent_types[], const void* received, auto counts, auto displacements,
                          const MPI_Datatype types[], MPI_Comm comm) {
    BlockCall call(OrderKind::alltoall, Lengths::of_pairs, comm);
    const bool is_carried =
        call.between_all(typed(sent, sent_counts, sent_displacements, sent_types), typed(received, counts, displacements, types));
    return prepared(call, is_carried, site);
  }
};

#define BLOCK_CALL(X)                           \
  constexpr Blocking<&HostTable::X, X##Call> X; \
  constexpr Blocking<&HostTable::X##_c, X##Call> X##_c;
#define NONBLOCKING_BLOCK_CALL(X, I)                            \
  constexpr Nonblocking<&HostTable::I, X##Call> I;              \
  constexpr Nonblocking<&HostTable::I##_c, X##Call> I##_c;      \
  constexpr Persistent<&HostTable::X##_init, X##Call> X##_init; \
  constexpr Persistent<&HostTable::X##_init_c, X##Call> X##_init_c;

BLOCK_CALL(Gather)
BLOCK_CALL(Gatherv)
BLOCK_CALL(Scatter)
BLOCK_CALL(Scatterv)
BLOCK_CALL(Allgather)
BLOCK_CALL(Allgatherv)
BLOCK_CALL(Alltoall)
BLOCK_CALL(Alltoallv)
BLOCK_CALL(Alltoallw)
NONBLOCKING_BLOCK_CALL(Gather, Igather)
NONBLOCKING_BLOCK_CALL(Gatherv, Igatherv)
NONBLOCKING_BLOCK_CALL(Scatter, Iscatter)
NONBLOCKING_BLOCK_CALL(Scatterv, Iscatterv)
NONBLOCKING_BLOCK_CALL(Allgather, Iallgather)
NONBLOCKING_BLOCK_CALL(Allgatherv, Iallgatherv)
NONBLOCKING_BLOCK_CALL(Alltoall, Ialltoall)
NONBLOCKING_BLOCK_CALL(Alltoallv, Ialltoallv)
NONBLOCKING_BLOCK_CALL(Alltoallw, Ialltoallw)

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Gather)
EXPORT(Gather_c)
EXPORT(Gatherv)
EXPORT(Gatherv_c)
EXPORT(Scatter)
EXPORT(Scatter_c)
EXPORT(Scatterv)
EXPORT(Scatterv_c)
EXPORT(Allgather)
EXPORT(Allgather_c)
EXPORT(Allgatherv)
EXPORT(Allgatherv_c)
EXPORT(Alltoall)
EXPORT(Alltoall_c)
EXPORT(Alltoallv)
EXPORT(Alltoallv_c)
EXPORT(Alltoallw)
EXPORT(Alltoallw_c)
EXPORT(Igather)
EXPORT(Igather_c)
EXPORT(Igatherv)
EXPORT(Igatherv_c)
EXPORT(Iscatter)
EXPORT(Iscatter_c)
EXPORT(Iscatterv)
EXPORT(Iscatterv_c)
EXPORT(Iallgather)
EXPORT(Iallgather_c)
EXPORT(Iallgatherv)
EXPORT(Iallgatherv_c)
EXPORT(Ialltoall)
EXPORT(Ialltoall_c)
EXPORT(Ialltoallv)
EXPORT(Ialltoallv_c)
EXPORT(Ialltoallw)
EXPORT(Ialltoallw_c)
EXPORT(Gather_init)
EXPORT(Gather_init_c)
EXPORT(Gatherv_init)
EXPORT(Gatherv_init_c)
EXPORT(Scatter_init)
EXPORT(Scatter_init_c)
EXPORT(Scatterv_init)
EXPORT(Scatterv_init_c)
EXPORT(Allgather_init)
EXPORT(Allgather_init_c)
EXPORT(Allgatherv_init)
EXPORT(Allgatherv_init_c)
EXPORT(Alltoall_init)
EXPORT(Alltoall_init_c)
EXPORT(Alltoallv_init)
EXPORT(Alltoallv_init_c)
EXPORT(Alltoallw_init)
EXPORT(Alltoallw_init_c)
