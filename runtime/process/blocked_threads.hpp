// Threads that have a signal blocked in the kernel. A thread that blocked SIGSEGV before there was a guard dies when it
// touches a page under guard, and no other thread can change its mask.
#pragma once

namespace sluice {

/// Some other thread of the process has the signal blocked, and not just because it begins or ends. Reads /proc.
[[nodiscard]] bool other_threads_block(int signal);

}  // namespace sluice
