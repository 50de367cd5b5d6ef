// MPI_Neighbor_allgather, MPI_Neighbor_alltoall, those with counts, their nonblocking and persistent forms. Short parts of
// blocking ones go through lanes inside a node, all others by messages, each of which lands where it belongs.

#include "interpose/mpi/neighbour_call.hpp"

namespace sluice::calls {
namespace {

using forms::Blocking;
using forms::Nonblocking;
using forms::Persistent;
using Prepared = std::optional<PreparedCollective>;

/// `arguments`: what was sent, and what is received.
std::optional<int> in_lanes(OrderKind kind, CallSite site, MPI_Comm comm, const auto&... arguments) {
  NeighbourCall call(kind, NeighbourCall::Way::lanes, comm);
  return call.between(arguments...) ? std::optional(call.carry_out_in_lanes(site)) : std::nullopt;
}

Prepared by_messages(OrderKind kind, CallSite site, MPI_Comm comm, const auto&... arguments) {
  NeighbourCall call(kind, NeighbourCall::Way::messages, comm);
  return call.between(arguments...) ? Prepared(call.prepare(site)) : std::nullopt;
}

struct NeighborAllgatherCall {
  static constexpr auto kind = OrderKind::neighbour_allgather;
  static auto carry_out_short(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                              MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    return in_lanes(kind, site, comm, OneBlock{sent, sent_count, sent_type}, equal(received, count, type));
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    return by_messages(kind, site, comm, OneBlock{sent, sent_count, sent_type}, equal(received, count, type));
  }
};

struct NeighborAllgathervCall {
  static constexpr auto kind = OrderKind::neighbour_allgather;
  static auto carry_out_short(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                              auto counts, auto displacements, MPI_Datatype type, MPI_Comm comm) {
    return in_lanes(kind, site, comm, OneBlock{sent, sent_count, sent_type}, counted(received, counts, displacements, type));
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          auto counts, auto displacements, MPI_Datatype type, MPI_Comm comm) {
    return by_messages(kind, site, comm, OneBlock{sent, sent_count, sent_type}, counted(received, counts, displacements, type));
  }
};

struct NeighborAlltoallCall {
  static constexpr auto kind = OrderKind::neighbour_alltoall;
  static auto carry_out_short(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                              MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    return in_lanes(kind, site, comm, equal(sent, sent_count, sent_type), equal(received, count, type));
  }
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    return by_messages(kind, site, comm, equal(sent, sent_count, sent_type), equal(received, count, type));
  }
};

struct NeighborAlltoallvCall {
  static constexpr auto kind = OrderKind::neighbour_alltoall;
  static auto carry_out_short(CallSite site, const void* sent, auto sent_counts, auto sent_displacements, MPI_Datatype sent_type,
                              const void* received, auto counts, auto displacements, MPI_Datatype type, MPI_Comm comm) {
    return in_lanes(kind, site, comm, counted(sent, sent_counts, sent_displacements, sent_type),
                    counted(received, counts, displacements, type));
  }
  static Prepared prepare(CallSite site, const void* sent, auto sent_counts, auto sent_displacements, MPI_Datatype sent_type,
                          const void* received, auto counts, auto displacements, MPI_Datatype type, MPI_Comm comm) {
    return by_messages(kind, site, comm, counted(sent, sent_counts, sent_displacements, sent_type),
                       counted(received, counts, displacements, type));
  }
};

struct NeighborAlltoallwCall {
  static constexpr auto kind = OrderKind::neighbour_alltoall;
  static auto carry_out_short(CallSite site, const void* sent, auto sent_counts, auto sent_displacements,
                              const MPI_Datatype sent_types[], const void* received, auto counts, auto displacements,
                              const MPI_Datatype types[], MPI_Comm comm) {
    return in_lanes(kind, site, comm, typed(sent, sent_counts, sent_displacements, sent_types),
                    typed(received, counts, displacements, types));
  }
  static Prepared prepare(CallSite site, const void* sent, auto sent_counts, auto sent_displacements,
                          const MPI_Datatype sent_types[], const void* received, auto counts, auto displacements,
                          const MPI_Datatype types[], MPI_Comm comm) {
    return by_messages(kind, site, comm, typed(sent, sent_counts, sent_displacements, sent_types),
                       typed(received, counts, displacements, types));
  }
};

#define NEIGHBOUR_CALL(X, C)                                                    \
  constexpr Blocking<&HostTable::Neighbor_##X, C> Neighbor_##X;                 \
  constexpr Blocking<&HostTable::Neighbor_##X##_c, C> Neighbor_##X##_c;         \
  constexpr Nonblocking<&HostTable::Ineighbor_##X, C> Ineighbor_##X;            \
  constexpr Nonblocking<&HostTable::Ineighbor_##X##_c, C> Ineighbor_##X##_c;    \
  constexpr Persistent<&HostTable::Neighbor_##X##_init, C> Neighbor_##X##_init; \
  constexpr Persistent<&HostTable::Neighbor_##X##_init_c, C> Neighbor_##X##_init_c;

NEIGHBOUR_CALL(allgather, NeighborAllgatherCall)
NEIGHBOUR_CALL(allgatherv, NeighborAllgathervCall)
NEIGHBOUR_CALL(alltoall, NeighborAlltoallCall)
NEIGHBOUR_CALL(alltoallv, NeighborAlltoallvCall)
NEIGHBOUR_CALL(alltoallw, NeighborAlltoallwCall)

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Neighbor_allgather)
EXPORT(Neighbor_allgather_c)
EXPORT(Neighbor_allgatherv)
EXPORT(Neighbor_allgatherv_c)
EXPORT(Neighbor_alltoall)
EXPORT(Neighbor_alltoall_c)
EXPORT(Neighbor_alltoallv)
EXPORT(Neighbor_alltoallv_c)
EXPORT(Neighbor_alltoallw)
EXPORT(Neighbor_alltoallw_c)
EXPORT(Ineighbor_allgather)
EXPORT(Ineighbor_allgather_c)
EXPORT(Ineighbor_allgatherv)
EXPORT(Ineighbor_allgatherv_c)
EXPORT(Ineighbor_alltoall)
EXPORT(Ineighbor_alltoall_c)
EXPORT(Ineighbor_alltoallv)
EXPORT(Ineighbor_alltoallv_c)
EXPORT(Ineighbor_alltoallw)
EXPORT(Ineighbor_alltoallw_c)
EXPORT(Neighbor_allgather_init)
EXPORT(Neighbor_allgather_init_c)
EXPORT(Neighbor_allgatherv_init)
EXPORT(Neighbor_allgatherv_init_c)
EXPORT(Neighbor_alltoall_init)
EXPORT(Neighbor_alltoall_init_c)
EXPORT(Neighbor_alltoallv_init)
EXPORT(Neighbor_alltoallv_init_c)
EXPORT(Neighbor_alltoallw_init)
EXPORT(Neighbor_alltoallw_init_c)
