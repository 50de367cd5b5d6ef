// What alias blocks and page guard cost: protecting and opening, a fault, a migration, asking whether a block lives.
// guard_threads_bench.cpp has what several threads cost each other. apps/bench/guard_figures makes a page of both.
//
// The `small`/`large` column of the protection benchmarks: blocks in single pages, as a new buffer has them, and in large
// ones, as a buffer gets them that is released often. The limits are 5 µs for 64 pages and 15 µs for 256.
#include "guard_bench.hpp"

#include <chrono>
#include <vector>

#include "runtime/guard/user_memory.hpp"

namespace sluice::bench {
namespace {

/// One release: everything closed, then opened in `parts` runs.
void protect_and_open(benchmark::State& state) {
  Bench bench(state, static_cast<std::size_t>(state.range(0)), engine_of(state.range(3)));
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
    ->ArgNames({"pages", "large", "runs", "userfaultfd"})
    ->ArgsProduct({{1, 4, 16, 64, 256, 1024}, {0, 1}, {1}, {0, 1}})
    ->ArgsProduct({{16, 64, 256, 1024}, {0, 1}, {8}, {0, 1}});

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
    Bench bench(state, static_cast<std::size_t>(state.range(0)));
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
  Bench bench(state, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(bench.arena.is_live(bench.buffer.range()));
}
BENCHMARK(is_live)->ArgName("pages")->Arg(1)->Arg(64)->Arg(1024);

/// A small send while nothing is under guard, and beside a release.
void copy_from_user_1k(benchmark::State& state) {
  Bench bench(state, static_cast<std::size_t>(state.range(0)));
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
}  // namespace sluice::bench

BENCHMARK_MAIN();
