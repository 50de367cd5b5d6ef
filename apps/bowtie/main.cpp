// BOWTIE (RV section 4.1.1): the processes of the first half and those of the second are pairs, all of which exchange messages in
// both directions at the same time, so that many share what joins the halves: an adapter on either side, in the paper.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apps/support/exchange.hpp"

namespace {

/// The pseudo-code of the paper has `(nprocs >> 1) ^ r`, which needs a power of two; this is the same there.
int partner_of(apps::World world) {
  const int half = world.ranks / 2;
  return world.rank < half ? world.rank + half : world.rank - half;
}

double measure(std::size_t bytes, const apps::ExchangeOptions& options, apps::World world) {
  const int partner = partner_of(world);
  const int count = static_cast<int>(bytes);
  const apps::Messages messages(bytes, options.equal_last);
  std::vector<unsigned char> outgoing(bytes);
  std::vector<unsigned char> incoming(bytes);
  const apps::Trial trial{
      .before = [&](int number) { messages.write(outgoing, world.rank, partner, number); },
      .exchange =
          [&] {
            std::array<MPI_Request, 2> requests{};
            MPI_Irecv(incoming.data(), count, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(outgoing.data(), count, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
          },
      .after = [&](int number) { messages.check(incoming, partner, world.rank, number); },
  };
  return apps::microseconds_of(trial, options);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const apps::ExchangeOptions options = apps::parse_exchange("bowtie", argc, argv, world);
  if (world.ranks % 2 != 0) {
    if (world.rank == 0) std::fprintf(stderr, "bowtie: %d ranks are no pairs\n", world.ranks);
    MPI_Finalize();
    return EXIT_FAILURE;
  }
  if (world.rank == 0) std::printf("bowtie: %d pairs, %d trials\n", world.ranks / 2, options.trials);
  for (const std::size_t bytes : apps::sizes_of(options)) {
    const double microseconds = measure(bytes, options, world);
    if (world.rank == 0) std::printf("%zu bytes %.2f us\n", bytes, microseconds);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
