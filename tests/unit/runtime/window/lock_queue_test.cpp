#include "runtime/window/lock_queue.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Use = LockQueue::Use;
using Members = std::vector<std::size_t>;

TEST(LockQueue, readers_hold_it_together_and_a_writer_alone) {
  LockQueue queue(4);
  EXPECT_TRUE(queue.lock(0, Use::shared));
  EXPECT_TRUE(queue.lock(1, Use::shared));
  EXPECT_FALSE(queue.lock(2, Use::exclusive));
  EXPECT_EQ(queue.unlock(0), Members{});
  EXPECT_EQ(queue.unlock(1), Members{2});
  EXPECT_FALSE(queue.lock(0, Use::exclusive));
  EXPECT_EQ(queue.unlock(2), Members{0});
}

TEST(LockQueue, who_asks_again_is_told_how_it_stands) {
  LockQueue queue(2);
  EXPECT_TRUE(queue.lock(0, Use::exclusive));
  EXPECT_TRUE(queue.lock(0, Use::exclusive));
  EXPECT_FALSE(queue.lock(1, Use::exclusive));
  EXPECT_FALSE(queue.lock(1, Use::exclusive));
  EXPECT_EQ(queue.unlock(0), Members{1});
  EXPECT_TRUE(queue.lock(1, Use::exclusive));
  EXPECT_EQ(queue.unlock(1), Members{}) << "it has waited once only";
}

TEST(LockQueue, a_reader_waits_behind_a_writer_that_has_asked_before) {
  LockQueue queue(4);
  EXPECT_TRUE(queue.lock(0, Use::shared));
  EXPECT_FALSE(queue.lock(1, Use::exclusive));
  EXPECT_FALSE(queue.lock(2, Use::shared));
  EXPECT_FALSE(queue.lock(3, Use::shared));
  EXPECT_EQ(queue.unlock(0), Members{1});
  EXPECT_EQ(queue.unlock(1), (Members{2, 3})) << "readers come together";
}

TEST(LockQueue, a_reader_that_insists_goes_first_beside_readers_only) {
  LockQueue queue(4);
  EXPECT_TRUE(queue.lock(0, Use::shared));
  EXPECT_FALSE(queue.lock(1, Use::exclusive));
  EXPECT_FALSE(queue.lock(2, Use::shared));
  EXPECT_FALSE(queue.insist(1)) << "a writer has to wait";
  EXPECT_FALSE(queue.insist(3)) << "nobody has asked";
  EXPECT_TRUE(queue.insist(2));
  EXPECT_FALSE(queue.insist(2)) << "it has it already";
  EXPECT_EQ(queue.unlock(0), Members{});
  EXPECT_EQ(queue.unlock(2), Members{1});
  EXPECT_FALSE(queue.lock(3, Use::shared));
  EXPECT_FALSE(queue.insist(3)) << "a writer holds it";
}

}  // namespace
}  // namespace sluice
