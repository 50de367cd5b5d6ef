// The exchanges of the mini-application MiniGhost: faces of a block of several variables go to the ranks beyond, without
// blocking. With BSPMA a message has the faces of all variables, then all are computed. With SVAF each variable has messages of
// its own, and is computed before the next. After each step there is a global sum of each variable.
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "apps/patterns/ghost_field.hpp"
#include "apps/patterns/pattern.hpp"
#include "apps/support/grid.hpp"
#include "apps/support/parts.hpp"
#include "apps/support/requests.hpp"

namespace patterns {

namespace {

constexpr int checker = 0;

/// A range of variables, as they travel together.
struct Variables {
  std::size_t first;
  std::size_t count;
};

Stencil stencil_of(const Problem& problem) {
  if (problem.stencil == "5") return Stencil::plane_5;
  if (problem.stencil == "9") return Stencil::plane_9;
  return problem.stencil == "7" ? Stencil::space_7 : Stencil::space_27;
}

std::vector<GhostField> fields_of(const Extent& extent, std::size_t variables) {
  std::vector<GhostField> fields;
  for (std::size_t variable = 0; variable < variables; ++variable) fields.emplace_back(extent, variable);
  return fields;
}

Extent extent_of(const apps::Grid& grid, const apps::Place& whole) {
  Extent extent{{}, {}, whole};
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    const apps::Part part = apps::part_of(whole[axis], static_cast<int>(grid.place()[axis]), grid.dimensions()[axis]);
    extent.first[axis] = part.first;
    extent.cells[axis] = part.count;
  }
  return extent;
}

class Ghost : public Pattern {
 public:
  Ghost(apps::World world, const Problem& problem)
      : problem_(problem),
        stencil_(stencil_of(problem)),
        grid_(world),
        fields_(fields_of(extent_of(grid_, whole_of(problem, grid_)), problem.variables)),
        sums_(problem.sums) {
    for (const apps::Face face : apps::faces) {
      const int neighbour = grid_.neighbour(face);
      if (neighbour == MPI_PROC_NULL) continue;
      const std::size_t values = fields_.front().face_values(face, with_edges()) * together();
      sides_.push_back({face, neighbour, std::vector<double>(values), std::vector<double>(values)});
    }
    const apps::Place whole = whole_of(problem, grid_);
    if (world.rank == checker) expected_ = fields_of({{}, whole, whole}, problem.variables);
  }

  void prepare(int /*trial*/) override {}

  void run(MPI_Comm comm, apps::Look /*look*/) override {
    for (int step = 0; step < problem_.steps; ++step) {
      for (std::size_t first = 0; first < fields_.size(); first += together()) {
        const Variables variables{first, std::min(together(), fields_.size() - first)};
        exchange(variables, comm);
        compute(variables, comm);
      }
    }
  }

  /// The same steps of the whole field in one process.
  [[nodiscard]] bool correct(int /*trial*/) const override {
    std::uint64_t mine = 0;
    for (const GhostField& field : fields_) mine += field.hash();
    std::uint64_t all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, checker, MPI_COMM_WORLD);
    return expected_.empty() || are_expected(all);
  }

 private:
  struct Side {
    apps::Face face;
    int neighbour;
    std::vector<double> outgoing;
    std::vector<double> incoming;
  };

  [[nodiscard]] bool with_edges() const { return has_diagonals(stencil_); }
  [[nodiscard]] std::size_t together() const { return problem_.exchange == "svaf" ? 1 : problem_.variables; }

  /// Where edges and corners are wanted, one axis after the other, as each passes on what the ones before have brought.
  void exchange(Variables variables, MPI_Comm comm) {
    if (!with_edges())
      return exchange_sides(
          variables, [](const Side&) { return true; }, comm);
    for (std::size_t axis = 0; axis < apps::Place().size(); ++axis) {
      exchange_sides(
          variables, [axis](const Side& side) { return side.face.axis == axis; }, comm);
    }
  }

  template <class Wanted>
  void exchange_sides(Variables variables, Wanted wanted, MPI_Comm comm) {
    for (Side& side : sides_) {
      if (!wanted(side)) continue;
      MPI_Irecv(side.incoming.data(), static_cast<int>(side.incoming.size()), MPI_DOUBLE, side.neighbour,
                apps::tag_of(apps::opposite(side.face)), comm, requests_.add());
    }
    for (Side& side : sides_) {
      if (!wanted(side)) continue;
      double* place = side.outgoing.data();
      for (std::size_t at = 0; at < variables.count; ++at) {
        place = fields_[variables.first + at].pack(side.face, with_edges(), place);
      }
      MPI_Isend(side.outgoing.data(), static_cast<int>(side.outgoing.size()), MPI_DOUBLE, side.neighbour, apps::tag_of(side.face),
                comm, requests_.add());
    }
    requests_.wait();
    for (const Side& side : sides_) {
      if (!wanted(side)) continue;
      const double* place = side.incoming.data();
      for (std::size_t at = 0; at < variables.count; ++at) {
        place = fields_[variables.first + at].unpack(side.face, with_edges(), place);
      }
    }
  }

  void compute(Variables variables, MPI_Comm comm) {
    for (std::size_t variable = variables.first; variable < variables.first + variables.count; ++variable) {
      fields_[variable].step(stencil_);
      if (variable >= sums_.size()) continue;
      const double mine = fields_[variable].sum();
      MPI_Allreduce(&mine, &sums_[variable], 1, MPI_DOUBLE, MPI_SUM, comm);
    }
  }

  [[nodiscard]] bool are_expected(std::uint64_t hash) const {
    std::uint64_t expected = 0;
    bool right = true;
    for (std::size_t variable = 0; variable < expected_.size(); ++variable) {
      GhostField& field = expected_[variable];
      for (int step = 0; step < problem_.steps; ++step) field.step(stencil_);
      if (variable < sums_.size()) right &= sums_[variable] == field.sum();
      expected += field.hash();
    }
    return right && hash == expected;
  }

  Problem problem_;
  Stencil stencil_;
  apps::Grid grid_;
  std::vector<GhostField> fields_;
  std::vector<double> sums_;  // of the last step
  std::vector<Side> sides_;
  apps::Requests requests_;
  mutable std::vector<GhostField> expected_;  // on the rank that checks, one trial behind until it does
};

}  // namespace

std::unique_ptr<Pattern> ghost(apps::World world, const Problem& problem) { return std::make_unique<Ghost>(world, problem); }

}  // namespace patterns
