#include "runtime/buffer_history.hpp"

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
  constexpr std::uint32_t needed = BufferHistory::uses_to_stay_registered;
  BufferHistory history;
  const ByteRange buffer{0x10000, 0x20000};
  for (std::uint32_t factor = 1; factor <= 64; factor *= 2) {
    for (std::uint32_t use = 1; use < needed * factor; ++use) ASSERT_FALSE(history.use(buffer, needed)) << factor;
    ASSERT_TRUE(history.use(buffer, needed)) << factor;
  }
  for (std::uint32_t use = 1; use < needed * 64; ++use) ASSERT_FALSE(history.use(buffer, needed));
  EXPECT_TRUE(history.use(buffer, needed));
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

TEST(BufferHistory, buffers_are_told_apart_by_their_start) {
  BufferHistory history;
  for (int use = 0; use < 20; ++use) history.use({0x10000, 0x20000});
  EXPECT_FALSE(history.use({0x11000, 0x20000}));
}

}  // namespace
}  // namespace sluice
