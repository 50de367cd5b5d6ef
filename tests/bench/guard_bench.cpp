// What alias blocks and page guard cost: protecting and opening, a fault, a migration, asking whether a block lives.
//
// The `small`/`large` column of the protection benchmarks: blocks in single pages, as a new buffer has them, and in large
// ones, as a buffer gets them that is released often. The limits are 5 µs for 64 pages and 15 µs for 256.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "runtime/alias_arena.hpp"
#include "runtime/page_guard.hpp"
#include "runtime/user_memory.hpp"

namespace {

using namespace sluice;

constexpr std::size_t map_budget = 10000;
constexpr int releases_until_large = 3;

struct Waiter final : FaultWaiter {
  void wait_a_little(unsigned) override { guard->open(*release, bytes); }
  PageGuard* guard = nullptr;
  Guarded* release = nullptr;
  std::size_t bytes = 0;
};

class Buffer {
 public:
  explicit Buffer(std::size_t pages)
      : bytes_(pages * page_bytes),
        start_(static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    touch();
  }
  ~Buffer() { munmap(start_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void touch() const { std::memset(start_, 1, bytes_); }
  [[nodiscard]] char* start() const { return start_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] ByteRange range() const { return ByteRange::of(start_, bytes_); }

 private:
  std::size_t bytes_;
  char* start_;
};

struct Bench {
  explicit Bench(benchmark::State& state) : buffer(static_cast<std::size_t>(state.range(0))) {
    if (arena.migrate(buffer.range()) != Ineligible::none) state.SkipWithError("not eligible");
    waiter.guard = &guard;
    waiter.bytes = buffer.size();
  }
  AliasArena arena{map_budget};
  Waiter waiter;
  PageGuard guard{waiter, &arena};
  Buffer buffer;
};

/// One release: everything closed, then opened in `parts` runs.
void protect_and_open(benchmark::State& state) {
  Bench bench(state);
  if (state.range(1) != 0) {
    for (int i = 0; i < releases_until_large; ++i) bench.arena.note_release(bench.buffer.range());
  }
  bench.buffer.touch();
  const auto parts = static_cast<std::size_t>(state.range(2));
  for (auto _ : state) {
    Guarded* release = bench.guard.protect(bench.buffer.range(), 0);
    for (std::size_t part = 1; part < parts; ++part) bench.guard.open(*release, bench.buffer.size() * part / parts);
    bench.guard.finish(release);
  }
}
BENCHMARK(protect_and_open)
    ->ArgNames({"pages", "large", "runs"})
    ->ArgsProduct({{1, 4, 16, 64, 256, 1024}, {0, 1}, {1}})
    ->ArgsProduct({{256, 1024}, {0, 1}, {8}});

/// A release whose first page is touched at once, and there already when the handler looks: what a fault costs.
void protect_fault_and_open(benchmark::State& state) {
  Bench bench(state);
  for (auto _ : state) {
    bench.waiter.release = bench.guard.protect(bench.buffer.range(), 0);
    benchmark::DoNotOptimize(*static_cast<volatile char*>(bench.buffer.start()));
    bench.guard.finish(bench.waiter.release);
  }
}
BENCHMARK(protect_fault_and_open)->ArgName("pages")->Arg(1)->Arg(64);

void migrate(benchmark::State& state) {
  AliasArena arena(map_budget);
  for (auto _ : state) {
    state.PauseTiming();
    const Buffer buffer(static_cast<std::size_t>(state.range(0)));
    state.ResumeTiming();
    if (arena.migrate(buffer.range()) != Ineligible::none) state.SkipWithError("not eligible");
    state.PauseTiming();
    madvise(buffer.start(), buffer.size(), MADV_REMOVE);
    state.ResumeTiming();
  }
  state.counters["per_page"] = benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(migrate)->ArgName("pages")->RangeMultiplier(4)->Range(16, 4096)->Unit(benchmark::kMicrosecond);

void make_large(benchmark::State& state) {
  for (auto _ : state) {
    Bench bench(state);
    for (int i = 1; i < releases_until_large; ++i) bench.arena.note_release(bench.buffer.range());
    const auto start = std::chrono::steady_clock::now();
    bench.arena.note_release(bench.buffer.range());
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK(make_large)
    ->ArgName("pages")
    ->Arg(64)
    ->Arg(512)
    ->Arg(4096)
    ->Unit(benchmark::kMicrosecond)
    ->UseManualTime()
    ->Iterations(20);

void is_live(benchmark::State& state) {
  Bench bench(state);
  for (auto _ : state) benchmark::DoNotOptimize(bench.arena.is_live(bench.buffer.range()));
}
BENCHMARK(is_live)->ArgName("pages")->Arg(1)->Arg(64)->Arg(1024);

/// A small send while nothing is under guard, and beside a release.
void copy_from_user_1k(benchmark::State& state) {
  Bench bench(state);
  register_user_memory(&bench.guard, &bench.arena);
  const Buffer other(1);
  Guarded* release = state.range(1) != 0 ? bench.guard.protect(bench.buffer.range(), 0) : nullptr;
  std::vector<std::byte> target(1024);
  for (auto _ : state) {
    copy_from_user(target.data(), reinterpret_cast<std::byte*>(other.start()), target.size());
    benchmark::ClobberMemory();
  }
  if (release) bench.guard.finish(release);
  register_user_memory(nullptr, nullptr);
}
BENCHMARK(copy_from_user_1k)->ArgNames({"pages", "guarded"})->Args({16, 0})->Args({16, 1});

}  // namespace

BENCHMARK_MAIN();
