#include "runtime/machine/copy_pair.hpp"

#include <algorithm>
#include <array>

#include "runtime/base/clock.hpp"
#include "runtime/machine/peer_distance.hpp"
#include "runtime/process/processors.hpp"

namespace sluice {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t arithmetic_trials = 9;
constexpr std::size_t round_trips = 100;

inline void relax() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

std::uint64_t compute_ns() {
  const std::uint64_t start = now_ns();
  compute();
  return now_ns() - start;
}

}  // namespace

void read_lines(const std::byte* memory, std::size_t bytes) {
  unsigned sum = 0;
  for (std::size_t at = 0; at < bytes; at += line_bytes) sum += std::to_integer<unsigned>(memory[at]);
  asm volatile("" : : "r"(sum));
}

void write_lines(std::byte* memory, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += line_bytes) memory[at] = static_cast<std::byte>(at);
  asm volatile("" : : : "memory");
}

void compute() {
  constexpr unsigned rounds = 12'000;
  std::array<std::uint64_t, 8> sums{1, 2, 3, 4, 5, 6, 7, 8};  // independent of each other, so that no unit is idle
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::uint64_t& sum : sums) {
      sum += sum ^ round;
      asm volatile("" : "+r"(sum));
    }
  }
}

CopyPair::CopyPair(int processor, std::uint64_t deadline_ns) : deadline_ns_(deadline_ns) {
  thread_ = std::thread([this, processor] { partner(processor); });
}

CopyPair::~CopyPair() {
  // After a deadline it may be at its last job still.
  while (done_.load(std::memory_order_acquire) != jobs_) std::this_thread::yield();
  begin({.what = Job::What::leave});
  thread_.join();
}

void CopyPair::partner(int processor) {
  stay_on(processor);
  for (std::uint32_t next = 1;; ++next) {
    while (given_.load(std::memory_order_acquire) != next) relax();
    const Job job = job_;
    switch (job.what) {
      case Job::What::nothing:
        break;
      case Job::What::read:
        read_lines(job.memory, job.bytes);
        break;
      case Job::What::write:
        write_lines(job.memory, job.bytes);
        break;
      case Job::What::copy:
        job.copy(job.memory, job.source, job.bytes);
        break;
      case Job::What::compute:
        compute();
        break;
      case Job::What::leave:
        return;
    }
    done_.store(next, std::memory_order_release);
  }
}

void CopyPair::begin(const Job& job) {
  job_ = job;
  given_.store(++jobs_, std::memory_order_release);
}

bool CopyPair::await() {
  constexpr unsigned polls_between_looks = 256;
  for (unsigned polls = 0; done_.load(std::memory_order_acquire) != jobs_; ++polls) {
    relax();
    if (polls % polls_between_looks == 0 && now_ns() > deadline_ns_) return false;
  }
  return true;
}

// In turns, as the other thread of this core can be at work for somebody else (alone 19 us, beside that 30 to 39): of all trials
// alone before all trials beside the partner, 8 in 700 found one core where a line took 380 to 590 ns, and 10 of 24 with one core
// did not find it; in turns 48 of 53 find it. The partner that waits spins, and so keeps others off its own processor; it slows
// what shares its core less than arithmetic does.
std::optional<bool> share_a_core(CopyPair& pair) {
  std::array<double, arithmetic_trials> slower{};
  for (double& ratio : slower) {
    if (!pair.run({})) return std::nullopt;  // a partner that has not begun to wait yet would leave this side alone
    const std::uint64_t alone = compute_ns();
    pair.begin({.what = CopyPair::Job::What::compute});
    const std::uint64_t together = compute_ns();
    if (!pair.await()) return std::nullopt;
    ratio = static_cast<double>(together) / static_cast<double>(std::max<std::uint64_t>(alone, 1));
  }
  std::array<std::uint64_t, round_trips> trips{};
  for (std::uint64_t& trip : trips) {
    const std::uint64_t start = now_ns();
    if (!pair.run({})) return std::nullopt;
    trip = now_ns() - start;
  }
  return is_of_one_core(middle(trips), middle(slower));
}

// Emerald Rapids guest: 1.22 to 1.30 times with one core, where a line takes 102 to 110 ns, and 0.9 to 1.1 otherwise (3 of
// 1600 trials 1.3 to 1.6), where it takes 263 and more. Zen 5 guest: 80 to 100 ns and 2 times; between neighbours a line takes
// little more there.
bool is_of_one_core(std::uint64_t round_trip_ns, double slower) {
  constexpr double least_slower = 1.15;
  return round_trip_ns <= most_near_ns && slower > least_slower;
}

}  // namespace sluice
