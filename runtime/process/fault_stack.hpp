// Stacks for answering faults of threads that are on a small alternate stack.
//
// When the program's SIGSEGV handler wants the alternate stack (SA_ONSTACK), the kernel enters Sluice's handler there too. Such
// a stack is as small as the program's handler needs (2 KB is allowed), and progressing messages takes more. No signal may be
// let in while a thread is on one of these stacks: the kernel would find the alternate stack free and overwrite the frame there.
//
// Threading: any thread, signal handlers; lock-free.
#pragma once

#include <csignal>
#include <cstdint>

namespace sluice::fault_stack {

/// What answering a fault needs, with room to spare for signal handlers that are let in.
constexpr std::size_t roomy = 64 * 1024;

/// The caller runs on the alternate stack `alternate`, and less than `roomy` of it is left.
[[nodiscard]] bool is_cramped(const stack_t& alternate);

/// Runs `function(argument)` on a stack of `roomy` bytes; here, when all of them are in use.
void run(void (*function)(void*), void* argument);

}  // namespace sluice::fault_stack
