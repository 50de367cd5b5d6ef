#include "apps/beside/options.hpp"

#include <limits>

#include "apps/support/options.hpp"

namespace beside {

Options parse_options(int argc, char** argv, apps::World world) {
  constexpr std::size_t max_bytes = std::numeric_limits<int>::max();
  Options options;
  apps::OptionTable table("beside", world.rank);
  table.number("--bytes", options.bytes, "of a long message (4194304); 0: no long messages, for comparison");
  table.number("--messages", options.messages, "long ones in a round with each partner (8)");
  table.number("--rounds", options.rounds, "how often (40)");
  table.number("--pings", options.pings, "small messages in a round without long ones (200)");
  table.number("--pause", options.pause_us, "microseconds between two small messages (20)");
  table.flag("--outward", options.outward, "the first rank sends the long messages; it receives them otherwise");
  table.parse(argc, argv);
  if (world.ranks < 2) table.reject("two ranks or more are needed");
  if (options.bytes > max_bytes) table.reject("--bytes must be below 2 GB");
  if (options.rounds == 0) table.reject("--rounds 0: there is nothing to measure");
  if (options.bytes != 0 && options.messages == 0) table.reject("--messages 0: there are no long messages; say --bytes 0");
  if (options.bytes == 0 && options.pings == 0) table.reject("--pings 0: there is nothing to measure");
  return options;
}

}  // namespace beside
