#include "runtime/process/lock_waiters.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace sluice::lock_waiters {
namespace {

constexpr std::uintptr_t page = 0x7000 * page_bytes;

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

TEST(LockWaiters, pages_without_a_lock_may_be_closed) { EXPECT_TRUE(Closing({page, page + 3 * page_bytes}).permitted()); }

TEST(LockWaiters, a_page_with_an_announced_lock_may_not_be_closed) {
  const Announcement announcement(at(page + 100));
  EXPECT_FALSE(Closing({page + 3000, page + 2 * page_bytes}).permitted());
  EXPECT_TRUE(Closing({page + page_bytes, page + 2 * page_bytes}).permitted());
}

TEST(LockWaiters, a_lock_may_lie_across_two_pages) {
  const Announcement announcement(at(page + page_bytes - 8));
  EXPECT_FALSE(Closing({page + page_bytes, page + 2 * page_bytes}).permitted());
}

TEST(LockWaiters, an_announcement_ends) {
  { const Announcement announcement(at(page)); }
  EXPECT_TRUE(Closing({page, page + page_bytes}).permitted());
}

TEST(LockWaiters, nothing_is_closed_while_there_are_more_sleepers_than_slots) {
  std::vector<std::unique_ptr<Announcement>> many;
  for (std::uintptr_t i = 0; i < 1100; ++i) many.push_back(std::make_unique<Announcement>(at(page + i * 64)));
  EXPECT_FALSE(Closing({2 * page, 2 * page + page_bytes}).permitted());
  many.clear();
  EXPECT_TRUE(Closing({2 * page, 2 * page + page_bytes}).permitted());
}

TEST(LockWaiters, who_goes_to_sleep_waits_until_pages_are_closed) {
  std::optional<Closing> closing(std::in_place, ByteRange{page, page + page_bytes});
  ASSERT_TRUE(closing->permitted());
  std::atomic<bool> closed{false};
  bool was_closed = false;
  std::thread sleeper([&] {
    const Announcement announcement(at(page));
    was_closed = closed;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  closed = true;
  closing.reset();
  sleeper.join();
  EXPECT_TRUE(was_closed);
}

}  // namespace
}  // namespace sluice::lock_waiters
