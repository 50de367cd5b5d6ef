// A pseudo-random generator whose sequence depends on the seed alone: every rank, compiler and machine derives the same script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace random_program {

inline std::uint64_t scramble(std::uint64_t value) {  // the finaliser of splitmix64
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

inline std::uint64_t combine(std::uint64_t left, std::uint64_t right) {
  return scramble(left + 0x9e3779b97f4a7c15ULL * (right + 1));
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return scramble(state_ += 0x9e3779b97f4a7c15ULL); }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  std::size_t between(std::size_t min, std::size_t max) { return min + below(max - min + 1); }
  int rank_below(int limit) { return static_cast<int>(below(static_cast<std::size_t>(limit))); }
  bool chance(unsigned percent) { return below(100) < percent; }

  template <typename T>
  const T& pick(std::span<const T> choices) {
    return choices[below(choices.size())];
  }

  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace random_program
