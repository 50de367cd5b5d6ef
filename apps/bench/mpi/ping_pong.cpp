// ping_pong SIZES SECONDS: half the round trip between ranks 0 and 1. Every message carries a stamp of its own, checked on
// arrival.
#include <algorithm>

#include "bench.hpp"

namespace bench {

namespace {

constexpr int batches = 21;

void exchange(std::span<std::byte> buffer, std::uint64_t message) {
  const int count = static_cast<int>(buffer.size());
  if (rank() == 0) {
    stamp(buffer, message);
    MPI_Send(buffer.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    require(has_stamps(buffer, message + 1), "ping_pong");
  } else {
    MPI_Recv(buffer.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    require(has_stamps(buffer, message), "ping_pong");
    stamp(buffer, message + 1);
    MPI_Send(buffer.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

double seconds_per_exchange(std::span<std::byte> buffer, int exchanges, std::uint64_t& message) {
  const double start = now();
  for (int i = 0; i < exchanges; ++i, message += 2) exchange(buffer, message);
  return (now() - start) / exchanges;
}

/// The same number on both ranks: rank 0 has measured and decides.
int exchanges_for(double seconds, double one) {
  int exchanges = std::max(4, static_cast<int>(seconds / batches / one));
  if (rank() == 0) {
    MPI_Send(&exchanges, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&exchanges, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return exchanges;
}

}  // namespace

void ping_pong(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 1, "0.3"));
  for (const std::size_t bytes : sizes(arguments, 0, "8,64,256,1K,4K,64K,256K,1M,4M")) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() > 1) continue;
    std::vector<std::byte> buffer(bytes);
    std::uint64_t message = 1;
    seconds_per_exchange(buffer, 20, message);
    const int exchanges = exchanges_for(seconds, seconds_per_exchange(buffer, 20, message));
    std::vector<double> results;
    for (int batch = 0; batch < batches; ++batch) results.push_back(seconds_per_exchange(buffer, exchanges, message));
    report("ping_pong/" + show_size(bytes), median(results) / 2 * 1e6, "us");
  }
}

}  // namespace bench
