#include "runtime/guard/user_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/alias/arena.hpp"

namespace sluice {
namespace {

/// Ends the test when Sluice itself waits for a page: with nobody to complete it, that would be for ever.
class NobodyCompletes final : public FaultWaiter {
 public:
  void wait_a_little(unsigned) override { _exit(99); }
};

class UserMemoryTest : public testing::Test {
 protected:
  static constexpr std::size_t pages = 8;

  UserMemoryTest() {
    for (std::size_t i = 0; i < pages * page_bytes; ++i) memory_[i] = pattern(i);
    EXPECT_EQ(arena_.migrate(part(0, pages)), Ineligible::none);
    register_user_memory(&guard_, &arena_);
  }
  ~UserMemoryTest() override {
    register_user_memory(nullptr, nullptr);
    munmap(memory_, pages * page_bytes);
  }

  static std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 5 + i / page_bytes); }
  [[nodiscard]] ByteRange part(std::size_t first, std::size_t last) const {
    return ByteRange::of(memory_ + first * page_bytes, (last - first) * page_bytes);
  }

  AliasArena arena_{10000};
  NobodyCompletes waiter_;
  PageGuard guard_{waiter_, &arena_};
  std::byte* memory_ =
      static_cast<std::byte*>(mmap(nullptr, pages* page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

TEST_F(UserMemoryTest, nothing_is_guarded_until_something_is_released) {
  EXPECT_FALSE(user_memory_is_guarded());
  Guarded* release = guard_.protect(part(0, 1), 0);
  EXPECT_TRUE(user_memory_is_guarded());
  guard_.finish(release);
  EXPECT_FALSE(user_memory_is_guarded());
}

TEST_F(UserMemoryTest, a_copy_from_pages_of_which_some_are_guarded_never_faults) {
  Guarded* release = guard_.protect(part(2, 4), 0);
  std::vector<std::byte> copy(4 * page_bytes);
  copy_from_user(copy.data(), memory_ + page_bytes + 10, copy.size());
  for (std::size_t i = 0; i < copy.size(); ++i) ASSERT_EQ(copy[i], pattern(page_bytes + 10 + i)) << i;
  guard_.finish(release);
}

TEST_F(UserMemoryTest, a_copy_to_pages_of_which_some_are_guarded_arrives_and_touches_nothing_else) {
  Guarded* release = guard_.protect(part(2, 4), 0);
  const std::vector<std::byte> source(3 * page_bytes, std::byte{0xee});
  copy_to_user(memory_ + page_bytes + 10, source.data(), source.size());
  guard_.finish(release);
  EXPECT_EQ(memory_[page_bytes + 9], pattern(page_bytes + 9));
  EXPECT_TRUE(
      std::all_of(memory_ + page_bytes + 10, memory_ + 4 * page_bytes + 10, [](std::byte b) { return b == std::byte{0xee}; }));
  EXPECT_EQ(memory_[4 * page_bytes + 10], pattern(4 * page_bytes + 10));
}

TEST_F(UserMemoryTest, copies_work_before_anything_is_registered) {
  register_user_memory(nullptr, nullptr);
  std::byte byte{};
  copy_from_user(&byte, memory_ + 3, 1);
  EXPECT_EQ(byte, pattern(3));
  copy_from_user(&byte, nullptr, 0);
  copy_to_user(nullptr, &byte, 0);
}

TEST_F(UserMemoryTest, unguarded_memory_is_used_where_it_is) {
  EXPECT_EQ(unguarded_address(memory_, page_bytes), memory_);
  Guarded* release = guard_.protect(part(2, 4), 0);
  EXPECT_EQ(unguarded_address(memory_, page_bytes), memory_);
  guard_.finish(release);
}

TEST_F(UserMemoryTest, guarded_memory_is_used_through_its_alias) {
  Guarded* release = guard_.protect(part(2, 4), 0);
  std::byte* alias = unguarded_address(memory_ + page_bytes, 4 * page_bytes);
  ASSERT_NE(alias, nullptr);
  EXPECT_NE(alias, memory_ + page_bytes);
  for (std::size_t i = 0; i < 4 * page_bytes; ++i) ASSERT_EQ(alias[i], pattern(page_bytes + i));
  guard_.finish(release);
}

TEST_F(UserMemoryTest, a_range_that_leaves_its_block_beside_a_guarded_page_has_no_single_address) {
  Guarded* release = guard_.protect(part(2, 4), 0);
  ASSERT_TRUE(arena_.privatize(part(5, 6)));
  EXPECT_EQ(unguarded_address(memory_ + 3 * page_bytes, 3 * page_bytes), nullptr);
  guard_.finish(release);
}

}  // namespace
}  // namespace sluice
