// What graph, comd and ghost compute, and how much of it: a problem of one size for all ranks (strong scaling), or one that grows
// with their number (weak scaling).
#pragma once

#include <cstddef>
#include <string>

#include "apps/support/grid.hpp"
#include "apps/support/job.hpp"
#include "apps/support/options.hpp"

namespace patterns {

struct Problem {
  std::size_t size = 0;            // --size: of each rank's part if it is weak, of the whole otherwise
  std::string scaling = "strong";  // --scaling
  int steps = 10;                  // --steps: in time, of a trial (comd, ghost)
  int interval = 10;               // --interval: steps from one sum of energies to the next (comd)
  std::size_t pairs = 256;         // --pairs: of vertices in a message (graph)
  std::size_t variables = 20;      // --variables: of a cell (ghost)
  std::size_t sums = 20;           // --sums: variables of which there is a global sum in each step (ghost)
  std::string stencil = "7";       // --stencil: points (ghost)
  std::string exchange = "bspma";  // --exchange (ghost)

  [[nodiscard]] bool is_weak() const { return scaling == "weak"; }
};

void add_problem_options(apps::OptionTable& table, Problem& problem);
/// Rejects what cannot be computed by so many ranks.
void check_problem(const apps::OptionTable& table, const std::string& pattern, Problem& problem, apps::World world);
/// Whether it is one of those that have a problem.
[[nodiscard]] bool has_problem(const std::string& pattern);
/// What all ranks together hold of it: edges, atoms, or values.
[[nodiscard]] std::size_t bytes_of(const std::string& pattern, const Problem& problem, apps::World world);

/// Of the graph.
[[nodiscard]] std::size_t vertices_of(const Problem& problem, apps::World world);
/// Unit cells of comd, or cells of ghost, in each direction.
[[nodiscard]] apps::Place whole_of(const Problem& problem, const apps::Grid& grid);

}  // namespace patterns
