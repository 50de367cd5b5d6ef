#include "runtime/guard/page_guard.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/guard/choice.hpp"
#include "tests/unit/support/guarded_block.hpp"

namespace sluice {
namespace {

class PageGuardTest : public GuardedByEach {};

TEST_P(PageGuardTest, pages_beyond_the_completed_prefix_are_closed) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 8);
  Guarded* release = guard.protect(block.range(), 2 * page_bytes + 17);
  ASSERT_NE(release, nullptr);
  EXPECT_TRUE(accessible(block.page(1)));
  EXPECT_FALSE(accessible(block.page(2)));
  EXPECT_FALSE(accessible(block.page(7)));
  EXPECT_EQ(PageGuard::active(), 1u);
  guard.finish(release);
  EXPECT_TRUE(accessible(block.page(7)));
  EXPECT_EQ(PageGuard::active(), 0u);
}

TEST_P(PageGuardTest, opening_follows_the_completed_prefix_page_by_page) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 8);
  Guarded* release = guard.protect(block.range(), 0);
  guard.open(*release, page_bytes - 1);
  EXPECT_FALSE(accessible(block.page(0)));
  guard.open(*release, 3 * page_bytes);
  EXPECT_TRUE(accessible(block.page(2)));
  EXPECT_FALSE(accessible(block.page(3)));
  guard.open(*release, 8 * page_bytes);
  EXPECT_TRUE(accessible(block.page(7)));
  guard.finish(release);
}

TEST_P(PageGuardTest, a_thread_that_touches_a_closed_page_waits_for_its_data) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 4);
  Guarded* release = guard.protect(block.range(), 0);
  waiter_.step = [&](unsigned attempt) {
    if (attempt < 3) return;
    block.deliver(block.range(), 42);
    guard.open(*release, block.range().size());
  };
  EXPECT_EQ(block.page(2), 42);
  EXPECT_EQ(waiter_.steps, 4u);
  EXPECT_EQ(guard.statistics().faults, 1u);
  // With userfaultfd another thread keeps the account, and has woken this one before it writes it down.
  while (guard.statistics().nanoseconds_waited == 0) std::this_thread::yield();
  guard.finish(release);
}

TEST_P(PageGuardTest, a_write_to_a_closed_page_waits_too_and_is_kept) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 4);
  Guarded* release = guard.protect(block.range(), 0);
  waiter_.step = [&](unsigned) {
    block.deliver(block.range(), 42);
    guard.open(*release, block.range().size());
  };
  block.page(3) = 7;
  EXPECT_EQ(block.page(3), 7);
  EXPECT_EQ(block.start()[3 * page_bytes + 1], 42);
  guard.finish(release);
}

TEST_P(PageGuardTest, the_first_touch_is_told_and_none_is_zero) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 4);
  Guarded* release = guard.protect(block.range(), 0);
  EXPECT_EQ(PageGuard::first_touch_after(*release), 0u);
  waiter_.step = [&](unsigned) { guard.open(*release, block.range().size()); };
  read(block.page(0));
  EXPECT_GT(PageGuard::first_touch_after(*release), 0u);
  guard.finish(release);
}

TEST_P(PageGuardTest, what_the_application_ran_on_for_is_without_its_waits_for_other_pages) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 4);
  Guarded* first = guard.protect(block.bytes(0, page_bytes), 0);
  Guarded* second = guard.protect(block.bytes(page_bytes, 2 * page_bytes), 0);
  Guarded* untouched = guard.protect(block.bytes(2 * page_bytes, 4 * page_bytes), 0);
  constexpr std::chrono::milliseconds wait{20};
  const std::uint64_t wait_ns = std::chrono::nanoseconds(wait).count();
  waiter_.step = [&](unsigned) {
    std::this_thread::sleep_for(wait);
    guard.open(*first, page_bytes);
  };
  read(block.page(0));
  while (guard.statistics().nanoseconds_waited == 0) std::this_thread::yield();
  waiter_.step = [&](unsigned) { guard.open(*second, page_bytes); };
  read(block.page(1));

  EXPECT_GT(PageGuard::first_touch_after(*second), wait_ns);
  const std::uint64_t now = now_ns();
  EXPECT_LE(PageGuard::ran_on_for(*first, now), PageGuard::first_touch_after(*first));
  EXPECT_LE(PageGuard::ran_on_for(*second, now) + wait_ns, PageGuard::first_touch_after(*second));
  EXPECT_LE(PageGuard::ran_on_for(*untouched, now) + wait_ns, now - PageGuard::protected_at(*untouched));
  EXPECT_GT(PageGuard::ran_on_for(*untouched, now), 0u);
  for (Guarded* release : {first, second, untouched}) guard.finish(release);
}

TEST_P(PageGuardTest, a_page_of_three_receives_opens_with_the_last_of_them) {
  // ER figure 1 (b): R1, R2 and R3 all include a part of the middle page.
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 3);
  const std::size_t middle = page_bytes;
  Guarded* first = guard.protect(block.bytes(0, middle + 1000), 0);
  Guarded* second = guard.protect(block.bytes(middle + 1000, middle + 2000), 0);
  Guarded* third = guard.protect(block.bytes(middle + 2000, 3 * page_bytes), 0);

  guard.finish(second);
  EXPECT_FALSE(accessible(block.page(1)));
  guard.open(*third, block.range().size());
  EXPECT_FALSE(accessible(block.page(1)));
  EXPECT_TRUE(accessible(block.page(2)));
  guard.open(*first, page_bytes);
  EXPECT_TRUE(accessible(block.page(0)));
  EXPECT_FALSE(accessible(block.page(1)));
  guard.finish(first);
  EXPECT_TRUE(accessible(block.page(1)));
  guard.finish(third);
}

TEST_P(PageGuardTest, a_release_that_opens_skips_only_the_pages_that_others_hold) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 10);
  Guarded* whole = guard.protect(block.range(), 0);
  Guarded* early = guard.protect(block.pages(2, 4), 0);
  Guarded* late = guard.protect(block.pages(6, 7), 0);
  guard.finish(whole);
  for (const std::size_t closed : {2U, 3U, 6U}) EXPECT_FALSE(accessible(block.page(closed))) << closed;
  for (const std::size_t open : {0U, 1U, 4U, 5U, 7U, 8U, 9U}) EXPECT_TRUE(accessible(block.page(open))) << open;
  guard.finish(early);
  guard.finish(late);
  EXPECT_TRUE(accessible(block.page(6)));
}

TEST_P(PageGuardTest, readers_see_only_complete_pages_while_a_writer_completes_them) {
  constexpr std::size_t pages = 512;
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, pages);
  for (unsigned char round = 1; round <= 20; ++round) {
    Guarded* release = guard.protect(block.range(), 0);
    std::thread writer([&] {
      for (std::size_t page = 0; page < pages; page += 8) {
        block.deliver(block.pages(page, page + 8), round);
        guard.open(*release, (page + 8) * page_bytes);
      }
    });
    std::array<unsigned, 2> wrong{};
    const auto read_all = [&](std::size_t reader) {
      for (std::size_t page = 0; page < pages; ++page) wrong[reader] += block.page(page) != round;
    };
    std::thread reader(read_all, 0);
    read_all(1);
    reader.join();
    writer.join();
    guard.finish(release);
    ASSERT_EQ(wrong[0] + wrong[1], 0u) << "round " << int{round};
  }
}

TEST_P(PageGuardTest, covers_tells_which_bytes_lie_on_closed_pages) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 4);
  EXPECT_FALSE(guard.covers(block.range()));
  Guarded* release = guard.protect(block.bytes(page_bytes + 100, 2 * page_bytes), 0);
  EXPECT_TRUE(guard.covers(block.bytes(page_bytes, page_bytes + 1)));
  EXPECT_FALSE(guard.covers(block.bytes(0, page_bytes)));
  guard.finish(release);
  EXPECT_FALSE(guard.covers(block.range()));
}

TEST_P(PageGuardTest, memory_that_took_the_place_of_a_guarded_buffer_is_left_alone) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 6);
  Guarded* release = guard.protect(block.range(), 0);
  const auto place = reinterpret_cast<void*>(block.pages(2, 4).begin);
  mmap(place, 2 * page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  guard.finish(release);
  EXPECT_TRUE(accessible(block.page(1)));
  EXPECT_FALSE(accessible(block.page(2)));  // still read-only
  EXPECT_TRUE(accessible(block.page(4)));
}

TEST_P(PageGuardTest, more_releases_than_there_are_slots_are_refused) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, PageGuard::max_guarded + 1);
  std::vector<Guarded*> releases;
  for (std::size_t i = 0; i < PageGuard::max_guarded; ++i) releases.push_back(guard.protect(block.pages(i, i + 1), 0));
  EXPECT_EQ(guard.protect(block.pages(PageGuard::max_guarded, PageGuard::max_guarded + 1), 0), nullptr);
  EXPECT_TRUE(accessible(block.page(PageGuard::max_guarded)));
  for (Guarded* release : releases) guard.finish(release);
  EXPECT_EQ(guard.statistics().refused, 1u);
  EXPECT_TRUE(accessible(block.page(5)));
}

TEST(PageGuardBudgetTest, releases_stop_at_the_map_budget) {
  AliasArena arena(12);
  Waiter waiter;
  PageGuard guard(waiter, &arena);
  const Block block(arena, 100);
  std::vector<Guarded*> releases;
  while (Guarded* release = guard.protect(block.pages(releases.size() * 2, releases.size() * 2 + 1), 0)) {
    releases.push_back(release);
    ASSERT_LT(releases.size(), 12u);
  }
  EXPECT_GE(releases.size(), 1u);
  for (Guarded* release : releases) guard.finish(release);
}

/// Makes of a block's page one that the engine cannot protect. mprotect refuses a hole only; with userfaultfd a hole would not
/// last, as its threads map memory when they begin (under AddressSanitizer more than one page). It refuses pages of other files.
void make_unprotectable(GuardEngine engine, ByteRange page) {
  auto* const address = reinterpret_cast<void*>(page.begin);
  if (engine == GuardEngine::mprotect) {
    ASSERT_EQ(munmap(address, page_bytes), 0);
    return;
  }
  const Descriptor program(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(mmap(address, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, program.get(), 0), address);
}

TEST_P(PageGuardTest, protection_that_the_kernel_refuses_leaves_nothing_closed) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 4);
  // Once before, so that no allocation of this release maps memory into a hole.
  guard.finish(guard.protect(block.range(), 0));
  make_unprotectable(GetParam(), block.pages(2, 3));
  EXPECT_EQ(guard.protect(block.range(), 0), nullptr);
  EXPECT_TRUE(accessible(block.page(0)));
  EXPECT_TRUE(accessible(block.page(3)));
  EXPECT_EQ(PageGuard::active(), 0u);
}

TEST_P(PageGuardTest, errno_survives_a_wait) {
  PageGuard guard(waiter_, &arena_, GetParam());
  ASSERT_EQ(guard.engine(), GetParam());
  const Block block(arena_, 1);
  Guarded* release = guard.protect(block.range(), 0);
  waiter_.step = [&](unsigned) {
    errno = EIO;
    guard.open(*release, page_bytes);
  };
  errno = ERANGE;
  read(block.page(0));
  std::atomic_signal_fence(std::memory_order_seq_cst);  // errno is not what the compiler saw last
  EXPECT_EQ(errno, ERANGE);
  guard.finish(release);
}

INSTANTIATE_TEST_SUITE_P(engines, PageGuardTest, both_engines, name_of_engine);

}  // namespace
}  // namespace sluice
