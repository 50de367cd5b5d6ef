#include "apps/m3/options.hpp"

#include "apps/m3/matrix.hpp"

namespace m3 {

Options parse_options(int argc, char** argv, apps::World world) {
  Options options;
  apps::OptionTable table("m3", world.rank);
  table.number("--size", options.size, "columns of A, rows and columns of B; a multiple of 4 (256)");
  table.number("--rows", options.rows, "rows of A, of all slaves together (as many as columns)");
  table.common(options);
  table.parse(argc, argv);
  if (options.rows == 0) options.rows = options.size;
  if (options.size == 0 || options.size % size_multiple != 0) table.reject("--size must be a multiple of 4");
  if (world.ranks < 2) table.reject("a master and a slave are needed: 2 ranks or more");
  if (options.rows < static_cast<std::size_t>(world.ranks - 1)) table.reject("every slave needs a row of its own");
  return options;
}

}  // namespace m3
