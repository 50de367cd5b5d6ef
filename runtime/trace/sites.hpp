// Places in the program that records name: each is unwound once, written into the trace's table, and known by a number after
// that.
//
// A call is known by its return address, found by XXH3 in a fixed table. That is not enough where the call comes out of a layer
// that all calls of a kind go through, as those of Fortran programs do (mpi_recv_ in libmpi_mpifh.so calls PMPI_Recv): there, the
// first unwinding also tells at which distance from the stack pointer the layer's own return address lies, and later calls are
// told apart by the word that they find there. Functions that have no frame of fixed size are none of these layers'.
//
// With SLUICE_TRACE_PATHS calls are told apart by all who called them, up to that depth (call_paths.hpp). Touches are, too.
//
// Touches, and what is said above of layers, are unwound by libgcc, which is in the library anyhow (-static-libgcc). It finds its
// tables by _dl_find_object, without a lock and without an allocation, so it works in the fault handler as well. libunwind would
// do neither: it allocates, takes locks, and reads a pipe by read(), which is wrapped here.
//
// Threading: everything [any thread, signal handlers]. A slot of the table belongs to the thread that put its key there (compare
// and exchange from 0); its number is its position, known to everybody at once. `deeper`, told by the owner after unwinding
// (release / acquire), comes a moment later: until then calls out of a layer count as the layer's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::trace {

/// `frame`: the canonical frame address of the function that was called, below which its return address lies.
std::uint32_t site_of_call(std::uintptr_t return_address, const void* frame, const char* function);

/// Of the caller of this, by the return addresses of all who called it. For calls that wait, as it unwinds every time.
std::uint32_t site_of_this_call();

/// Of an instruction that touched a page. `on_stack`: this is the handler, on the stack of the code that it interrupted, or one
/// that leads there.
std::uint32_t site_of_touch(std::uintptr_t instruction, bool on_stack);

/// For a new file, which has none. Before the first record. `path_depth`: of call paths, at most max_frames; 0: none are kept.
/// StackWalk is loaded otherwise.
void forget_sites(std::size_t path_depth);

}  // namespace sluice::trace
