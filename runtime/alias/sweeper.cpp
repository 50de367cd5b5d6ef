#include "runtime/alias/sweeper.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <utility>

#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t for_ever = ~std::uint64_t{0};
constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t shortest_ns = 20'000'000;  // in which a program can fill some 50 MB of new memory
constexpr std::size_t worth_it = std::size_t{64} << 20;

std::uint64_t time_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * second_ns + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Pages that belong to this process alone, by /proc/self/statm; 0 where that cannot be read.
std::size_t private_bytes() {
  const Descriptor file(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  if (!file || read(file.get(), text.data(), text.size() - 1) <= 0) return 0;
  char* rest = text.data();
  std::strtoul(rest, &rest, 10);
  const std::size_t resident = std::strtoul(rest, &rest, 10);
  const std::size_t shared = std::strtoul(rest, &rest, 10);
  return (resident - std::min(resident, shared)) * page_bytes;
}

void wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

std::uint64_t SweepPace::next_ns(std::size_t bytes, std::uint64_t took_ns, std::uint64_t computed_ns) {
  constexpr std::uint64_t share = 256;  // of all time, for looks
  constexpr std::uint64_t max_idle = 16;
  constexpr std::uint64_t busy_share = 50;
  idle_factor_ = computed_ns * busy_share < last_ns_ ? std::min(2 * idle_factor_, max_idle) : 1;
  const std::uint64_t by_bytes = bytes >= worth_it ? shortest_ns : shortest_ns * (worth_it / std::max<std::size_t>(bytes, 1) + 1);
  last_ns_ = std::max(std::min(by_bytes, second_ns), took_ns * share) * idle_factor_;
  glance_ns_ = bytes >= worth_it ? shortest_ns * idle_factor_ : last_ns_;
  return last_ns_;
}

Sweeper::Sweeper(std::function<std::size_t()> look) : look_(std::move(look)), thread_([this] { run(); }) {}

Sweeper::~Sweeper() {
  state_.store(ended, std::memory_order_seq_cst);
  wake(state_);
  if (thread_.joinable()) thread_.join();
}

void Sweeper::abandon() {
  if (thread_.joinable()) thread_.detach();
}

bool Sweeper::change(std::uint32_t from, std::uint32_t to) {
  return state_.compare_exchange_strong(from, to, std::memory_order_seq_cst);
}

void Sweeper::rouse() {
  if (state_.load(std::memory_order_relaxed) == resting && change(resting, awake)) wake(state_);
}

void Sweeper::sleep(std::uint32_t while_it_is, std::uint64_t nanoseconds) {
  const timespec time{static_cast<time_t>(nanoseconds / second_ns), static_cast<long>(nanoseconds % second_ns)};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&state_), FUTEX_WAIT_PRIVATE, while_it_is,
          nanoseconds == for_ever ? nullptr : &time, nullptr, 0);
}

void Sweeper::sleep_until_grown(std::uint64_t max_ns, std::uint64_t glance_ns) {
  constexpr std::size_t grown = worth_it / 4;
  std::size_t least = private_bytes();  // what is no block goes, too, when memory is freed
  for (std::uint64_t left = max_ns; left > 0 && state_.load(std::memory_order_relaxed) == awake;) {
    const std::uint64_t now = std::min(left, glance_ns);
    sleep(awake, now);
    left -= now;
    const std::size_t bytes = private_bytes();
    if (bytes > least + grown) return;
    least = std::min(least, bytes);
  }
}

void Sweeper::run() {
  pthread_setname_np(pthread_self(), "sluice-sweep");
  SweepPace pace;
  std::uint64_t computed_before = 0;
  for (;;) {
    change(awake, resting);
    if (state_.load(std::memory_order_seq_cst) == ended) return;
    // Not by the clock: a look may have to wait for its lock.
    const std::uint64_t began = time_of(CLOCK_THREAD_CPUTIME_ID);
    const std::size_t bytes = look_();
    const std::uint64_t took = time_of(CLOCK_THREAD_CPUTIME_ID) - began;
    if (bytes == 0) {
      sleep(resting, for_ever);
      continue;
    }
    const std::uint64_t computed = time_of(CLOCK_PROCESS_CPUTIME_ID) - time_of(CLOCK_THREAD_CPUTIME_ID);
    const std::uint64_t interval = pace.next_ns(bytes, took, computed - std::min(computed_before, computed));
    computed_before = computed;
    change(resting, awake);
    sleep_until_grown(interval, pace.glance_ns());
  }
}

}  // namespace sluice
