#include "apps/pes/options.hpp"

namespace pes {

Options parse_options(int argc, char** argv, apps::World world) {
  Options options;
  apps::OptionTable table("pes", world.rank);
  table.number("--size", options.rows, "rows of the field (1024)");
  table.number("--columns", options.columns, "columns (as many as rows); a ghost row has 8 bytes for each");
  table.number("--imbalance", options.imbalance, "percent of work that one rank has more than the others (0)");
  table.number("--heavy-rank", options.heavy_rank, "which rank that is (another one in every iteration)");
  table.common(options);
  table.parse(argc, argv);
  if (options.columns == 0) options.columns = options.rows;
  if (options.rows < 3 || options.columns < 3) table.reject("the field needs 3 rows and 3 columns or more");
  if (options.rows - 2 < static_cast<std::size_t>(world.ranks)) table.reject("every rank needs a row of its own");
  if (options.heavy_rank >= world.ranks) table.reject("--heavy-rank names no rank of this job");
  return options;
}

}  // namespace pes
