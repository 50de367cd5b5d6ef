#include "interpose/session/job_check.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>

#include "interpose/host/host.hpp"
#include "interpose/session/running_time.hpp"

namespace sluice {
namespace {

constexpr std::chrono::seconds max_silence{10};
constexpr useconds_t poll_interval_us = 50;

/// Below the largest tag that MPI guarantees, and unlikely to be used: the application cannot have sent anything yet anyway.
constexpr int hello_tag = 32749;

struct JobHello {
  std::uint64_t version = 2;  // changes with everything that two ranks must agree on
  std::uint64_t transports = 0;
  std::uint64_t offloads = 0;  // SLUICE_RNDV=coop-hca, for which all look for an adapter
};

/// FNV-1a: the same in every process, which std::hash need not be.
std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return hash;
}

[[noreturn]] void abort_job() {
  host().Abort(predefined().comm_world, 1);
  _exit(1);
}

void wait_for_hello(std::array<MPI_Request, 2>& requests, int rank, int silent) {
  RunningTime waited(RunningTime::Clock::now());
  for (int done = 0; !done;) {
    host().Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done) return;
    if (waited.look(RunningTime::Clock::now()) > max_silence) {
      std::fprintf(
          stderr,
          "sluice: rank %d: no greeting from rank %d in %lld s: it has not loaded libsluice.so, or has SLUICE_ENABLE=0 (every "
          "rank of a job needs the same LD_PRELOAD and SLUICE_ENABLE), or the host MPI does not get messages through\n",
          rank, silent, static_cast<long long>(max_silence.count()));
      abort_job();
    }
    usleep(poll_interval_us);
  }
}

}  // namespace

void check_job(const Config& config) {
  const MPI_Comm world = predefined().comm_world;
  int rank = 0;
  int size = 0;
  host().Comm_rank(world, &rank);
  host().Comm_size(world, &size);
  if (size == 1) return;
  const int previous = (rank + size - 1) % size;
  const bool offloads = config.rendezvous == Rendezvous::coop_hca;
  const JobHello own{.transports = stable_hash(config.transports), .offloads = offloads ? 1U : 0U};
  JobHello hello{};
  std::array<MPI_Request, 2> requests{};
  const MPI_Datatype byte = predefined().byte;
  host().Irecv(&hello, sizeof hello, byte, previous, hello_tag, world, &requests[0]);
  host().Isend(&own, sizeof own, byte, (rank + 1) % size, hello_tag, world, &requests[1]);
  wait_for_hello(requests, rank, previous);
  if (hello.version != own.version) {
    std::fprintf(stderr, "sluice: rank %d: rank %d has loaded another version of libsluice.so\n", rank, previous);
    abort_job();
  }
  if (hello.transports != own.transports) {
    std::fprintf(stderr, "sluice: rank %d: SLUICE_TRANSPORTS=%s here, but not on rank %d\n", rank, config.transports.c_str(),
                 previous);
    abort_job();
  }
  if (hello.offloads != own.offloads) {
    std::fprintf(stderr, "sluice: rank %d: SLUICE_RNDV=%s here, but %scoop-hca on rank %d\n", rank,
                 name_of(config.rendezvous).c_str(), hello.offloads == 0 ? "not " : "", previous);
    abort_job();
  }
}

}  // namespace sluice
