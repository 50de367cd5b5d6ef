// The micro-benchmark of MPI_Alltoall of the rendezvous paper (RV section 4.2.2), which is written out there.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apps/support/all_to_all.hpp"
#include "apps/support/exchange.hpp"

namespace {

double measure(std::size_t bytes, const apps::ExchangeOptions& options, apps::World world) {
  const auto ranks = static_cast<std::size_t>(world.ranks);
  const apps::Messages messages(bytes, options.equal_last);
  std::vector<std::vector<unsigned char>> outgoing(ranks, std::vector<unsigned char>(bytes));
  std::vector<std::vector<unsigned char>> incoming(ranks, std::vector<unsigned char>(bytes));
  const auto for_each_peer = [&](auto action) {
    for (int peer = 0; peer < world.ranks; ++peer) action(peer, static_cast<std::size_t>(peer));
  };
  const apps::Trial trial{
      .before =
          [&](int number) {
            for_each_peer([&](int peer, std::size_t index) { messages.write(outgoing[index], world.rank, peer, number); });
          },
      .exchange =
          [&] {
            const auto block_in = [](auto& blocks) {
              return [&blocks](int peer) { return blocks[static_cast<std::size_t>(peer)].data(); };
            };
            apps::exchange_with_all(block_in(outgoing), block_in(incoming), static_cast<int>(bytes), world);
          },
      .after =
          [&](int number) {
            for_each_peer([&](int peer, std::size_t index) { messages.check(incoming[index], peer, world.rank, number); });
          },
  };
  return apps::microseconds_of(trial, options);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const apps::ExchangeOptions options = apps::parse_exchange("alltoall", argc, argv, world);
  if (world.rank == 0) std::printf("alltoall: %d ranks, %d trials\n", world.ranks, options.trials);
  for (const std::size_t bytes : apps::sizes_of(options)) {
    const double microseconds = measure(bytes, options, world);
    if (world.rank == 0) std::printf("%zu bytes %.2f us\n", bytes, microseconds);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
