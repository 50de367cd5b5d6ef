#include "apps/stencil/options.hpp"

#include <limits>

namespace stencil {

Options parse_options(int argc, char** argv, apps::World world) {
  constexpr std::size_t max_cells = 1024;
  Options options;
  apps::OptionTable table("stencil", world.rank);
  table.number("--cells", options.cells, "of a rank's block in each direction (16)");
  table.number("--variables", options.variables,
               "of each cell (512); a message has 8 bytes for each cell and variable of a face");
  apps::add_trial_options(table, options.steps);
  table.parse(argc, argv);
  apps::check_trial_options(table, options.steps);
  if (options.cells == 0 || options.cells > max_cells) table.reject("--cells must be 1 to 1024");
  if (options.variables == 0) table.reject("--variables 0: there is nothing to compute");
  if (options.variables > std::numeric_limits<int>::max() / (options.cells * options.cells)) {
    table.reject("a face must have fewer than 2^31 values");
  }
  return options;
}

}  // namespace stencil
