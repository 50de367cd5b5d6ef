// idle SECONDS: processor time of a process that sleeps between two messages, with a receive posted meanwhile.
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "bench.hpp"

namespace bench {

namespace {

double processor_milliseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto milliseconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

}  // namespace

void idle(Arguments arguments) {
  const double seconds = std::stod(argument(arguments, 0, "10"));
  const int partner = rank() ^ 1;
  if (partner >= ranks()) return;
  std::vector<std::byte> incoming(std::size_t{1} << 20);
  std::vector<std::byte> outgoing(incoming.size());
  const int count = static_cast<int>(incoming.size());
  for (std::uint64_t message = 1; message <= 2; ++message) {
    MPI_Request request = MPI_REQUEST_NULL;
    stamp(outgoing, message);
    MPI_Irecv(incoming.data(), count, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request);
    const double before = processor_milliseconds();
    std::this_thread::sleep_for(std::chrono::duration<double>(message == 1 ? 0.01 : seconds));
    const double used = processor_milliseconds() - before;
    MPI_Send(outgoing.data(), count, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    require(has_stamps(incoming, message), "idle");
    if (message == 2) report("idle", used, "ms");
  }
}

}  // namespace bench
