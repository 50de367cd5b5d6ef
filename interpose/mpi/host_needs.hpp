// What calls of the host's need, by their arguments: those of calls.def that say so name one of these functions, which take what
// the call takes (docs/host-calls.md).
//
// Arguments that are not significant at this rank, or beside MPI_IN_PLACE, are not looked at. Where something is not understood
// (a type, a null buffer, a communicator that is not adopted), the call needs everything.
//
// Called only while something is under guard. [any thread]
#pragma once

#include <mpi.h>

#include "runtime/release/host_needs.hpp"

namespace sluice::host_needs {

/// No message longer than that is announced to its receiver by any host, nor lent to an adapter: it is copied by the sender.
inline constexpr std::size_t copied_bytes = 1024;

HostNeeds barrier(MPI_Comm comm);
HostNeeds bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
HostNeeds gather(const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, void* received, MPI_Count count,
                 MPI_Datatype type, int root, MPI_Comm comm);
HostNeeds scatter(const void* sent, MPI_Count count, MPI_Datatype type, void* received, MPI_Count received_count,
                  MPI_Datatype received_type, int root, MPI_Comm comm);
HostNeeds allgather(const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, void* received, MPI_Count count,
                    MPI_Datatype type, MPI_Comm comm);
HostNeeds alltoall(const void* sent, MPI_Count sent_count, MPI_Datatype sent_type, void* received, MPI_Count count,
                   MPI_Datatype type, MPI_Comm comm);

HostNeeds reduce(const void* sent, void* received, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
/// MPI_Allreduce, MPI_Scan, MPI_Exscan.
HostNeeds allreduce(const void* sent, void* received, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
HostNeeds reduce_scatter_block(const void* sent, void* received, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
HostNeeds reduce_local(const void* in, void* in_out, MPI_Count count, MPI_Datatype type, MPI_Op op);

// Counts and displacements of all ranks: of `int`, or MPI_Count and MPI_Aint.
template <typename Count>
HostNeeds reduce_scatter(const void* sent, void* received, const Count counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm);
template <typename Count, typename Displacement>
HostNeeds allgatherv(const void* sent, Count sent_count, MPI_Datatype sent_type, void* received, const Count counts[],
                     const Displacement displacements[], MPI_Datatype type, MPI_Comm comm);

// Packing: what is packed, and the whole buffer that it is packed into or comes from.
HostNeeds pack(const void* in, MPI_Count count, MPI_Datatype type, void* out, MPI_Count out_bytes, const void* position,
               MPI_Comm comm);
HostNeeds unpack(const void* in, MPI_Count in_bytes, const void* position, void* out, MPI_Count count, MPI_Datatype type,
                 MPI_Comm comm);
HostNeeds pack_external(const char representation[], const void* in, MPI_Count count, MPI_Datatype type, void* out,
                        MPI_Count out_bytes, const void* position);
HostNeeds unpack_external(const char representation[], const void* in, MPI_Count in_bytes, const void* position, void* out,
                          MPI_Count count, MPI_Datatype type);

}  // namespace sluice::host_needs
