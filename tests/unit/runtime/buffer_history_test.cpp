#include "runtime/buffer_history.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(BufferHistory, a_buffer_earns_its_block_at_its_last_required_use) {
  BufferHistory history;
  const ByteRange buffer{0x10000, 0x20000};
  for (std::uint32_t use = 1; use < BufferHistory::uses_to_earn_a_block; ++use) EXPECT_FALSE(history.use(buffer));
  EXPECT_TRUE(history.use(buffer));
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
