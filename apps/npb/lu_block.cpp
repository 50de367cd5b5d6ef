#include "apps/npb/lu_block.hpp"

#include <cmath>
#include <utility>

#include "apps/support/hash.hpp"

namespace npb {

namespace {

using Values = LuBlock::Values;
using Block = LuBlock::Block;

constexpr double over_relaxation = 1.2;  // as in NPB
// So that diagonals dominate, by a little.
constexpr double own_strength = 8.5;
constexpr double coupling_strength = 0.1;  // of the five values among each other
constexpr double fourth_difference = 0.01;
constexpr double own_fourth_difference = 18 * fourth_difference;  // 6 on each axis

/// How the five values of a point are coupled: the more, the nearer.
constexpr Block coupling = [] {
  Block block{};
  for (std::size_t row = 0; row < block.size(); ++row) {
    for (std::size_t column = 0; column < block.size(); ++column) {
      if (row != column) block[row][column] = 1.0 / static_cast<double>(1 + (row > column ? row - column : column - row));
    }
  }
  return block;
}();

Values coupled(const Values& values) {
  Values result{};
  for (std::size_t row = 0; row < result.size(); ++row) {
    for (std::size_t column = 0; column < result.size(); ++column) result[row] += coupling[row][column] * values[column];
  }
  return result;
}

void add(Values& sum, double factor, const Values& values) {
  for (std::size_t which = 0; which < sum.size(); ++which) sum[which] += factor * values[which];
}

/// By elimination without pivots, as the diagonal dominates.
Values solved(Block block, Values right) {
  for (std::size_t pivot = 0; pivot < block.size(); ++pivot) {
    for (std::size_t row = pivot + 1; row < block.size(); ++row) {
      const double factor = block[row][pivot] / block[pivot][pivot];
      for (std::size_t column = pivot; column < block.size(); ++column) block[row][column] -= factor * block[pivot][column];
      right[row] -= factor * right[pivot];
    }
  }
  for (std::size_t row = block.size(); row-- > 0;) {
    for (std::size_t column = row + 1; column < block.size(); ++column) right[row] -= block[row][column] * right[column];
    right[row] /= block[row][row];
  }
  return right;
}

}  // namespace

LuBlock::LuBlock(std::size_t edge, apps::Part rows, apps::Part columns)
    : edge_(edge),
      rows_(rows),
      columns_(columns),
      depth_(rows.count + 2 * reach),
      width_(columns.count + 2 * reach),
      solution_(edge * depth_ * width_),
      correction_(solution_.size()) {}

// --- places ------------------------------------------------------------------------------------------------------------

std::size_t LuBlock::length_of(Side side) const {
  return side == Side::north || side == Side::south ? columns_.count : rows_.count;
}

template <class Visit>
void LuBlock::for_each_at(Side side, std::size_t plane, std::ptrdiff_t away, Visit visit) const {
  const bool by_rows = side == Side::north || side == Side::south;
  const bool at_begin = side == Side::north || side == Side::west;
  const std::size_t last = reach + (by_rows ? rows_.count : columns_.count) - 1;
  const std::size_t outermost = at_begin ? reach : last;
  const std::size_t line = at_begin ? outermost - static_cast<std::size_t>(away) : outermost + static_cast<std::size_t>(away);
  for (std::size_t number = 0; number < length_of(side); ++number) {
    visit(index(by_rows ? Point{plane, line, reach + number} : Point{plane, reach + number, line}), number);
  }
}

template <class Visit>
void LuBlock::for_each_in_halo(Side side, bool of_neighbour, Visit visit) const {
  std::size_t done = 0;
  for (std::size_t plane = 0; plane < edge_; ++plane) {
    for (std::size_t layer = 0; layer < reach; ++layer, done += length_of(side)) {
      // From west to east, or from north to south, on both sides.
      const bool at_begin = side == Side::north || side == Side::west;
      const auto step = static_cast<std::ptrdiff_t>(at_begin != of_neighbour ? layer : reach - 1 - layer);
      const std::ptrdiff_t away = of_neighbour ? 1 + step : -step;
      for_each_at(side, plane, away, [&](std::size_t at, std::size_t number) { visit(at, done + number); });
    }
  }
}

void LuBlock::pack_edge(Side side, std::size_t plane, std::span<double> values) const {
  for_each_at(side, plane, 0, [&](std::size_t at, std::size_t number) {
    for (std::size_t which = 0; which < values_each; ++which) values[number * values_each + which] = correction_[at][which];
  });
}

void LuBlock::unpack_edge(Side side, std::size_t plane, std::span<const double> values) {
  for_each_at(side, plane, 1, [&](std::size_t at, std::size_t number) {
    for (std::size_t which = 0; which < values_each; ++which) correction_[at][which] = values[number * values_each + which];
  });
}

void LuBlock::pack_halo(Side side, std::span<double> values) const {
  for_each_in_halo(side, false, [&](std::size_t at, std::size_t number) {
    for (std::size_t which = 0; which < values_each; ++which) values[number * values_each + which] = solution_[at][which];
  });
}

void LuBlock::unpack_halo(Side side, std::span<const double> values) {
  for_each_in_halo(side, true, [&](std::size_t at, std::size_t number) {
    for (std::size_t which = 0; which < values_each; ++which) solution_[at][which] = values[number * values_each + which];
  });
}

// --- the operator ------------------------------------------------------------------------------------------------------

double LuBlock::strength(Point point) const {
  constexpr std::size_t kinds = 17;
  const std::size_t row = rows_.first + point.row;
  const std::size_t column = columns_.first + point.column;
  const std::size_t kind = (7 * point.plane + 11 * row + 13 * column) % kinds;
  return 1 - coupling_strength * static_cast<double>(kind) / kinds;
}

Block LuBlock::diagonal(Point point) const {
  Block block{};
  const double strong = coupling_strength * strength(point);
  for (std::size_t row = 0; row < block.size(); ++row) {
    for (std::size_t column = 0; column < block.size(); ++column) block[row][column] = strong * coupling[row][column];
    block[row][row] += own_strength;
  }
  return block;
}

/// The right-hand side.
Values LuBlock::start_at(Point point) const {
  Values values{};
  for (std::size_t which = 0; which < values.size(); ++which) values[which] = strength(point) + static_cast<double>(which);
  return values;
}

Values LuBlock::missing_at(Point point) const {
  const std::size_t at = index(point);
  const std::array<std::size_t, 3> strides{depth_ * width_, width_, 1};
  Values near{};
  Values far{};
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    const std::size_t stride = strides[axis];
    for (std::size_t steps = 1; steps <= reach; ++steps) {
      Values& sum = steps == 1 ? near : far;
      if (axis != 0 || point.plane >= steps) add(sum, 1, solution_[at - steps * stride]);
      if (axis != 0 || point.plane + steps < edge_) add(sum, 1, solution_[at + steps * stride]);
    }
  }
  Values missing = start_at(point);
  const Block block = diagonal(point);
  for (std::size_t row = 0; row < values_each; ++row) {
    for (std::size_t column = 0; column < values_each; ++column) missing[row] -= block[row][column] * solution_[at][column];
  }
  add(missing, strength(point), near);
  add(missing, strength(point) * coupling_strength, coupled(near));
  add(missing, -own_fourth_difference, solution_[at]);
  add(missing, 4 * fourth_difference, near);
  add(missing, -fourth_difference, far);
  return missing;
}

// --- SSOR --------------------------------------------------------------------------------------------------------------

void LuBlock::compute_residual() {
  for (std::size_t plane = 0; plane < edge_; ++plane) {
    for (std::size_t row = reach; row < reach + rows_.count; ++row) {
      for (std::size_t column = reach; column < reach + columns_.count; ++column) {
        const Point point{plane, row, column};
        correction_[index(point)] = missing_at(point);
      }
    }
  }
}

double LuBlock::square_of_residual() const {
  double sum = 0;
  for (std::size_t plane = 0; plane < edge_; ++plane) {
    for (std::size_t row = reach; row < reach + rows_.count; ++row) {
      for (std::size_t column = reach; column < reach + columns_.count; ++column) {
        for (const double value : correction_[index({plane, row, column})]) sum += value * value;
      }
    }
  }
  return sum;
}

/// Lower: (D + w L) y = r. Upper: (D + w U) v = D y. In both, neighbours that the sweep has passed are known.
void LuBlock::sweep(Sweep which, std::size_t plane) {
  const bool is_lower = which == Sweep::lower;
  const std::size_t rows = rows_.count;
  const std::size_t columns = columns_.count;
  const std::size_t no_plane = is_lower ? 0 : edge_ - 1;  // it has none that was passed
  const auto passed = [&](std::size_t at, std::size_t stride) { return is_lower ? at - stride : at + stride; };
  for (std::size_t row_number = 0; row_number < rows; ++row_number) {
    const std::size_t row = reach + (is_lower ? row_number : rows - 1 - row_number);
    for (std::size_t column_number = 0; column_number < columns; ++column_number) {
      const Point point{plane, row, reach + (is_lower ? column_number : columns - 1 - column_number)};
      const std::size_t at = index(point);
      Values near{};
      if (plane != no_plane) add(near, 1, correction_[passed(at, depth_ * width_)]);
      add(near, 1, correction_[passed(at, width_)]);
      add(near, 1, correction_[passed(at, 1)]);
      const double factor = over_relaxation * strength(point);
      Values right = is_lower ? correction_[at] : Values{};
      add(right, factor, near);
      add(right, factor * coupling_strength, coupled(near));
      const Values values = solved(diagonal(point), right);
      if (is_lower) {
        correction_[at] = values;
      } else {
        add(correction_[at], 1, values);
      }
    }
  }
}

void LuBlock::update() {
  for (std::size_t plane = 0; plane < edge_; ++plane) {
    for (std::size_t row = reach; row < reach + rows_.count; ++row) {
      for (std::size_t column = reach; column < reach + columns_.count; ++column) {
        const std::size_t at = index({plane, row, column});
        add(solution_[at], over_relaxation * (2 - over_relaxation), correction_[at]);
      }
    }
  }
}

std::vector<std::uint64_t> LuBlock::column_hashes() const {
  std::vector<std::uint64_t> hashes(edge_ * edge_);
  for (std::size_t row = 0; row < rows_.count; ++row) {
    for (std::size_t column = 0; column < columns_.count; ++column) {
      std::uint64_t hash = apps::hash_start;
      for (std::size_t plane = 0; plane < edge_; ++plane) {
        hash = apps::mix(hash, solution_[index({plane, reach + row, reach + column})].data(), values_each);
      }
      hashes[(rows_.first + row) * edge_ + columns_.first + column] = hash;
    }
  }
  return hashes;
}

}  // namespace npb
