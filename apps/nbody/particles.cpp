#include "apps/nbody/particles.hpp"

#include <cmath>

#include "apps/support/hash.hpp"

namespace nbody {

namespace {

// A record.
constexpr std::size_t position = 0;
constexpr std::size_t mass = 3;
constexpr std::size_t velocity = 4;
constexpr std::size_t properties = 7;

constexpr double softening = 1e-3;  // keeps the pull of near particles finite; also that of a particle on itself, which is 0
constexpr double step = 1e-4;

/// 0 to 1, from the number of a particle and what is asked for.
double scattered(std::size_t number, std::size_t what) {
  const std::uint64_t bits = apps::mix(apps::mix(apps::mix(apps::hash_start, number), what), number * 31 + what);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

Particles::Particles(std::size_t first, std::size_t count, std::size_t extra)
    : count_(count), stride_(stride_of(extra)), values_(count * stride_) {
  for (auto& coordinates : place_) coordinates.resize(count);
  for (auto& coordinates : pull_) coordinates.resize(count);
  for (std::size_t own = 0; own < count; ++own) {
    double* const record = values_.data() + own * stride_;
    for (std::size_t which = 0; which < stride_; ++which) record[which] = scattered(first + own, which);
    for (std::size_t axis = 0; axis < 3; ++axis) place_[axis][own] = record[position + axis];
  }
}

void Particles::feel(Records others) {
  for (std::size_t other = 0; other < others.count; ++other) {
    const double* const record = others.values + other * others.stride;
    const double x = record[position];
    const double y = record[position + 1];
    const double z = record[position + 2];
    const double weight = record[mass];
    for (std::size_t own = 0; own < count_; ++own) {
      const double dx = x - place_[0][own];
      const double dy = y - place_[1][own];
      const double dz = z - place_[2][own];
      const double square = dx * dx + dy * dy + dz * dz + softening;
      const double strength = weight / (square * std::sqrt(square));
      pull_[0][own] += strength * dx;
      pull_[1][own] += strength * dy;
      pull_[2][own] += strength * dz;
    }
  }
}

void Particles::move() {
  for (std::size_t own = 0; own < count_; ++own) {
    double* const record = values_.data() + own * stride_;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      record[velocity + axis] += step * pull_[axis][own];
      record[position + axis] += step * record[velocity + axis];
      place_[axis][own] = record[position + axis];
      pull_[axis][own] = 0;
    }
    for (std::size_t which = properties; which < stride_; ++which) record[which] += step * record[velocity + which % 3];
  }
}

std::uint64_t Particles::hash() const { return apps::mix(apps::hash_start, values_.data(), values_.size()); }

}  // namespace nbody
