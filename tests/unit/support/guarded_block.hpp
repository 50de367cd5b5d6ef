// Alias blocks and a waiter for the tests of the page guard.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <string>

#include "runtime/alias/arena.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/guard/choice.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

/// Stands in for the engine: runs the test's step each time a thread waits for a page.
class Waiter final : public FaultWaiter {
 public:
  void wait_a_little(unsigned attempt) override {
    ++steps;
    if (step) step(attempt);
  }
  std::function<void(unsigned)> step;
  std::atomic<unsigned> steps{0};
};

#ifdef __SANITIZE_THREAD__
/// That a touch comes before its answer, and what follows it after, is the kernel's doing, which the thread sanitizer does not
/// see.
inline constexpr bool touches_look_like_races = true;
#else
inline constexpr bool touches_look_like_races = false;
#endif

/// Tests that both guards have to pass.
class GuardedByEach : public testing::TestWithParam<GuardEngine> {
 protected:
  void SetUp() override {
    if (touches_look_like_races && GetParam() == GuardEngine::userfaultfd) GTEST_SKIP() << "the kernel's order is not seen";
  }

  AliasArena arena_{10000};
  Waiter waiter_;
};

inline const auto both_engines = testing::Values(GuardEngine::mprotect, GuardEngine::userfaultfd);
inline std::string name_of_engine(const testing::TestParamInfo<GuardEngine>& info) { return name_of(info.param); }

/// Pages that are an alias block, all bytes zero. The mapping has one page more: a single page is not eligible. Nor is one
/// that crosses a border between the arena's windows, so it does not.
class Block {
 public:
  Block(AliasArena& arena, std::size_t pages) : arena_(arena), bytes_(pages * page_bytes), start_(map(bytes_ + page_bytes)) {
    std::memset(start_, 0, bytes_);  // pages that nobody has touched are none of the file's
    EXPECT_EQ(arena.migrate(range()), Ineligible::none);
  }
  ~Block() { munmap(start_, bytes_ + page_bytes); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  [[nodiscard]] volatile unsigned char* start() const { return static_cast<volatile unsigned char*>(start_); }
  [[nodiscard]] volatile unsigned char& page(std::size_t index) const { return start()[index * page_bytes]; }
  [[nodiscard]] ByteRange range() const { return ByteRange::of(start_, bytes_); }
  [[nodiscard]] ByteRange bytes(std::size_t begin, std::size_t end) const { return {range().begin + begin, range().begin + end}; }
  [[nodiscard]] ByteRange pages(std::size_t begin, std::size_t end) const { return bytes(begin * page_bytes, end * page_bytes); }
  /// As a message arrives: through the alias.
  void deliver(ByteRange where, unsigned char value) const { std::memset(arena_.alias(where.begin), value, where.size()); }

 private:
  static void* map(std::size_t bytes) {
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    if (address / AliasArena::window_bytes == (address + bytes - 1) / AliasArena::window_bytes) return start;
    void* elsewhere = map(bytes);
    munmap(start, bytes);
    return elsewhere;
  }
  AliasArena& arena_;
  std::size_t bytes_;
  void* start_;
};

inline unsigned char read(const volatile unsigned char& byte) { return byte; }

/// The page is in the page tables: nobody faults on it.
inline bool present(std::uintptr_t address) {
  constexpr std::uint64_t present_bit = std::uint64_t{1} << 63;
  std::uint64_t entry = 0;
  const Descriptor pagemap(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const ssize_t bytes = pread(pagemap.get(), &entry, sizeof entry, static_cast<off_t>(address / page_bytes * sizeof entry));
  return bytes == sizeof entry && (entry & present_bit) != 0;
}

/// Neither guard would stop a touch. (A migration leaves every page of a block in the page tables.)
inline bool accessible(const volatile unsigned char& byte) {
  ProcessMapping mapping;
  const auto address = reinterpret_cast<std::uintptr_t>(&byte);
  if (!ProcessMaps().find(address, mapping) || !mapping.bytes.contains(address)) return false;
  return mapping.readable && mapping.writable && (!mapping.shared || present(address));
}

}  // namespace sluice
