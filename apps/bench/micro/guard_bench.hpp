// What the benchmarks of the guard share: a buffer that is an alias block, and a guard of either engine.
#pragma once

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <cstring>

#include "runtime/alias/arena.hpp"
#include "runtime/guard/page_guard.hpp"

namespace sluice::bench {

inline constexpr std::size_t map_budget = 10000;
inline constexpr int releases_until_large = 3;

/// The data of the release that was touched is there already when the guard looks.
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

inline GuardEngine engine_of(std::int64_t argument) { return argument != 0 ? GuardEngine::userfaultfd : GuardEngine::mprotect; }

struct Bench {
  Bench(benchmark::State& state, std::size_t pages, GuardEngine engine = GuardEngine::mprotect)
      : guard{waiter, &arena, engine}, buffer(pages) {
    if (guard.engine() != engine) state.SkipWithError("this engine is not to be had here");
    if (arena.migrate(buffer.range()) != Ineligible::none) state.SkipWithError("not eligible");
    waiter.guard = &guard;
    waiter.bytes = buffer.size();
  }
  AliasArena arena{map_budget};
  Waiter waiter;
  PageGuard guard;
  Buffer buffer;
};

}  // namespace sluice::bench
