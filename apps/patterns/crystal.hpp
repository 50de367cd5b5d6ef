// The whole metal in one process, without cells, faces or neighbours: what comd must find, step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/patterns/metal.hpp"

namespace patterns {

class Crystal {
 public:
  /// `whole`: unit cells in each direction.
  explicit Crystal(const apps::Place& whole);

  void step();
  [[nodiscard]] Energies energies() const;
  /// Sum of the atoms' hashes.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  struct Pair {
    std::size_t one;
    std::size_t other;
    Vector apart;
  };

  /// Over the end of the metal, if that is shorter.
  [[nodiscard]] Vector apart(const Atom& one, const Atom& other) const;
  void find_pairs();

  Vector length_{};
  std::vector<Atom> atoms_;
  std::vector<Pair> pairs_;
};

}  // namespace patterns
