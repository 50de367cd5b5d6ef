#include "runtime/alias_eligibility.hpp"

#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "patterned_memory.hpp"
#include "runtime/alias_arena.hpp"
#include "runtime/posix.hpp"

namespace sluice {
namespace {

class AliasEligibilityTest : public testing::Test {
 protected:
  AliasArena arena_{10000};
};

/// Part of the calling thread's stack. Not a local variable: the address sanitizer keeps those elsewhere.
[[gnu::noinline]] std::byte* own_frame() { return static_cast<std::byte*>(__builtin_frame_address(0)); }

TEST_F(AliasEligibilityTest, stacks_are_not_eligible) {
  EXPECT_EQ(arena_.migrate(ByteRange::of(own_frame(), page_bytes)), Ineligible::stack);

  std::atomic<std::byte*> theirs{nullptr};
  std::atomic<bool> done{false};
  std::thread thread([&] {
    theirs.store(own_frame());
    while (!done) std::this_thread::yield();
  });
  while (!theirs.load()) std::this_thread::yield();
  EXPECT_EQ(arena_.migrate(ByteRange::of(theirs.load(), page_bytes)), Ineligible::stack);
  done = true;
  thread.join();
}

TEST_F(AliasEligibilityTest, shared_read_only_and_unmapped_memory_is_not_eligible) {
  const Memory shared(4, MAP_SHARED);
  EXPECT_EQ(arena_.migrate(shared.range()), Ineligible::not_private);
  const Memory constant(4);
  mprotect(constant.start(), constant.size(), PROT_READ);
  EXPECT_EQ(arena_.migrate(constant.range()), Ineligible::not_private);
  const Memory holed(4);
  munmap(holed.start() + page_bytes, page_bytes);
  EXPECT_EQ(arena_.migrate(holed.range()), Ineligible::not_private);
  EXPECT_EQ(arena_.migrate({0, page_bytes}), Ineligible::not_private);
}

TEST_F(AliasEligibilityTest, nothing_is_eligible_while_memory_is_locked) {
  const Memory memory(4);
  const Memory locked(1);
  // The bare call: sanitizers make mlock do nothing.
  if (syscall(SYS_mlock, locked.start(), locked.size()) != 0) GTEST_SKIP() << "mlock is not permitted";
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::locked);
  syscall(SYS_munlock, locked.start(), locked.size());
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
}

/// Memory that the kernel goes on using at the pages that are there now.
class Pinned {
 public:
  Pinned() {
    const iovec buffer{memory_.start(), memory_.size()};
    if (ring_) syscall(SYS_io_uring_register, ring_.get(), IORING_REGISTER_BUFFERS, &buffer, 1);
  }
  [[nodiscard]] static bool is_counted() { return held_memory().pinned_kb != 0; }
  void let_go() const {
    syscall(SYS_io_uring_register, ring_.get(), IORING_UNREGISTER_BUFFERS, nullptr, 0);
    while (is_counted()) std::this_thread::yield();
  }

 private:
  Memory memory_{8};
  io_uring_params parameters_{};
  Descriptor ring_{static_cast<int>(syscall(SYS_io_uring_setup, 4, &parameters_))};
};

TEST_F(AliasEligibilityTest, nothing_is_eligible_while_somebody_else_has_memory_pinned) {
  const Memory memory(4);
  const Pinned pinned;
  if (!Pinned::is_counted()) GTEST_SKIP() << "io_uring is not permitted, or not counted";
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::registered);
  pinned.let_go();
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
}

TEST_F(AliasEligibilityTest, what_is_pinned_tells_nothing_where_sluice_pins_memory_itself) {
  const Memory memory(4);
  const Pinned pinned;
  if (!Pinned::is_counted()) GTEST_SKIP() << "io_uring is not permitted, or not counted";
  arena_.expect_own_pins();
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  pinned.let_go();
}

TEST_F(AliasEligibilityTest, a_range_across_a_window_border_is_not_eligible) {
  const std::uintptr_t border = std::uintptr_t{300} * AliasArena::window_bytes;
  EXPECT_EQ(arena_.migrate({border - page_bytes, border + page_bytes}), Ineligible::window_border);
}

}  // namespace
}  // namespace sluice
