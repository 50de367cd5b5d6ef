// Particles of one rank, the pull that others have on them, and their movement. Knows nothing of MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nbody {

/// What is sent of particles: a record of `stride` numbers for each (position, mass, velocity, properties).
struct Records {
  const double* values;
  std::size_t count;
  std::size_t stride;
};

class Particles {
 public:
  /// Numbers first .. first + count - 1 of all particles, each at a place that depends on its number alone.
  Particles(std::size_t first, std::size_t count, std::size_t properties);

  [[nodiscard]] Records records() const { return {values_.data(), count_, stride_}; }

  /// Adds the pull of these particles, one after the other; the particles themselves may be among them. Sums are formed in the
  /// order of the calls.
  void feel(Records others);
  /// Moves by what was felt since the last step, and forgets it.
  void move();

  /// Of all that a particle consists of.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  std::size_t count_;
  std::size_t stride_;
  std::vector<double> values_;  // records
  // By coordinate, for the inner loop:
  std::vector<double> place_[3];
  std::vector<double> pull_[3];
};

/// Numbers of a record.
constexpr std::size_t stride_of(std::size_t properties) { return 7 + properties; }

}  // namespace nbody
