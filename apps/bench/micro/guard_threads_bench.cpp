// What several threads cost each other under a guard: the price of a fault while others fault, and what protection changes and
// page faults of other threads do to each other, since both need the lock of the address space.
//
// Each figure is the median over single operations, because threads outnumber processors.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "guard_bench.hpp"

namespace sluice::bench {
namespace {

constexpr std::size_t fault_pages = 2;  // a mapping of one page is not eligible
constexpr std::size_t protected_pages = 64;
constexpr std::size_t fresh_pages = 64;
constexpr int operations = 300;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// As the engine: one lock for releases, under which whoever waits for a page opens what is complete, which here is everything.
class Releases final : public FaultWaiter {
 public:
  explicit Releases(std::size_t threads) : releases_(threads) {}

  void wait_a_little(unsigned) override {
    const std::lock_guard lock(lock_);
    for (const Release& release : releases_) {
      if (release.guarded) guard->open(*release.guarded, release.bytes);
    }
  }
  void protect(std::size_t thread, ByteRange bytes) {
    const std::lock_guard lock(lock_);
    releases_[thread] = {guard->protect(bytes, 0), bytes.size()};
  }
  void finish(std::size_t thread) {
    const std::lock_guard lock(lock_);
    if (Guarded* guarded = std::exchange(releases_[thread].guarded, nullptr)) guard->finish(guarded);
  }
  PageGuard* guard = nullptr;

 private:
  struct Release {
    Guarded* guarded = nullptr;
    std::size_t bytes = 0;
  };
  std::mutex lock_;
  std::vector<Release> releases_;
};

/// A thread touches a closed page whose data is there: until it goes on.
void fault(benchmark::State& state) {
  const auto threads = static_cast<std::size_t>(state.range(0));
  AliasArena arena(map_budget);
  Releases releases(threads);
  PageGuard guard(releases, &arena, engine_of(state.range(1)));
  releases.guard = &guard;
  if (guard.engine() != engine_of(state.range(1))) state.SkipWithError("this engine is not to be had here");
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (std::size_t i = 0; i < threads; ++i) {
    buffers.push_back(std::make_unique<Buffer>(fault_pages));
    if (arena.migrate(buffers.back()->range()) != Ineligible::none) state.SkipWithError("not eligible");
  }
  const auto work = [&](std::size_t thread, std::vector<double>& touches) {
    for (int i = 0; i < operations; ++i) {
      releases.protect(thread, buffers[thread]->range());
      const auto start = Clock::now();
      benchmark::DoNotOptimize(*static_cast<volatile char*>(buffers[thread]->start()));
      touches.push_back(seconds_since(start));
      releases.finish(thread);
    }
  };
  for (auto _ : state) {
    std::vector<std::vector<double>> touches(threads);
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work, i, std::ref(touches[i]));
      work(0, touches[0]);
    }
    for (std::size_t i = 1; i < threads; ++i) touches[0].insert(touches[0].end(), touches[i].begin(), touches[i].end());
    state.SetIterationTime(median(touches[0]));
  }
}
BENCHMARK(fault)->ArgNames({"threads", "userfaultfd"})->ArgsProduct({{1, 2, 8}, {0, 1}})->UseManualTime()->Iterations(5);

/// Touches fresh memory until told to stop: page faults of the kernel's, as every program that allocates has them. Returns the
/// median price of one.
double touch_fresh_memory(const std::atomic<bool>& stop) {
  const Buffer fresh(fresh_pages);
  std::vector<double> faults;
  do {
    syscall(SYS_madvise, fresh.start(), fresh.size(), MADV_DONTNEED);
    const auto start = Clock::now();
    for (std::size_t page = 0; page < fresh_pages; ++page) static_cast<volatile char*>(fresh.start())[page * page_bytes] = 1;
    faults.push_back(seconds_since(start) / fresh_pages);
  } while (!stop.load(std::memory_order_relaxed));
  return median(faults);
}

/// Writes to open memory until told to stop: it is only interrupted to forget translations.
void write_open_memory(const std::atomic<bool>& stop) {
  const Buffer open(fresh_pages);
  while (!stop.load(std::memory_order_relaxed)) open.touch();
}

void protect_and_open_once(Bench& bench) { bench.guard.finish(bench.guard.protect(bench.buffer.range(), 0)); }

/// Protecting and opening 64 pages while other threads compute or take page faults.
void protect_beside(benchmark::State& state) {
  Bench bench(state, protected_pages, engine_of(state.range(2)));
  for (int i = 0; i < releases_until_large; ++i) bench.arena.note_release(bench.buffer.range());
  bench.buffer.touch();
  std::atomic<bool> stop{false};
  std::vector<std::jthread> others;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    others.emplace_back([&] { state.range(1) != 0 ? static_cast<void>(touch_fresh_memory(stop)) : write_open_memory(stop); });
  }
  for (auto _ : state) {
    std::vector<double> pairs;
    for (int i = 0; i < operations; ++i) {
      const auto start = Clock::now();
      protect_and_open_once(bench);
      pairs.push_back(seconds_since(start));
    }
    state.SetIterationTime(median(pairs));
  }
  stop = true;
}
BENCHMARK(protect_beside)
    ->ArgNames({"others", "faulting", "userfaultfd"})
    ->ArgsProduct({{0}, {0}, {0, 1}})
    ->ArgsProduct({{1, 7}, {0, 1}, {0, 1}})
    ->UseManualTime()
    ->Iterations(5);

/// What a page fault on fresh memory costs a thread while another protects and opens 64 pages without a pause.
void page_fault_beside(benchmark::State& state) {
  const bool protecting = state.range(0) != 0;
  Bench bench(state, protected_pages, engine_of(state.range(1)));
  for (int i = 0; i < releases_until_large; ++i) bench.arena.note_release(bench.buffer.range());
  bench.buffer.touch();
  for (auto _ : state) {
    std::atomic<bool> stop{false};
    double price = 0;
    {
      const std::jthread other([&] { price = touch_fresh_memory(stop); });
      const auto start = Clock::now();
      while (seconds_since(start) < 0.02) {
        if (protecting) protect_and_open_once(bench);
      }
      stop = true;
    }
    state.SetIterationTime(price);
  }
}
BENCHMARK(page_fault_beside)
    ->ArgNames({"protecting", "userfaultfd"})
    ->Args({0, 0})
    ->ArgsProduct({{1}, {0, 1}})
    ->UseManualTime()
    ->Iterations(5);

}  // namespace
}  // namespace sluice::bench
