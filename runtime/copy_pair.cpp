#include "runtime/copy_pair.hpp"

#include <algorithm>
#include <array>

#include "runtime/clock.hpp"
#include "runtime/processors.hpp"

namespace sluice {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr int arithmetic_trials = 9;  // the shortest counts: what disturbs one only ever makes it longer

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

std::uint64_t compute_alone_ns() {
  std::uint64_t alone = compute_ns();
  for (int i = 1; i < arithmetic_trials; ++i) alone = std::min(alone, compute_ns());
  return alone;
}

std::optional<bool> share_a_core(CopyPair& pair, std::uint64_t alone_ns) {
  constexpr double least_slower = 1.5;
  std::uint64_t together = ~std::uint64_t{0};
  for (int i = 0; i < arithmetic_trials; ++i) {
    if (!pair.run({})) return std::nullopt;  // a partner that has not begun to wait yet would leave this side alone
    pair.begin({.what = CopyPair::Job::What::compute});
    together = std::min(together, compute_ns());
    if (!pair.await()) return std::nullopt;
  }
  return static_cast<double>(together) > least_slower * static_cast<double>(alone_ns);
}

}  // namespace sluice
