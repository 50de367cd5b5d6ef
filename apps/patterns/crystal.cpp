#include "apps/patterns/crystal.hpp"

#include <algorithm>

namespace patterns {

namespace {

// Of the lattice in halves of an edge: corners and the middles of faces.
constexpr std::array<Vector, atoms_of_unit_cell> sites{{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}}};
constexpr std::uint64_t fastest = std::uint64_t{lattice} / 256 << velocity_bits;

}  // namespace

std::array<Atom, atoms_of_unit_cell> atoms_at(const apps::Place& unit_cell, const apps::Place& whole) {
  std::array<Atom, atoms_of_unit_cell> atoms{};
  const std::size_t before = (unit_cell[0] * whole[1] + unit_cell[1]) * whole[2] + unit_cell[2];
  for (std::size_t site = 0; site < atoms_of_unit_cell; ++site) {
    Atom& atom = atoms[site];
    const std::size_t number = before * atoms_of_unit_cell + site;
    atom.number = static_cast<std::int64_t>(number);
    std::uint64_t chance = apps::hash_start;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      atom.position[axis] = static_cast<std::int64_t>(unit_cell[axis]) * lattice + sites[site][axis] * (lattice / 2);
      chance = apps::mix(chance, number * axes + axis);
      atom.velocity[axis] = static_cast<std::int64_t>((chance >> 32U) % (2 * fastest)) - static_cast<std::int64_t>(fastest);
    }
  }
  return atoms;
}

Crystal::Crystal(const apps::Place& whole) {
  for (std::size_t axis = 0; axis < axes; ++axis) length_[axis] = static_cast<std::int64_t>(whole[axis]) * lattice;
  for (std::size_t x = 0; x < whole[0]; ++x) {
    for (std::size_t y = 0; y < whole[1]; ++y) {
      for (std::size_t z = 0; z < whole[2]; ++z) {
        const auto atoms = atoms_at({x, y, z}, whole);
        atoms_.insert(atoms_.end(), atoms.begin(), atoms.end());
      }
    }
  }
}

Vector Crystal::apart(const Atom& one, const Atom& other) const {
  Vector apart = between(one.position, other.position);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (apart[axis] > length_[axis] / 2) apart[axis] -= length_[axis];
    if (apart[axis] < -length_[axis] / 2) apart[axis] += length_[axis];
  }
  return apart;
}

/// In the order of the first axis: of each atom those that follow it within the cutoff, around the end as well.
void Crystal::find_pairs() {
  std::sort(atoms_.begin(), atoms_.end(), [](const Atom& one, const Atom& other) { return one.position[0] < other.position[0]; });
  pairs_.clear();
  for (std::size_t one = 0; one < atoms_.size(); ++one) {
    for (std::size_t next = one + 1; next < one + atoms_.size(); ++next) {
      const std::size_t other = next % atoms_.size();
      const std::int64_t around = next == other ? 0 : length_[0];
      if (atoms_[other].position[0] + around - atoms_[one].position[0] >= cutoff) break;
      if (const Vector vector = apart(atoms_[one], atoms_[other]); is_near(vector)) pairs_.push_back({one, other, vector});
    }
  }
}

void Crystal::step() {
  for (Atom& atom : atoms_) {
    add_to(atom.position, way(atom.velocity));
    for (std::size_t axis = 0; axis < axes; ++axis) atom.position[axis] = (atom.position[axis] + length_[axis]) % length_[axis];
  }
  find_pairs();
  std::vector<std::int64_t> densities(atoms_.size());
  for (const Pair& pair : pairs_) {
    const std::int64_t density = metal::density(square_of(pair.apart));
    densities[pair.one] += density;
    densities[pair.other] += density;
  }
  std::vector<double> slopes(atoms_.size());
  std::transform(densities.begin(), densities.end(), slopes.begin(), metal::slope);
  for (const Pair& pair : pairs_) {
    const Vector push = metal::push(pair.apart, square_of(pair.apart), slopes[pair.one] + slopes[pair.other]);
    add_to(atoms_[pair.one].velocity, push);
    add_to(atoms_[pair.other].velocity, between({}, push));
  }
}

Energies Crystal::energies() const {
  Energies sums;
  for (const Atom& atom : atoms_) sums.add(atom);
  return sums;
}

std::uint64_t Crystal::hash() const {
  std::uint64_t sum = 0;
  for (const Atom& atom : atoms_) sum += hash_of(atom);
  return sum;
}

}  // namespace patterns
