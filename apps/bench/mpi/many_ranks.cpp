// Programs of many ranks by point-to-point calls, without a barrier: what more ranks than cores do to waiting.
#include <algorithm>

#include "bench.hpp"

namespace bench {

namespace {

constexpr int batches = 7;

/// Runs `step` until its time is steady enough to say how many of them take `seconds`; the same number on every rank. The first
/// steps are slow: connections are made, buffers become known.
template <typename Step>
int steps_in(double seconds, Step step) {
  constexpr double enough = 0.05;
  for (int steps = 8;; steps *= 2) {
    const double start = now();
    for (int i = 0; i < steps; ++i) step();
    double elapsed = now() - start;
    MPI_Bcast(&elapsed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (elapsed > enough) return std::max(2, static_cast<int>(seconds * steps / elapsed));
  }
}

/// Reports the time of one `step`, the median of several batches that take `seconds` together.
template <typename Step>
void measure(const std::string& name, double seconds, Step step) {
  std::uint64_t message = 1;
  const auto next = [&] { step(message++); };
  const int steps = steps_in(seconds / batches, next);
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch) {
    const double start = now();
    for (int i = 0; i < steps; ++i) next();
    times.push_back((now() - start) / steps * 1e6);
  }
  report(name, median(times), "us");
}

}  // namespace

/// ring SIZES SECONDS: every rank sends to the next and receives from the one before, again and again.
void ring(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 1, "0.7"));
  const int next = (rank() + 1) % ranks();
  const int previous = (rank() + ranks() - 1) % ranks();
  for (const std::size_t bytes : sizes(arguments, 0, "1K,64K,1M")) {
    std::vector<std::byte> outgoing(bytes);
    std::vector<std::byte> incoming(bytes);
    const int count = static_cast<int>(bytes);
    measure("ring/" + show_size(bytes), seconds, [&](std::uint64_t message) {
      MPI_Request request = MPI_REQUEST_NULL;
      stamp(outgoing, message * 1000 + static_cast<std::uint64_t>(rank()));
      MPI_Isend(outgoing.data(), count, MPI_BYTE, next, 0, MPI_COMM_WORLD, &request);
      MPI_Recv(incoming.data(), count, MPI_BYTE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      require(has_stamps(incoming, message * 1000 + static_cast<std::uint64_t>(previous)), "ring");
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
  }
}

/// all_to_all SIZES SECONDS: every rank sends to every other, all nonblocking, then waits for all.
void all_to_all(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 1, "0.7"));
  const auto peers = static_cast<std::size_t>(ranks());
  for (const std::size_t bytes : sizes(arguments, 0, "1K,64K,1M")) {
    std::vector<std::byte> outgoing(bytes * peers);
    std::vector<std::byte> incoming(bytes * peers);
    const auto part = [&](std::vector<std::byte>& memory, int peer) {
      return std::span(memory).subspan(static_cast<std::size_t>(peer) * bytes, bytes);
    };
    std::vector<MPI_Request> requests(2 * peers);
    const auto stamp_of = [](std::uint64_t message, int from, int to) {
      return message * 10000 + static_cast<std::uint64_t>(from * 100 + to);
    };
    measure("all_to_all/" + show_size(bytes), seconds, [&](std::uint64_t message) {
      const int count = static_cast<int>(bytes);
      auto request = requests.begin();
      for (int peer = 0; peer < ranks(); ++peer) {
        MPI_Irecv(part(incoming, peer).data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &*request++);
      }
      for (int peer = 0; peer < ranks(); ++peer) {
        stamp(part(outgoing, peer), stamp_of(message, rank(), peer));
        MPI_Isend(part(outgoing, peer).data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &*request++);
      }
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      for (int peer = 0; peer < ranks(); ++peer) {
        require(has_stamps(part(incoming, peer), stamp_of(message, peer, rank())), "all_to_all");
      }
    });
  }
}

/// collectives SECONDS: what an application without point-to-point calls pays.
void collectives(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 0, "0.7"));
  std::vector<double> values(8192);
  std::vector<double> sums(values.size());
  measure("collectives", seconds, [&](std::uint64_t message) {
    const auto value = static_cast<double>(message % 1000);
    std::ranges::fill(values, value);
    MPI_Allreduce(values.data(), sums.data(), 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require(sums[0] == value * ranks() && sums[63] == sums[0], "collectives: MPI_Allreduce");
    MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    require(values.back() == value, "collectives: MPI_Bcast");
    MPI_Barrier(MPI_COMM_WORLD);
  });
}

/// halo SIZES SECONDS: a strip of cells per rank, neighbours' edges by small messages, some computation: no large messages.
void halo(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 1, "0.7"));
  const int next = rank() + 1 < ranks() ? rank() + 1 : MPI_PROC_NULL;
  const int previous = rank() > 0 ? rank() - 1 : MPI_PROC_NULL;
  const Work work;
  constexpr double work_seconds = 20e-6;
  for (const std::size_t bytes : sizes(arguments, 0, "64,1K")) {
    std::vector<std::byte> mine(bytes);
    std::vector<std::byte> below(bytes);
    std::vector<std::byte> above(bytes);
    const int count = static_cast<int>(bytes);
    measure("halo/" + show_size(bytes), seconds, [&](std::uint64_t message) {
      stamp(mine, message);
      MPI_Sendrecv(mine.data(), count, MPI_BYTE, next, 0, below.data(), count, MPI_BYTE, previous, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      MPI_Sendrecv(mine.data(), count, MPI_BYTE, previous, 1, above.data(), count, MPI_BYTE, next, 1, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      require(previous == MPI_PROC_NULL || has_stamps(below, message), "halo");
      require(next == MPI_PROC_NULL || has_stamps(above, message), "halo");
      work.run(work_seconds);
    });
  }
}

}  // namespace bench
