#include "interpose/session/trace_clocks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "interpose/host/host.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/trace/format.hpp"

namespace sluice {
namespace {

/// Exchanges between rank 0 and another; the fastest counts. The first ones make the host's connections.
constexpr int rounds = 40;
constexpr int clock_tag = 1;

/// The same number on ranks whose CLOCK_MONOTONIC is the same: one boot of one kernel, one time namespace.
std::uint64_t clock_identity() {
  std::array<char, 64> boot{};
  const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t length = file ? ::read(file.get(), boot.data(), boot.size()) : 0;
  struct stat space {};
  const bool known = length > 0 && ::stat("/proc/self/ns/time", &space) == 0;
  if (!known) return 0;
  return XXH3_64bits_withSeed(boot.data(), static_cast<std::size_t>(length), space.st_ino) | 1;
}

struct Offset {
  std::int64_t to_rank0_ns = 0;
  std::uint64_t error_ns = 0;
};
static_assert(sizeof(Offset) == 16);

void answer(int rank, MPI_Comm world) {
  for (int round = 0; round < rounds; ++round) {
    std::uint64_t time = 0;
    host().Recv(&time, 1, predefined().uint64, rank, clock_tag, world, MPI_STATUS_IGNORE);
    time = now_ns();
    host().Send(&time, 1, predefined().uint64, rank, clock_tag, world);
  }
}

Offset ask_rank0(MPI_Comm world) {
  Offset best{.error_ns = ~std::uint64_t{0}};
  for (int round = 0; round < rounds; ++round) {
    std::uint64_t theirs = 0;
    const std::uint64_t before = now_ns();
    host().Send(&before, 1, predefined().uint64, 0, clock_tag, world);
    host().Recv(&theirs, 1, predefined().uint64, 0, clock_tag, world, MPI_STATUS_IGNORE);
    const std::uint64_t half = (now_ns() - before) / 2;
    if (half < best.error_ns) best = {static_cast<std::int64_t>(theirs - before - half), half};
  }
  return best;
}

}  // namespace

void compare_clocks(trace::Moment moment, MPI_Comm world) {
  int rank = 0;
  int size = 0;
  host().Comm_rank(world, &rank);
  host().Comm_size(world, &size);
  std::uint64_t own = clock_identity();
  std::vector<std::uint64_t> clocks(static_cast<std::size_t>(size));
  host().Allgather(&own, 1, predefined().uint64, clocks.data(), 1, predefined().uint64, world);
  // The first rank of a clock; one whose clock is not known counts as having one of its own.
  const auto first_of = [&](int of) {
    const std::uint64_t clock = clocks[static_cast<std::size_t>(of)];
    return clock == 0 ? of : static_cast<int>(std::find(clocks.begin(), clocks.end(), clock) - clocks.begin());
  };
  const int first = first_of(rank);
  Offset offset;
  if (rank == 0) {
    for (int other = 1; other < size; ++other) {
      if (first_of(other) == other) answer(other, world);
    }
  } else if (first == rank) {
    offset = ask_rank0(world);
    for (int other = rank + 1; other < size; ++other) {
      if (first_of(other) == rank) host().Send(&offset, sizeof offset, predefined().byte, other, clock_tag, world);
    }
  } else if (first != 0) {
    host().Recv(&offset, sizeof offset, predefined().byte, first, clock_tag, world, MPI_STATUS_IGNORE);
  }
  if (!trace::on()) return;
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  trace::set_clock_point(
      moment, {.local_ns = now_ns(),
               .to_rank0_ns = offset.to_rank0_ns,
               .error_ns = offset.error_ns,
               .wall_ns = static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(wall.tv_nsec)});
}

}  // namespace sluice
