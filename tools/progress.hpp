// How far a long subcommand is, on a terminal; silent elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace sluice {

class Progress {
 public:
  /// `what` stands before the percentage, on standard error. `total`: steps to come, or more.
  Progress(std::string what, std::size_t total);
  /// Removes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Throws Interruption, if one has come.
  void advance() {
    if ((++done_ & between_looks) == 0) look();
  }

 private:
  static constexpr std::size_t between_looks = 0xffff;  // at the clock, and for signals
  void look();

  std::string what_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

}  // namespace sluice
