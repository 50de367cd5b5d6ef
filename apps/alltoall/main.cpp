// MPI_Alltoall as the rendezvous paper writes it out (RV section 4.2.2): every process exchanges with every other, four at a
// time.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apps/support/exchange.hpp"

namespace {

constexpr int at_a_time = 4;

/// The paper shows only the case of a multiple of four processes.
void exchange_all(std::vector<std::vector<unsigned char>>& outgoing, std::vector<std::vector<unsigned char>>& incoming, int count,
                  apps::World world) {
  std::vector<MPI_Request> requests;
  for (int first = 0; first < world.ranks; first += at_a_time) {
    requests.assign(static_cast<std::size_t>(2 * at_a_time), MPI_REQUEST_NULL);
    auto request = requests.begin();
    for (int step = first; step < std::min(first + at_a_time, world.ranks); ++step) {
      const int target = (world.rank + step) % world.ranks;
      const int source = (world.rank - step + world.ranks) % world.ranks;
      MPI_Isend(outgoing[static_cast<std::size_t>(target)].data(), count, MPI_BYTE, target, 0, MPI_COMM_WORLD, &*request++);
      MPI_Irecv(incoming[static_cast<std::size_t>(source)].data(), count, MPI_BYTE, source, 0, MPI_COMM_WORLD, &*request++);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
}

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
      .exchange = [&] { exchange_all(outgoing, incoming, static_cast<int>(bytes), world); },
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
