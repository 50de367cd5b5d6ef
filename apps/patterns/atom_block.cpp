#include "apps/patterns/atom_block.hpp"

#include <algorithm>
#include <tuple>

#include "apps/patterns/crystal.hpp"
#include "apps/support/parts.hpp"

namespace patterns {

namespace {

constexpr std::size_t most_atoms_of_cell = 64;  // as in CoMD; the largest cell has 46 at rest
constexpr std::size_t layers_at_face = 2;       // the one at it, and what has left by it

}  // namespace

AtomBlock::AtomBlock(const apps::Grid& grid, const apps::Place& whole) {
  std::array<apps::Part, axes> parts{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::size_t place = grid.place()[axis];
    const int ranks = grid.dimensions()[axis];
    parts[axis] = apps::part_of(whole[axis], static_cast<int>(place), ranks);
    const auto first = static_cast<std::int64_t>(parts[axis].first);
    const auto count = static_cast<std::int64_t>(parts[axis].count);
    axes_[axis] = {.begin = first * lattice,
                   .end = (first + count) * lattice,
                   .layers = count * lattice / cutoff,
                   .whole = static_cast<std::int64_t>(whole[axis]) * lattice,
                   .first = place == 0,
                   .last = static_cast<int>(place) + 1 == ranks};
  }
  const auto& [x_part, y_part, z_part] = parts;
  for (std::size_t x = x_part.first; x < x_part.first + x_part.count; ++x) {
    for (std::size_t y = y_part.first; y < y_part.first + y_part.count; ++y) {
      for (std::size_t z = z_part.first; z < z_part.first + z_part.count; ++z) add(atoms_at({x, y, z}, whole));
    }
  }
  own_ = atoms_.size();
}

std::size_t AtomBlock::atoms_of_face() const {
  std::array<std::size_t, axes> cells{};
  for (std::size_t axis = 0; axis < axes; ++axis) cells[axis] = static_cast<std::size_t>(axes_[axis].layers) + 2;
  std::sort(cells.begin(), cells.end());
  return cells[1] * cells[2] * layers_at_face * most_atoms_of_cell;
}

void AtomBlock::move() {
  atoms_.resize(own_);
  for (Atom& atom : atoms_) add_to(atom.position, way(atom.velocity));
}

AtomBlock::Layers AtomBlock::layers_of(const Atom& atom) const {
  Layers layers{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const Axis& along = axes_[axis];
    const std::int64_t position = atom.position[axis];
    if (position < along.begin) {
      layers[axis] = -1;
    } else if (position >= along.end) {
      layers[axis] = along.layers;
    } else {
      layers[axis] = (position - along.begin) * along.layers / (along.end - along.begin);
    }
  }
  return layers;
}

bool AtomBlock::is_inside(const Layers& layers, std::size_t axis) const {
  return layers[axis] >= 0 && layers[axis] < axes_[axis].layers;
}

void AtomBlock::pack_atoms(apps::Face face, std::vector<Atom>& atoms) const {
  const Axis& along = axes_[face.axis];
  const bool goes_around = face.upper ? along.last : along.first;
  const std::int64_t shift = goes_around ? (face.upper ? -along.whole : along.whole) : 0;
  atoms.clear();
  for (const Atom& atom : atoms_) {
    const std::int64_t layer = layers_of(atom)[face.axis];
    if (face.upper ? layer < along.layers - 1 : layer > 0) continue;
    atoms.push_back(atom);
    atoms.back().position[face.axis] += shift;
  }
}

void AtomBlock::settle() {
  const auto is_own = [this](const Atom& atom) {
    const Layers layers = layers_of(atom);
    return is_inside(layers, 0) && is_inside(layers, 1) && is_inside(layers, 2);
  };
  own_ = static_cast<std::size_t>(std::partition(atoms_.begin(), atoms_.end(), is_own) - atoms_.begin());
  layers_.resize(atoms_.size());
  std::transform(atoms_.begin(), atoms_.end(), layers_.begin(), [this](const Atom& atom) { return layers_of(atom); });
  slopes_.resize(atoms_.size());
  fill_cells();
  find_pairs();
}

std::size_t AtomBlock::cell_of(const Layers& layers) const {
  std::int64_t cell = 0;
  for (std::size_t axis = 0; axis < axes; ++axis) cell = cell * (axes_[axis].layers + 2) + layers[axis] + 1;
  return static_cast<std::size_t>(cell);
}

void AtomBlock::fill_cells() {
  const Layers last{axes_[0].layers, axes_[1].layers, axes_[2].layers};
  first_of_cell_.assign(cell_of(last) + 2, 0);
  for (const Layers& layers : layers_) ++first_of_cell_[cell_of(layers) + 1];
  for (std::size_t cell = 0; cell + 1 < first_of_cell_.size(); ++cell) first_of_cell_[cell + 1] += first_of_cell_[cell];
  in_cells_.resize(atoms_.size());
  std::vector<std::size_t> next(first_of_cell_.begin(), first_of_cell_.end() - 1);
  for (std::size_t atom = 0; atom < atoms_.size(); ++atom) in_cells_[next[cell_of(layers_[atom])]++] = atom;
}

void AtomBlock::find_pairs() {
  pairs_.clear();
  for (std::size_t atom = 0; atom < own_; ++atom) {
    const auto [x, y, z] = layers_[atom];
    for (std::int64_t at_x = x - 1; at_x <= x + 1; ++at_x) {
      for (std::int64_t at_y = y - 1; at_y <= y + 1; ++at_y) {
        // Cells that follow one another on the last axis lie together.
        const std::size_t begin = first_of_cell_[cell_of({at_x, at_y, z - 1})];
        const std::size_t end = first_of_cell_[cell_of({at_x, at_y, z + 1}) + 1];
        for (std::size_t place = begin; place < end; ++place) {
          const std::size_t other = in_cells_[place];
          if (other == atom || !is_near(between(atoms_[atom].position, atoms_[other].position))) continue;
          pairs_.emplace_back(static_cast<std::uint32_t>(atom), static_cast<std::uint32_t>(other));
        }
      }
    }
  }
}

void AtomBlock::find_slopes() {
  std::vector<std::int64_t> densities(own_);
  for (const auto& [atom, other] : pairs_) {
    densities[atom] += metal::density(square_of(between(atoms_[atom].position, atoms_[other].position)));
  }
  std::transform(densities.begin(), densities.end(), slopes_.begin(), metal::slope);
}

std::vector<std::size_t> AtomBlock::in_layer(std::size_t axis, std::int64_t layer) const {
  std::vector<std::size_t> found;
  for (std::size_t atom = 0; atom < atoms_.size(); ++atom) {
    bool wanted = layers_[atom][axis] == layer;
    for (std::size_t later = axis + 1; later < axes; ++later) wanted &= is_inside(layers_[atom], later);
    if (wanted) found.push_back(atom);
  }
  std::sort(found.begin(), found.end(), [this](std::size_t one, std::size_t other) {
    const Atom& first = atoms_[one];
    const Atom& second = atoms_[other];
    return std::tie(first.number, first.position) < std::tie(second.number, second.position);
  });
  return found;
}

void AtomBlock::pack_slopes(apps::Face face, std::vector<double>& slopes) const {
  slopes.clear();
  for (const std::size_t atom : in_layer(face.axis, face.upper ? axes_[face.axis].layers - 1 : 0)) {
    slopes.push_back(slopes_[atom]);
  }
}

bool AtomBlock::unpack_slopes(apps::Face face, std::span<const double> slopes) {
  const std::vector<std::size_t> atoms = in_layer(face.axis, face.upper ? axes_[face.axis].layers : -1);
  if (atoms.size() != slopes.size()) return false;
  for (std::size_t place = 0; place < atoms.size(); ++place) slopes_[atoms[place]] = slopes[place];
  return true;
}

void AtomBlock::push() {
  for (const auto& [atom, other] : pairs_) {
    const Vector apart = between(atoms_[atom].position, atoms_[other].position);
    add_to(atoms_[atom].velocity, metal::push(apart, square_of(apart), slopes_[atom] + slopes_[other]));
  }
}

}  // namespace patterns
