// The end of the program, with the cause: for errors that come when no call is left that could return them.
#pragma once

namespace sluice {

/// Names this process in messages ("rank 3").
void set_process_name(int rank);

/// Prints "sluice: rank N: ..." on stderr in one write. Any thread, also from the fault handler: allocates nothing.
[[gnu::format(printf, 1, 2)]] void report(const char* format, ...);

/// As `report`, and leaves the process at once with a failure code. The launcher ends the
/// rest of the job.
[[noreturn]] [[gnu::format(printf, 1, 2)]] void fatal(const char* format, ...);

/// Leaves the process at once with a failure code, whatever is under guard.
[[noreturn]] void end_process();

}  // namespace sluice
