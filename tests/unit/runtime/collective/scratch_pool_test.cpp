#include "runtime/collective/scratch_pool.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(ScratchPool, what_was_given_back_is_taken_again_where_it_is_long_enough) {
  ScratchPool pool;
  std::byte* const first = pool.take(1000).get();
  EXPECT_EQ(pool.kept_bytes(), 1000u);
  const auto longer = pool.take(1001);
  EXPECT_NE(longer.get(), first);
  const auto shorter = pool.take(10);
  EXPECT_EQ(shorter.get(), first);
  EXPECT_EQ(pool.kept_bytes(), 0u);
}

TEST(ScratchPool, a_block_keeps_its_length_when_less_was_asked_of_it) {
  ScratchPool pool;
  std::byte* const block = pool.take(1000).get();
  (void)pool.take(10);
  EXPECT_EQ(pool.kept_bytes(), 1000u);
  EXPECT_EQ(pool.take(1000).get(), block);
}

TEST(ScratchPool, no_more_than_its_limit_is_kept) {
  ScratchPool pool;
  {
    const auto large = pool.take(ScratchPool::max_kept_bytes);
    const auto too_large = pool.take(ScratchPool::max_kept_bytes + 1);
  }
  EXPECT_EQ(pool.kept_bytes(), ScratchPool::max_kept_bytes);
  {
    const auto large = pool.take(ScratchPool::max_kept_bytes);
    const auto small = pool.take(10);
  }  // the small one goes first, and then makes room
  EXPECT_EQ(pool.kept_bytes(), ScratchPool::max_kept_bytes);
  for (int i = 0; i < 100; ++i) {
    const auto one = pool.take(10);
    const auto other = pool.take(20);
  }
  EXPECT_LE(pool.kept_bytes(), ScratchPool::max_kept_bytes);
}

}  // namespace
}  // namespace sluice
