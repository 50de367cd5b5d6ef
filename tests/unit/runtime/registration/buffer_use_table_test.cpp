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
    EXPECT_EQ(table.use(first)->uses, use);
    EXPECT_EQ(table.use(first + step)->uses, use);
  }
  EXPECT_EQ(table.size(), 2u);
}

TEST(BufferUseTable, buffers_that_meet_in_a_bucket_are_told_apart) {
  BufferUseTable table;
  for (std::uint32_t use = 1; use <= 2; ++use) {
    for (std::size_t i = 0; i < many; ++i) {
      BufferUseTable::Entry* const entry = table.use(first + i * step);
      ASSERT_NE(entry, nullptr) << i;
      EXPECT_EQ(entry->uses, use) << i;
      table.mark_frequent(*entry);
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
  EXPECT_EQ(table.use(first)->uses, 2u) << "what is in it is counted on";
  EXPECT_EQ(table.use(first + many * step), nullptr);
  EXPECT_EQ(table.size(), size);
}

TEST(BufferUseTable, it_grows_on_when_more_of_its_buffers_become_frequent) {
  BufferUseTable table;
  for (std::size_t i = 0; i < many; ++i) table.use(first + i * step);
  const std::size_t enough = table.size() * BufferUseTable::min_share / 100 + 1;
  for (std::size_t i = 0; i < enough; ++i) table.mark_frequent(*table.use(first + i * step));
  EXPECT_TRUE(table.grows());
  EXPECT_NE(table.use(first + many * step), nullptr);
}

TEST(BufferUseTable, a_buffer_is_frequent_once) {
  BufferUseTable table;
  for (std::size_t i = 0; i < many; ++i) table.mark_frequent(*table.use(first));
  for (std::size_t i = 1; i < many; ++i) table.use(first + i * step);
  EXPECT_FALSE(table.grows());
}

}  // namespace
}  // namespace sluice
