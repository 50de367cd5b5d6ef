// A rank's columns of lu's cube, five values at each point, and the steps of SSOR on them. Knows nothing of MPI.
//
// The operator couples each point with its six neighbours by blocks of 5 x 5 that depend on the place, and with the points two
// steps away by a fourth difference, as NPB's does. Beyond the cube everything is zero. The sweeps leave the fourth difference
// out: what they solve is near to the operator, and cheap. Each value follows from others by the same operations in the same
// order, whatever the parts of the cube, so the results are equal to the bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/npb/lu_grid.hpp"
#include "apps/support/parts.hpp"

namespace npb {

class LuBlock {
 public:
  static constexpr std::size_t values_each = 5;
  static constexpr std::size_t reach = 2;  // of the operator
  using Values = std::array<double, values_each>;
  using Block = std::array<Values, values_each>;

  LuBlock(std::size_t edge, apps::Part rows, apps::Part columns);

  [[nodiscard]] std::size_t planes() const { return edge_; }

  // --- a sweep: plane after plane, from north, west and the first plane on, or from south, east and the last one
  enum class Sweep : bool { lower, upper };
  /// Needs the correction at the sides that the sweep comes from.
  void sweep(Sweep which, std::size_t plane);
  [[nodiscard]] std::size_t edge_values(Side side) const { return values_each * length_of(side); }
  /// Of one plane of the correction: the outermost points of this rank at that side, and those of the neighbour.
  void pack_edge(Side side, std::size_t plane, std::span<double> values) const;
  void unpack_edge(Side side, std::size_t plane, std::span<const double> values);

  // --- between two sweeps
  /// Adds the correction to the solution.
  void update();
  /// Of the solution, all planes, so many points deep as the operator reaches.
  [[nodiscard]] std::size_t halo_values(Side side) const { return reach * edge_ * edge_values(side); }
  void pack_halo(Side side, std::span<double> values) const;
  void unpack_halo(Side side, std::span<const double> values);
  /// The correction is what is missing, which the sweeps start from. Needs the halo.
  void compute_residual();
  /// Of what is missing.
  [[nodiscard]] double square_of_residual() const;

  /// Hashes of the solution, one for each column of the cube by row and column; 0 where it is another rank's.
  [[nodiscard]] std::vector<std::uint64_t> column_hashes() const;

 private:
  using Field = std::vector<Values>;
  struct Point {
    std::size_t plane, row, column;  // counted from the first of the halo, but for the plane
  };

  [[nodiscard]] std::size_t length_of(Side side) const;
  [[nodiscard]] std::size_t index(Point point) const { return (point.plane * depth_ + point.row) * width_ + point.column; }
  /// The points of a plane at that side: `away` 0 is the outermost of this rank's, 1 the nearest of the neighbour's.
  template <class Visit>
  void for_each_at(Side side, std::size_t plane, std::ptrdiff_t away, Visit visit) const;
  template <class Visit>
  void for_each_in_halo(Side side, bool of_neighbour, Visit visit) const;
  /// How strongly the point is coupled with its neighbours.
  [[nodiscard]] double strength(Point point) const;
  [[nodiscard]] Block diagonal(Point point) const;
  [[nodiscard]] Values missing_at(Point point) const;
  [[nodiscard]] Values start_at(Point point) const;

  const std::size_t edge_;
  const apps::Part rows_;
  const apps::Part columns_;
  const std::size_t depth_;  // rows and columns with the halo
  const std::size_t width_;
  Field solution_;
  Field correction_;
};

}  // namespace npb
