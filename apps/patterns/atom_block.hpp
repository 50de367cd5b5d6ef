// The atoms of a rank's block of the metal, and copies of those beyond its faces, in link cells: layers of cells in each
// direction, of which none is thinner than the cutoff. What lies beyond a face belongs to one more layer, however far it is.
//
// A step goes: move, then for each axis pack and add what comes, settle; densities, then for each axis pack and unpack slopes;
// push. A face's messages go on what came by the axes before, so that edges and corners come by the way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "apps/patterns/metal.hpp"
#include "apps/support/grid.hpp"

namespace patterns {

class AtomBlock {
 public:
  /// `whole`: unit cells of the metal in each direction.
  AtomBlock(const apps::Grid& grid, const apps::Place& whole);

  /// More than any face has.
  [[nodiscard]] std::size_t atoms_of_face() const;
  [[nodiscard]] std::span<const Atom> own() const { return std::span(atoms_).first(own_); }

  /// One step on; copies of others' atoms are forgotten. An atom may leave the block: its neighbour has it next.
  void move();
  /// All atoms in the layer at a face, and beyond it, as the neighbour there places them.
  void pack_atoms(apps::Face face, std::vector<Atom>& atoms) const;
  void add(std::span<const Atom> atoms) { atoms_.insert(atoms_.end(), atoms.begin(), atoms.end()); }
  /// Which are own, and who is near whom.
  void settle();

  void find_slopes();
  /// Of the layer at a face, in an order that the neighbour knows.
  void pack_slopes(apps::Face face, std::vector<double>& slopes) const;
  /// Of the layer beyond it. False: not so many are there.
  bool unpack_slopes(apps::Face face, std::span<const double> slopes);
  void push();

 private:
  struct Axis {
    std::int64_t begin;  // of the block
    std::int64_t end;
    std::int64_t layers;
    std::int64_t whole;  // length of the metal
    bool first;          // nothing of the metal lies below: its other end follows
    bool last;
  };
  /// From -1, below the block, to the number of layers, above it.
  using Layers = std::array<std::int64_t, axes>;

  [[nodiscard]] Layers layers_of(const Atom& atom) const;
  [[nodiscard]] bool is_inside(const Layers& layers, std::size_t axis) const;
  [[nodiscard]] std::size_t cell_of(const Layers& layers) const;
  /// Atoms in a layer of an axis, whose further axes are inside: by number, then by place.
  [[nodiscard]] std::vector<std::size_t> in_layer(std::size_t axis, std::int64_t layer) const;
  void fill_cells();
  void find_pairs();

  std::array<Axis, axes> axes_{};
  std::vector<Atom> atoms_;  // own ones first, once they are settled
  std::size_t own_ = 0;
  std::vector<Layers> layers_;                                  // of each atom
  std::vector<double> slopes_;                                  // likewise
  std::vector<std::size_t> first_of_cell_;                      // in in_cells_
  std::vector<std::size_t> in_cells_;                           // atoms, by cell
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;  // an own atom, and one near it
};

}  // namespace patterns
