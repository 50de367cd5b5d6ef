#include "apps/patterns/options.hpp"

#include <limits>

namespace patterns {

Options parse_options(int argc, char** argv, apps::World world) {
  constexpr std::size_t max_bytes = std::numeric_limits<int>::max();
  Options options;
  std::size_t bytes = 0;
  apps::OptionTable table("patterns", world.rank);
  table.word("--pattern", options.pattern,
             {"scatter", "gather", "reduce", "broadcast", "exchange", "echo", "graph", "comd", "ghost"},
             "what the ranks do together");
  table.number(
      "--bytes", bytes,
      "for each rank (scatter, gather), of the whole (reduce, broadcast) or each way (exchange, echo) (65536, 262144, 1048576 "
      "and 4194304, one after another)");
  table.number("--segment", options.segment, "bytes that broadcast passes on at a time (262144)");
  add_problem_options(table, options.problem);
  apps::add_trial_options(table, options.trials);
  table.parse(argc, argv);
  apps::check_trial_options(table, options.trials);
  if (options.pattern.empty()) table.reject("--pattern is needed");
  if (has_problem(options.pattern)) {
    check_problem(table, options.pattern, options.problem, world);
    options.sizes = {bytes_of(options.pattern, options.problem, world)};
    return options;
  }
  if (world.ranks < 2) table.reject("a pattern needs two ranks or more");
  if (world.ranks % 2 != 0 && (options.pattern == "exchange" || options.pattern == "echo"))
    table.reject("these ranks are no pairs");
  if (bytes > max_bytes) table.reject("--bytes must be below 2 GB");
  if (options.segment == 0) table.reject("--segment 0: nothing would be sent");
  if (options.pattern == "reduce" && bytes % sizeof(double) != 0) table.reject("--bytes of reduce must be a multiple of 8");
  options.sizes = bytes == 0 ? std::vector<std::size_t>{65536, 262144, 1048576, 4194304} : std::vector{bytes};
  return options;
}

}  // namespace patterns
