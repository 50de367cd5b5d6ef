// Random numbers that are the same in each run on any machine (SplitMix64: Steele, Lea, Flood, OOPSLA '14).
#pragma once

#include <cstdint>

namespace sluice::dragonfly {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>(((next() >> 32) * limit) >> 32); }
  /// From 0 on, below 1.
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace sluice::dragonfly
