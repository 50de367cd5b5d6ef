// MPI_Neighbor_allgather, MPI_Neighbor_alltoall, those with counts, their nonblocking and persistent forms: by messages, each of
// which lands where it belongs.

#include "interpose/mpi/neighbour_call.hpp"

namespace sluice::calls {
namespace {

using forms::Blocking;
using forms::Nonblocking;
using forms::Persistent;
using Prepared = std::optional<PreparedCollective>;

Prepared prepared(const NeighbourCall& call, bool is_carried, CallSite site) {
  return is_carried ? Prepared(call.prepare(site)) : std::nullopt;
}

struct NeighborAllgatherCall {
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    NeighbourCall call(OrderKind::neighbour_allgather, comm);
    const bool is_carried = call.between(OneBlock{sent, sent_count, sent_type}, equal(received, count, type));
    return prepared(call, is_carried, site);
  }
};

struct NeighborAllgathervCall {
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          auto counts, auto displacements, MPI_Datatype type, MPI_Comm comm) {
    NeighbourCall call(OrderKind::neighbour_allgather, comm);
    const bool is_carried = call.between(OneBlock{sent, sent_count, sent_type}, counted(received, counts, displacements, type));
    return prepared(call, is_carried, site);
  }
};

struct NeighborAlltoallCall {
  static Prepared prepare(CallSite site, const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, const void* received,
                          MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    NeighbourCall call(OrderKind::neighbour_alltoall, comm);
    const bool is_carried = call.between(equal(sent, sent_count, sent_type), equal(received, count, type));
    return prepared(call, is_carried, site);
  }
};

struct NeighborAlltoallvCall {
  static Prepared prepare(CallSite site, const void* sent, auto sent_counts, auto sent_displacements, MPI_Datatype sent_type,
                          const void* received, auto counts, auto displacements, MPI_Datatype type, MPI_Comm comm) {
    NeighbourCall call(OrderKind::neighbour_alltoall, comm);
    const bool is_carried =
        call.between(counted(sent, sent_counts, sent_displacements, sent_type), counted(received, counts, displacements, type));
    return prepared(call, is_carried, site);
  }
};

struct NeighborAlltoallwCall {
  static Prepared prepare(CallSite site, const void* sent, auto sent_counts, auto sent_displacements,
                          const MPI_Datatype sent_types[], const void* received, auto counts, auto displacements,
                          const MPI_Datatype types[], MPI_Comm comm) {
    NeighbourCall call(OrderKind::neighbour_alltoall, comm);
    const bool is_carried =
        call.between(typed(sent, sent_counts, sent_displacements, sent_types), typed(received, counts, displacements, types));
    return prepared(call, is_carried, site);
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
