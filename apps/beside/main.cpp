// beside: how long small messages take at a rank that is busy with long ones. While it copies a long message, whatever else comes
// must wait for the end of the copy, or of the piece of it that is under way (the cooperative-rendezvous paper's figures 3 and
// 10).
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "apps/beside/options.hpp"
#include "apps/beside/roles.hpp"
#include "apps/beside/round_trips.hpp"
#include "apps/support/trials.hpp"

namespace {

using beside::Options;

constexpr int times_tag = 2;

void be_hub(const Options& options, apps::World world) {
  beside::Hub hub(options, world);
  for (int round = 0; round < options.rounds; ++round) {
    hub.prepare(round);
    MPI_Barrier(MPI_COMM_WORLD);
    hub.run();
    if (!hub.correct(round)) apps::wrong_result("beside", round);
  }
  std::printf("beside: %d ranks, %d rounds\n", world.ranks, options.rounds);
  if (options.bytes != 0) {
    const double messages = static_cast<double>(options.rounds) * options.messages * std::max(1, world.ranks - 2);
    std::printf("long messages %.0f of %zu bytes at %.3f GB/s\n", messages, options.bytes,
                messages * static_cast<double>(options.bytes) / hub.seconds() / 1e9);
  }
  std::fflush(stdout);
}

/// The round trips of the pinger.
std::vector<double> be_other(const Options& options, apps::World world) {
  std::optional<beside::Partner> partner;
  std::optional<beside::Pinger> pinger;
  if (beside::is_partner(world.rank, world)) partner.emplace(options, world.rank);
  if (world.rank == beside::pinger_of(world)) pinger.emplace(options);
  for (int round = 0; round < options.rounds; ++round) {
    if (partner) partner->prepare(round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (partner) partner->post();
    if (pinger) pinger->run();
    if (partner) partner->wait();
    if (partner && !partner->correct(round)) apps::wrong_result("beside", round);
  }
  return pinger ? pinger->round_trips() : std::vector<double>{};
}

/// Prints what the pinger has measured.
void print_from(int pinger) {
  MPI_Status status;
  int count = 0;
  MPI_Probe(pinger, times_tag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  std::vector<double> round_trips(static_cast<std::size_t>(count));
  MPI_Recv(round_trips.data(), count, MPI_DOUBLE, pinger, times_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  beside::print_round_trips(std::move(round_trips));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const Options options = beside::parse_options(argc, argv, world);
  const int pinger = beside::pinger_of(world);
  if (world.rank == beside::hub_rank) {
    be_hub(options, world);
    print_from(pinger);
  } else {
    const std::vector<double> times = be_other(options, world);
    if (world.rank == pinger) {
      MPI_Send(times.data(), static_cast<int>(times.size()), MPI_DOUBLE, beside::hub_rank, times_tag, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
