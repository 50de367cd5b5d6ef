// What the micro-benchmarks of the rendezvous paper (Takagi and others, EuroMPI '13, section 4) share: their command lines, the
// messages and how they are checked, and the lines that rank 0 prints.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "apps/support/job.hpp"

namespace apps {

struct ExchangeOptions {
  std::size_t bytes = 0;    // --bytes: of each message; 0: 1 KB to 32 KB, as in the paper
  int trials = 1000;        // --trials: NTRIAL
  int warm_up = 20;         // --warm-up: trials that are not counted
  bool equal_last = false;  // --equal-last-bytes: every message ends with 0, the worst case of putnr
};

/// A mistake, or --help, is printed by rank 0; then the process ends.
ExchangeOptions parse_exchange(const char* program, int argc, char** argv, World world);

/// The sizes to be measured, in bytes.
std::vector<std::size_t> sizes_of(const ExchangeOptions& options);

/// One message: its bytes follow from sender, receiver and trial. The last one is 0 where that is asked for.
class Messages {
 public:
  Messages(std::size_t bytes, bool equal_last) : bytes_(bytes), equal_last_(equal_last) {}
  /// Every eighth byte or so, so that this takes little time beside the message.
  void write(std::vector<unsigned char>& buffer, int from, int to, int trial) const;
  /// Ends the job when something else is there.
  void check(const std::vector<unsigned char>& buffer, int from, int to, int trial) const;

 private:
  [[nodiscard]] unsigned char byte(std::size_t place, int from, int to, int trial) const;

  std::size_t bytes_;
  bool equal_last_;
};

/// Microseconds of one `trial(number)`, counted from the start of the first to the end of the last on the slowest rank; what
/// `before` and `after` do to the buffers is taken out. Known on rank 0. Collective.
struct Trial {
  std::function<void(int)> before;
  std::function<void()> exchange;
  std::function<void(int)> after;
};
double microseconds_of(const Trial& trial, const ExchangeOptions& options);

}  // namespace apps
