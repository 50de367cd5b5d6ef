// Exit statuses of the `sluice` command; 126 and 127 as the shell and env(1) use them.
#pragma once

namespace sluice {

inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_damaged = 3;  // a trace; what could be read of it was used
inline constexpr int exit_not_runnable = 126;
inline constexpr int exit_not_found = 127;

}  // namespace sluice
