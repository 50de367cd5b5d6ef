#include "apps/patterns/problem.hpp"

#include <mpi.h>

#include <algorithm>
#include <limits>

#include "apps/patterns/edges.hpp"
#include "apps/patterns/metal.hpp"

namespace patterns {

namespace {

// Where nobody says anything else: a second or so of computing for a hundred trials.
constexpr std::size_t usual_scale = 12;
constexpr std::size_t usual_unit_cells = 8;
constexpr std::size_t usual_cells = 32;
constexpr std::size_t largest_scale = 30;
constexpr std::size_t largest_edge = 1024;

/// The shortest part of any rank on any axis.
std::size_t shortest_part(const Problem& problem, apps::World world) {
  const apps::Grid grid(world);
  const apps::Place whole = whole_of(problem, grid);
  std::size_t shortest = whole[0];
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    shortest = std::min(shortest, whole[axis] / static_cast<std::size_t>(grid.dimensions()[axis]));
  }
  return shortest;
}

void check_graph(const apps::OptionTable& table, const Problem& problem) {
  if (problem.size > largest_scale) table.reject("--size of graph must be at most 30");
  const std::size_t most_pairs = std::numeric_limits<int>::max() / sizeof(Edge);
  if (problem.pairs == 0 || problem.pairs > most_pairs) table.reject("--pairs must be 1 to 2^27");
}

}  // namespace

void add_problem_options(apps::OptionTable& table, Problem& problem) {
  table.number("--size", problem.size, "graph: of 2^N vertices; comd: unit cells, ghost: cells in each direction (12, 8 or 32)");
  table.word("--scaling", problem.scaling, {"strong", "weak"},
             "whether that is the size of all (strong), or of each rank's part (weak)");
  table.number("--steps", problem.steps, "in time, that comd and ghost take in a trial (10)");
  table.number("--interval", problem.interval, "steps from one sum of comd's energies to the next (10)");
  table.number("--pairs", problem.pairs, "of vertices that graph puts into a message at most (256)");
  table.number("--variables", problem.variables, "of each cell of ghost (20)");
  table.number("--sums", problem.sums, "variables of ghost that have a global sum in each step (all)");
  table.word("--stencil", problem.stencil, {"5", "7", "9", "27"}, "points of ghost's; 5 and 9 are in a plane (7)");
  table.word("--exchange", problem.exchange, {"bspma", "svaf"}, "faces of all of ghost's variables at once, or of one (bspma)");
}

bool has_problem(const std::string& pattern) { return pattern == "graph" || pattern == "comd" || pattern == "ghost"; }

void check_problem(const apps::OptionTable& table, const std::string& pattern, Problem& problem, apps::World world) {
  const bool is_graph = pattern == "graph";
  const bool is_comd = pattern == "comd";
  if (problem.size == 0) problem.size = is_graph ? usual_scale : is_comd ? usual_unit_cells : usual_cells;
  problem.sums = std::min(problem.sums, problem.variables);
  if (is_graph) return check_graph(table, problem);
  if (problem.steps == 0 || problem.interval == 0) table.reject("--steps and --interval must be 1 or more");
  if (problem.size > largest_edge) table.reject("--size must be at most 1024");
  if (problem.variables == 0) table.reject("--variables 0: there is nothing to compute");
  if (shortest_part(problem, world) < (is_comd ? fewest_unit_cells : 1)) table.reject("--size is too small for so many ranks");
  constexpr std::size_t max_values = std::numeric_limits<int>::max() / sizeof(double);
  if (!is_comd && problem.variables > max_values / ((problem.size + 2) * (problem.size + 2))) {
    table.reject("a face must have less than 2 GB");
  }
}

std::size_t bytes_of(const std::string& pattern, const Problem& problem, apps::World world) {
  if (pattern == "graph") return vertices_of(problem, world) * edges_of_vertex * sizeof(Edge);
  const apps::Place whole = whole_of(problem, apps::Grid(world));
  const std::size_t cells = whole[0] * whole[1] * whole[2];
  return cells * (pattern == "comd" ? atoms_of_unit_cell * sizeof(Atom) : problem.variables * sizeof(double));
}

std::size_t vertices_of(const Problem& problem, apps::World world) {
  return (problem.is_weak() ? static_cast<std::size_t>(world.ranks) : 1) << problem.size;
}

apps::Place whole_of(const Problem& problem, const apps::Grid& grid) {
  apps::Place whole{problem.size, problem.size, problem.size};
  for (std::size_t axis = 0; problem.is_weak() && axis < whole.size(); ++axis) {
    whole[axis] *= static_cast<std::size_t>(grid.dimensions()[axis]);
  }
  return whole;
}

}  // namespace patterns
