// The calls of windows that Sluice carries: those that calls.def marks WINDOW, without the handle, and with the counts of their
// large forms.
//
// Inside a node everything is done when a call returns, so request-based forms hand out a request that is complete.
#pragma once

#include <mpi.h>

#include "interpose/mpi/window.hpp"

namespace sluice::window_calls {

int Win_fence(Window& window, int assertion);
int Win_post(Window& window, MPI_Group group, int assertion);
int Win_start(Window& window, MPI_Group group, int assertion);
int Win_complete(Window& window);
int Win_wait(Window& window);
int Win_test(Window& window, int* flag);
int Win_lock(Window& window, int type, int rank, int assertion);
int Win_unlock(Window& window, int rank);
int Win_lock_all(Window& window, int assertion);
int Win_unlock_all(Window& window);
int Win_flush(Window& window, int rank);
int Win_flush_local(Window& window, int rank);
int Win_flush_all(Window& window);
int Win_flush_local_all(Window& window);
int Win_sync(Window& window);

// As the program made it, whatever the host's window behind it is.
int Win_get_attr(const Window& window, int key, void* value, int* found);
int Win_get_info(const Window& window, MPI_Info* info);

int Win_attach(Window& window, void* base, MPI_Aint size);
int Win_detach(Window& window, const void* base);

int Put(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
        MPI_Count target_count, MPI_Datatype target_type);
int Get(Window& window, void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Count target_count,
        MPI_Datatype target_type);
int Accumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
               MPI_Count target_count, MPI_Datatype target_type, MPI_Op op);
int Get_accumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, void* result, MPI_Count result_count,
                   MPI_Datatype result_type, int rank, MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type,
                   MPI_Op op);
int Fetch_and_op(Window& window, const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Op op);
int Compare_and_swap(Window& window, const void* origin, const void* compared, void* result, MPI_Datatype type, int rank,
                     MPI_Aint displacement);

int Rput(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
         MPI_Count target_count, MPI_Datatype target_type, MPI_Request* request);
int Rget(Window& window, void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
         MPI_Count target_count, MPI_Datatype target_type, MPI_Request* request);
int Raccumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
                MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Request* request);
int Rget_accumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, void* result, MPI_Count result_count,
                    MPI_Datatype result_type, int rank, MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type,
                    MPI_Op op, MPI_Request* request);

}  // namespace sluice::window_calls
