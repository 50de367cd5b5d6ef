#include "runtime/policy/unchanged_sends.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t length = 20000;

TEST(UnchangedSends, are_those_of_a_buffer_that_has_the_bytes_of_its_last_send) {
  UnchangedSends sends;
  std::vector<std::byte> buffer(length, std::byte{1});
  EXPECT_FALSE(sends.sends_again(buffer.data(), buffer));
  EXPECT_TRUE(sends.sends_again(buffer.data(), buffer));
  buffer.back() = std::byte{2};
  EXPECT_FALSE(sends.sends_again(buffer.data(), buffer));
  EXPECT_TRUE(sends.sends_again(buffer.data(), buffer));
}

TEST(UnchangedSends, are_not_those_of_another_length_or_another_buffer) {
  UnchangedSends sends;
  const std::vector<std::byte> buffer(length, std::byte{1});
  const std::vector<std::byte> same(length, std::byte{1});
  EXPECT_FALSE(sends.sends_again(buffer.data(), buffer));
  EXPECT_FALSE(sends.sends_again(buffer.data(), std::span(buffer).first(length - 1)));
  EXPECT_FALSE(sends.sends_again(same.data(), same));
}

TEST(UnchangedSends, are_looked_at_where_their_bytes_can_be_read_not_where_they_are_named) {
  UnchangedSends sends;
  const std::vector<std::byte> alias(length, std::byte{1});
  const std::byte* const guarded = alias.data() + length;  // never read
  EXPECT_FALSE(sends.sends_again(guarded, alias));
  EXPECT_TRUE(sends.sends_again(guarded, alias));
}

}  // namespace
}  // namespace sluice
