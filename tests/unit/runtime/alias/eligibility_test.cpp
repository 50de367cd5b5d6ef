#include "runtime/alias/eligibility.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/kept_memory.hpp"
#include "runtime/alias/own_pins.hpp"
#include "runtime/base/posix.hpp"
#include "tests/unit/support/patterned_memory.hpp"

namespace sluice {
namespace {

constexpr long call_mseal = 462;

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
  [[nodiscard]] ByteRange range() const { return memory_.range(); }
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

TEST_F(AliasEligibilityTest, what_sluice_has_pinned_itself_is_not_in_the_way) {
  const Memory memory(4);
  const Pinned pinned;
  if (!Pinned::is_counted()) GTEST_SKIP() << "io_uring is not permitted, or not counted";
  own_pins::add(pinned.range());
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  pinned.let_go();
  own_pins::remove(pinned.range());
}

TEST_F(AliasEligibilityTest, what_others_pin_is_found_beside_what_sluice_has_pinned) {
  const Memory memory(4);
  const Pinned own;
  if (!Pinned::is_counted()) GTEST_SKIP() << "io_uring is not permitted, or not counted";
  own_pins::add(own.range());
  {
    const Pinned other;
    EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::registered);
  }
  own.let_go();
  own_pins::remove(own.range());
}

TEST_F(AliasEligibilityTest, kept_memory_is_not_eligible_until_it_is_forgotten) {
  const Memory memory(8);
  const ByteRange third{memory.range().begin + 2 * page_bytes, memory.range().begin + 3 * page_bytes};
  kept_memory::note({third.begin + 5, third.begin + 6}, kept_memory::Keeper::lent);
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::kept);
  EXPECT_EQ(arena_.migrate({third.end, memory.range().end}), Ineligible::none);
  kept_memory::forget(third, kept_memory::Keeper::lent);
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
}

/// The program's own userfaultfd, as no wrapper sees it here.
class Watched {
 public:
  explicit Watched(ByteRange bytes, std::uint64_t mode) {
    uffdio_api api{};
    api.api = UFFD_API;
    uffdio_register wanted{};
    wanted.range = {bytes.begin, bytes.size()};
    wanted.mode = mode;
    watches_ =
        descriptor_ && ioctl(descriptor_.get(), UFFDIO_API, &api) == 0 && ioctl(descriptor_.get(), UFFDIO_REGISTER, &wanted) == 0;
  }
  explicit operator bool() const { return watches_; }

 private:
  Descriptor descriptor_{static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY))};
  bool watches_ = false;
};

TEST_F(AliasEligibilityTest, memory_that_the_program_watches_is_not_eligible) {
  for (const std::uint64_t mode : {UFFDIO_REGISTER_MODE_MISSING, UFFDIO_REGISTER_MODE_WP}) {
    const Memory memory(8);
    const ByteRange whole = memory.range();
    {
      const Watched watched({whole.begin + 4 * page_bytes, whole.begin + 6 * page_bytes}, mode);
      if (!watched) GTEST_SKIP() << "userfaultfd is not permitted";
      EXPECT_EQ(arena_.migrate(whole), Ineligible::kept);
      EXPECT_EQ(arena_.migrate({whole.begin, whole.begin + 4 * page_bytes}), Ineligible::none);
    }
    EXPECT_EQ(arena_.migrate(whole), Ineligible::none);
  }
}

TEST_F(AliasEligibilityTest, sealed_memory_is_left_alone) {
  const Memory memory(8);
  if (syscall(call_mseal, memory.range().begin + 4 * page_bytes, 2 * page_bytes, 0) != 0) GTEST_SKIP() << "no mseal";
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::failed);
  *reinterpret_cast<volatile char*>(memory.range().begin) = 1;
  *reinterpret_cast<volatile char*>(memory.range().end - 1) = 1;
}

TEST_F(AliasEligibilityTest, a_range_across_a_window_border_is_not_eligible) {
  const std::uintptr_t border = std::uintptr_t{300} * AliasArena::window_bytes;
  EXPECT_EQ(arena_.migrate({border - page_bytes, border + page_bytes}), Ineligible::window_border);
}

}  // namespace
}  // namespace sluice
