#include "runtime/registration/buffer_use_table.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::uintptr_t first = 0x10000;
constexpr std::uintptr_t step = 64;
/// Enough that some meet in a bucket: the square of it over twice the number of buckets is 190.
constexpr std::size_t many = 20'000;

TEST(BufferUseTable, uses_are_counted_by_address) {
  BufferUseTable table;
  for (std::uint32_t use = 1; use <= 5; ++use) {
    EXPECT_EQ(table.entry(table.use(first)).uses, use);
    EXPECT_EQ(table.entry(table.use(first + step)).uses, use);
  }
  EXPECT_EQ(table.size(), 2u);
}

TEST(BufferUseTable, buffers_that_meet_in_a_bucket_are_told_apart) {
  BufferUseTable table;
  for (std::uint32_t use = 1; use <= 2; ++use) {
    for (std::size_t i = 0; i < many; ++i) {
      const BufferUseTable::Number number = table.use(first + i * step);
      ASSERT_NE(number, 0u) << i;
      EXPECT_EQ(table.entry(number).uses, use) << i;
      table.mark_frequent(number);
    }
  }
  EXPECT_EQ(table.size(), many);
}

TEST(BufferUseTable, it_stops_growing_when_chains_form_and_few_buffers_are_frequent) {
  BufferUseTable table;
  for (std::size_t i = 0; i < many; ++i) table.use(first + i * step);
  EXPECT_LT(table.size(), many / 2);
  EXPECT_FALSE(table.grows());
  const std::size_t size = table.size();
  EXPECT_EQ(table.entry(table.use(first)).uses, 2u) << "what is in it is counted on";
  EXPECT_EQ(table.use(first + many * step), 0u);
  EXPECT_EQ(table.size(), size);
}

TEST(BufferUseTable, it_grows_on_when_more_of_its_buffers_become_frequent) {
  BufferUseTable table;
  for (std::size_t i = 0; i < many; ++i) table.use(first + i * step);
  const std::size_t enough = table.size() * BufferUseTable::min_share / 100 + 1;
  for (std::size_t i = 0; i < enough; ++i) table.mark_frequent(table.use(first + i * step));
  EXPECT_TRUE(table.grows());
  EXPECT_NE(table.use(first + many * step), 0u);
}

TEST(BufferUseTable, a_buffer_is_frequent_once) {
  BufferUseTable table;
  for (std::size_t i = 0; i < many; ++i) table.mark_frequent(table.use(first));
  for (std::size_t i = 1; i < many; ++i) table.use(first + i * step);
  EXPECT_FALSE(table.grows());
}

TEST(BufferUseTable, what_was_forgotten_is_frequent_no_longer) {
  BufferUseTable table;
  for (std::size_t i = 0; i < many; ++i) {
    const BufferUseTable::Number number = table.use(first + i * step);
    if (number == 0) break;
    table.mark_frequent(number);
    EXPECT_EQ(table.frequent(), 1u);
    table.forget(number);
  }
  EXPECT_EQ(table.frequent(), 0u);
  EXPECT_FALSE(table.grows());
  EXPECT_EQ(table.entry(table.use(first)).uses, 1u);
}

}  // namespace
}  // namespace sluice
