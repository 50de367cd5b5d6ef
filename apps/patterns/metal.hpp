// The model of a metal that comd computes: embedded atoms as Sutton and Chen have them for silver. Each atom lies in the
// electrons of those near it, and its energy follows from how dense these are. So forces need a second look at the neighbours.
//
// Positions, velocities, densities and forces are whole numbers: sums of them are the same in any order, and so is the path of
// every atom, whoever computes it. What a pair contributes is computed in doubles, from where its atoms lie to each other.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "apps/support/grid.hpp"
#include "apps/support/hash.hpp"

namespace patterns {

inline constexpr std::size_t axes = 3;
using Vector = std::array<std::int64_t, axes>;

inline constexpr std::int64_t lattice = std::int64_t{1} << 20;  // edge of a unit cell, in units of length
inline constexpr std::int64_t cutoff = lattice * 3 / 2;
inline constexpr std::size_t atoms_of_unit_cell = 4;
/// A rank has two link cells in each direction, each as long as the cutoff.
inline constexpr std::size_t fewest_unit_cells = 3;

inline constexpr unsigned velocity_bits = 12;

struct Atom {
  std::int64_t number;
  Vector position;
  Vector velocity;  // in a step, in units of length / 2^velocity_bits: a neighbour that is a unit off shows in it
};

namespace metal {

inline constexpr double embedding = 144.41;       // Sutton and Chen, 1990, table 1: silver
inline constexpr double time_and_mass = 2.5e-7;   // of a force to a change of velocity in a step: some forty steps for a swing
inline constexpr double density_unit = 16777216;  // 2^24 in the density of one atom at the distance of a lattice edge

/// Square of a distance in lattice edges.
inline double in_edges(std::int64_t square) {
  return static_cast<double>(square) / (static_cast<double>(lattice) * static_cast<double>(lattice));
}

/// What an atom adds to the density at another.
inline std::int64_t density(std::int64_t square) {
  const double near = 1 / in_edges(square);
  return std::llround(near * near * near * density_unit);
}
/// Change of an atom's energy with its density.
inline double slope(std::int64_t density) { return -embedding / (2 * std::sqrt(static_cast<double>(density) / density_unit)); }
/// Change of velocity in a step. `apart`: from the other to this one; `slopes`: the sum of both.
inline Vector push(const Vector& apart, std::int64_t square, double slopes) {
  const double near = 1 / in_edges(square);
  const double fourth = near * near * near * near;
  const double strength = time_and_mass * (2U << velocity_bits) * (6 * fourth * near * near * near + 3 * slopes * fourth);
  Vector push{};
  for (std::size_t axis = 0; axis < axes; ++axis) push[axis] = std::llround(strength * static_cast<double>(apart[axis]));
  return push;
}

}  // namespace metal

inline std::int64_t square_of(const Vector& apart) { return apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]; }
inline bool is_near(const Vector& apart) { return square_of(apart) < cutoff * cutoff; }

inline Vector between(const Vector& one, const Vector& other) {
  return {one[0] - other[0], one[1] - other[1], one[2] - other[2]};
}
/// Of an atom in a step, in units of length.
inline Vector way(const Vector& velocity) {
  return {velocity[0] >> velocity_bits, velocity[1] >> velocity_bits, velocity[2] >> velocity_bits};
}
inline void add_to(Vector& sum, const Vector& more) {
  for (std::size_t axis = 0; axis < axes; ++axis) sum[axis] += more[axis];
}

/// Summed over atoms: the same in any order.
struct Energies {
  double kinetic = 0;  // whole numbers below 2^53
  double atoms = 0;

  void add(const Atom& atom) {
    kinetic += static_cast<double>(square_of(way(atom.velocity)));
    atoms += 1;
  }
  bool operator==(const Energies&) const = default;
};

/// Of one atom; sums of them do not depend on an order either.
inline std::uint64_t hash_of(const Atom& atom) {
  std::uint64_t hash = apps::mix(apps::hash_start, static_cast<std::uint64_t>(atom.number));
  for (std::size_t axis = 0; axis < axes; ++axis) {
    hash = apps::mix(hash, static_cast<std::uint64_t>(atom.position[axis]));
    hash = apps::mix(hash, static_cast<std::uint64_t>(atom.velocity[axis]));
  }
  return hash ^ hash >> 32U;
}

/// The atoms of a unit cell at the start, where `whole` is the number of unit cells: on their places, with velocities that
/// differ.
std::array<Atom, atoms_of_unit_cell> atoms_at(const apps::Place& unit_cell, const apps::Place& whole);

}  // namespace patterns
