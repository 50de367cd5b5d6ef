#include "runtime/alias/buffer_history.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(BufferHistory, a_buffer_earns_its_block_at_its_last_required_use) {
  BufferHistory history;
  const ByteRange buffer{0x10000, 0x20000};
  for (std::uint32_t use = 1; use < BufferHistory::uses_to_earn_a_block; ++use) EXPECT_FALSE(history.use(buffer));
  EXPECT_TRUE(history.use(buffer));
}

TEST(BufferHistory, a_block_that_is_gone_takes_twice_as_many_uses_each_time) {
  constexpr std::uint32_t needed = BufferHistory::uses_to_earn_a_block;
  BufferHistory history;
  const ByteRange buffer{0x10000, 0x20000};
  for (std::uint32_t factor = 1; factor <= 64; factor *= 2) {
    for (std::uint32_t use = 1; use < needed * factor; ++use) ASSERT_FALSE(history.use(buffer)) << factor;
    ASSERT_TRUE(history.use(buffer)) << factor;
  }
  for (std::uint32_t use = 1; use < needed * 64; ++use) ASSERT_FALSE(history.use(buffer));
  EXPECT_TRUE(history.use(buffer));
}

TEST(BufferHistory, a_larger_use_of_a_buffer_is_not_taken_for_the_loss_of_its_block) {
  BufferHistory history;
  for (std::uint32_t use = 1; use <= BufferHistory::uses_to_earn_a_block; ++use) history.use({0x10000, 0x20000});
  EXPECT_TRUE(history.use({0x10000, 0x30000}));
}

TEST(BufferHistory, waiting_earns_a_block_again_at_once) {
  BufferHistory history;
  const ByteRange buffer{0x10000, 0x20000};
  for (std::uint32_t use = 1; use <= BufferHistory::uses_to_earn_a_block; ++use) history.use(buffer);
  EXPECT_FALSE(history.use(buffer));
  history.earn(buffer);
  EXPECT_TRUE(history.use(buffer));
}

TEST(BufferHistory, a_buffer_that_was_waited_for_earns_its_block_with_the_next_use) {
  BufferHistory history;
  const ByteRange buffer{0x10000, 0x20000};
  history.use(buffer);
  history.earn(buffer);
  EXPECT_TRUE(history.use(buffer));
}

// --- memory that an adapter has to know ---------------------------------------------------------------------------------

constexpr auto by_adapter = BufferHistory::Use::by_adapter;
constexpr std::size_t large = BufferHistory::trusted_at_first / 4;

/// The i-th of many, none of which shares a place in the table with another of the first few.
ByteRange large_buffer(std::uintptr_t i) { return ByteRange{i * 4 * large, i * 4 * large + large}; }

TEST(BufferHistoryOfAnAdapter, a_buffer_is_trusted_to_come_back) {
  BufferHistory history;
  EXPECT_TRUE(history.use({0x10000, 0x20000}, by_adapter));
}

TEST(BufferHistoryOfAnAdapter, buffers_that_do_not_come_back_use_trust_up_and_the_next_ones_take_two_uses) {
  BufferHistory history;
  for (std::uintptr_t i = 1; i <= 4; ++i) EXPECT_TRUE(history.use(large_buffer(i), by_adapter)) << i;
  EXPECT_FALSE(history.use(large_buffer(5), by_adapter));
  EXPECT_TRUE(history.use(large_buffer(5), by_adapter));
}

TEST(BufferHistoryOfAnAdapter, one_that_comes_back_is_trust_for_two_others_once) {
  BufferHistory history;
  for (std::uintptr_t i = 1; i <= 4; ++i) history.use(large_buffer(i), by_adapter);
  for (int again = 0; again < 3; ++again) history.came_back(large_buffer(2));
  EXPECT_TRUE(history.use(large_buffer(5), by_adapter));
  EXPECT_TRUE(history.use(large_buffer(6), by_adapter));
  EXPECT_FALSE(history.use(large_buffer(7), by_adapter));
}

TEST(BufferHistoryOfAnAdapter, trust_has_an_upper_bound) {
  BufferHistory history;
  std::uintptr_t i = 0;
  while (++i <= 200) {
    ASSERT_TRUE(history.use(large_buffer(i), by_adapter)) << i;
    history.came_back(large_buffer(i));
  }
  std::size_t trusted = 0;
  while (history.use(large_buffer(++i), by_adapter)) trusted += large;
  EXPECT_EQ(trusted, BufferHistory::max_trusted);
}

TEST(BufferHistoryOfAnAdapter, a_buffer_whose_block_is_gone_is_not_trusted_again) {
  BufferHistory history;
  const ByteRange buffer{0x10000, 0x20000};
  EXPECT_TRUE(history.use(buffer, by_adapter));
  for (std::uint32_t use = 1; use < 2 * BufferHistory::uses_to_stay_registered; ++use) {
    EXPECT_FALSE(history.use(buffer, by_adapter)) << use;
  }
  EXPECT_TRUE(history.use(buffer, by_adapter));
}

TEST(BufferHistoryOfAnAdapter, what_is_known_to_come_back_needs_no_trust) {
  BufferHistory history;
  for (std::uintptr_t i = 1; i <= 4; ++i) history.use(large_buffer(i), by_adapter);
  EXPECT_TRUE(history.use(large_buffer(5), BufferHistory::Use::frequent));
}

// ------------------------------------------------------------------------------------------------------------------------

TEST(BufferHistory, buffers_are_told_apart_by_their_start) {
  BufferHistory history;
  for (int use = 0; use < 20; ++use) history.use({0x10000, 0x20000});
  EXPECT_FALSE(history.use({0x11000, 0x20000}));
}

}  // namespace
}  // namespace sluice
