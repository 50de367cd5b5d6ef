#include "apps/patterns/ghost_field.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "apps/support/hash.hpp"

namespace patterns {

namespace {

constexpr double sum_unit = 1048576;  // 2^20 in 1, the largest value

struct Offset {
  int x;
  int y;
  int z;
};

constexpr std::array<Offset, 5> plane_5{{{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}}};
constexpr std::array<Offset, 7> space_7{{{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}}};

/// All within one cell on these axes.
template <std::size_t points>
constexpr std::array<Offset, points> cube(int depth) {
  std::array<Offset, points> offsets{};
  std::size_t point = 0;
  for (int x = -1; x <= 1; ++x) {
    for (int y = -1; y <= 1; ++y) {
      for (int z = -depth; z <= depth; ++z) offsets[point++] = {x, y, z};
    }
  }
  return offsets;
}
constexpr std::array<Offset, 9> plane_9 = cube<9>(0);
constexpr std::array<Offset, 27> space_27 = cube<27>(1);

std::span<const Offset> offsets_of(Stencil stencil) {
  switch (stencil) {
    case Stencil::plane_5:
      return plane_5;
    case Stencil::plane_9:
      return plane_9;
    case Stencil::space_7:
      return space_7;
    case Stencil::space_27:
      break;
  }
  return space_27;
}

}  // namespace

GhostField::GhostField(const Extent& extent, std::size_t variable) : extent_(extent), edges_(extent.cells), variable_(variable) {
  for (std::size_t& edge : edges_) edge += 2;
  now_.resize(edges_[0] * edges_[1] * edges_[2]);
  next_.resize(now_.size());
  for_each_cell([&](std::size_t at, std::uint64_t cell) {
    const std::uint64_t chance = apps::mix(apps::mix(apps::hash_start, cell), variable_);
    now_[at] = static_cast<double>(chance >> 32U) / static_cast<double>(std::uint64_t{1} << 32U);
  });
}

std::size_t GhostField::index(const apps::Place& place) const { return (place[0] * edges_[1] + place[1]) * edges_[2] + place[2]; }

template <class Visit>
void GhostField::for_each_of_face(apps::Face face, bool with_edges, std::size_t layer, Visit visit) const {
  apps::Place begin{1, 1, 1};
  apps::Place end{extent_.cells[0] + 1, extent_.cells[1] + 1, extent_.cells[2] + 1};
  for (std::size_t axis = 0; with_edges && axis < face.axis; ++axis) {
    begin[axis] = 0;
    ++end[axis];
  }
  begin[face.axis] = layer;
  end[face.axis] = layer + 1;
  for (std::size_t x = begin[0]; x < end[0]; ++x) {
    for (std::size_t y = begin[1]; y < end[1]; ++y) {
      for (std::size_t z = begin[2]; z < end[2]; ++z) visit(index({x, y, z}));
    }
  }
}

template <class Visit>
void GhostField::for_each_cell(Visit visit) const {
  const auto& [first, cells, whole] = extent_;
  for (std::size_t x = 0; x < cells[0]; ++x) {
    for (std::size_t y = 0; y < cells[1]; ++y) {
      const std::uint64_t row = ((first[0] + x) * whole[1] + first[1] + y) * whole[2] + first[2];
      for (std::size_t z = 0; z < cells[2]; ++z) visit(index({x + 1, y + 1, z + 1}), row + z);
    }
  }
}

std::size_t GhostField::face_values(apps::Face face, bool with_edges) const {
  std::size_t values = 1;
  for (std::size_t axis = 0; axis < extent_.cells.size(); ++axis) {
    if (axis != face.axis) values *= with_edges && axis < face.axis ? edges_[axis] : extent_.cells[axis];
  }
  return values;
}

double* GhostField::pack(apps::Face face, bool with_edges, double* values) const {
  for_each_of_face(face, with_edges, face.upper ? extent_.cells[face.axis] : 1, [&](std::size_t at) { *values++ = now_[at]; });
  return values;
}

const double* GhostField::unpack(apps::Face face, bool with_edges, const double* values) {
  const std::size_t layer = face.upper ? extent_.cells[face.axis] + 1 : 0;
  for_each_of_face(face, with_edges, layer, [&](std::size_t at) { now_[at] = *values++; });
  return values;
}

void GhostField::step(Stencil stencil) {
  const std::span<const Offset> offsets = offsets_of(stencil);
  std::array<std::ptrdiff_t, space_27.size()> strides{};
  const auto row = static_cast<std::ptrdiff_t>(edges_[2]);
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(edges_[1]) * row;
  for (std::size_t point = 0; point < offsets.size(); ++point) {
    strides[point] = offsets[point].x * plane + offsets[point].y * row + offsets[point].z;
  }
  const auto points = static_cast<double>(offsets.size());
  for (std::size_t x = 1; x <= extent_.cells[0]; ++x) {
    for (std::size_t y = 1; y <= extent_.cells[1]; ++y) {
      const double* from = &now_[index({x, y, 1})];
      double* to = &next_[index({x, y, 1})];
      for (std::size_t z = 0; z < extent_.cells[2]; ++z) {
        double sum = 0;
        for (std::size_t point = 0; point < offsets.size(); ++point) sum += from[static_cast<std::ptrdiff_t>(z) + strides[point]];
        to[z] = sum / points;
      }
    }
  }
  now_.swap(next_);
}

double GhostField::sum() const {
  double sum = 0;
  for_each_cell([&](std::size_t at, std::uint64_t) { sum += std::floor(now_[at] * sum_unit); });
  return sum;
}

std::uint64_t GhostField::hash() const {
  std::uint64_t sum = 0;
  for_each_cell([&](std::size_t at, std::uint64_t cell) {
    const std::uint64_t name = apps::mix(apps::mix(apps::hash_start, variable_), cell);
    const std::uint64_t hash = apps::mix(name, std::bit_cast<std::uint64_t>(now_[at]));
    sum += hash ^ hash >> 32U;
  });
  return sum;
}

}  // namespace patterns
