// What the three kernels have in common: the communication of NPB's CG, FT and LU (NAS Parallel Benchmarks 3.3.1), which RV runs
// (section 4.2.3), around computations that are written anew here. Data are not NPB's, so neither are its results.
#pragma once

#include <cstdint>
#include <string>

#include "apps/support/job.hpp"

namespace npb {

class Kernel {
 public:
  Kernel() = default;
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// What is timed. Collective.
  virtual void run() = 0;
  /// Hash of the results, on rank 0: with so many ranks it depends on nothing else. Collective.
  virtual std::uint64_t results() = 0;
  /// Whether what was computed solves the problem, and what it says of itself, for people. Known on rank 0. Collective.
  struct Verdict {
    bool right = false;
    std::string text;
  };
  virtual Verdict verdict() = 0;
  /// The same computed without messages, on rank 0: whether the results are those.
  virtual bool equals_serial() = 0;

  /// Seconds in calls that wait.
  [[nodiscard]] double waiting() const { return waits_.seconds(); }

 protected:
  apps::Stopwatch waits_;
};

}  // namespace npb
