#include "runtime/machine/peer_distance.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::uint32_t far_ns = 200;
constexpr std::uint32_t near = 120;
constexpr std::uint32_t far = 300;

/// How often the distance is looked at within so many messages, where it is that.
int looks(PeerDistance& distance, std::uint32_t ns, std::uint32_t messages) {
  int looks = 0;
  for (std::uint32_t i = 0; i < messages; ++i) {
    if (!distance.is_due()) continue;
    ++looks;
    distance.note(ns, far_ns);
  }
  return looks;
}

TEST(PeerDistance, is_looked_at_with_the_first_message) {
  PeerDistance distance;
  EXPECT_FALSE(distance.is_far());
  EXPECT_TRUE(distance.is_due());
  distance.note(far, far_ns);
  EXPECT_TRUE(distance.is_far());
}

TEST(PeerDistance, tells_far_by_calibration_from_no_cache_in_common) {
  PeerDistance distance;
  distance.note(most_near_line_ns, most_near_line_ns - 1);
  EXPECT_TRUE(distance.is_far());
  EXPECT_FALSE(distance.shares_no_cache());
  distance.note(most_near_line_ns + 1, most_near_line_ns - 1);
  EXPECT_TRUE(distance.shares_no_cache());
  distance.note(most_near_line_ns + 1, most_near_line_ns + 2);
  EXPECT_FALSE(distance.shares_no_cache());
}

TEST(PeerDistance, is_looked_at_more_and_more_rarely_while_it_stays) {
  PeerDistance distance;
  looks(distance, near, 1000);
  EXPECT_EQ(looks(distance, near, 10 * PeerDistance::most_between_looks), 10);
  EXPECT_FALSE(distance.is_far());
}

TEST(PeerDistance, is_found_out_again_when_processors_are_moved) {
  PeerDistance distance;
  looks(distance, near, 1000);
  looks(distance, far, PeerDistance::most_between_looks);
  EXPECT_TRUE(distance.is_far());
  while (!distance.is_due()) {
  }
  distance.note(near, far_ns);
  EXPECT_FALSE(distance.is_far());
  EXPECT_EQ(looks(distance, near, PeerDistance::least_between_looks), 1) << "soon again";
}

TEST(PeerDistance, is_looked_at_again_where_nothing_was_to_be_seen) {
  PeerDistance distance;
  distance.note(far, far_ns);
  EXPECT_EQ(looks(distance, 0, 5), 0);
  while (!distance.is_due()) {
  }
  distance.note(0, far_ns);
  EXPECT_TRUE(distance.is_far()) << "as before";
  EXPECT_EQ(looks(distance, 0, 5), 5);
}

/// How many of so many messages are looked at, where all of their lines are far, or near.
std::uint32_t looks(MessageDistance& distance, bool are_far, std::uint32_t messages) {
  std::uint32_t looks = 0;
  for (std::uint32_t i = 0; i < messages; ++i) {
    if (!distance.is_due()) continue;
    ++looks;
    distance.note(are_far);
  }
  return looks;
}

TEST(MessageDistance, is_looked_at_more_and_more_rarely_while_it_stays) {
  for (const bool are_far : {false, true}) {
    MessageDistance distance;
    EXPECT_EQ(looks(distance, are_far, 1), 1U);
    EXPECT_EQ(distance.is_far(), are_far);
    EXPECT_LT(looks(distance, are_far, 100), 12U);
    EXPECT_EQ(looks(distance, are_far, 10 * (MessageDistance::most_between_looks + 1)), 10U);
    EXPECT_EQ(distance.is_far(), are_far);
  }
}

TEST(MessageDistance, is_found_out_soon_where_a_writer_was_moved_and_looked_at_again_at_once) {
  for (const bool are_far : {false, true}) {
    MessageDistance distance;
    looks(distance, are_far, 1000);
    EXPECT_GE(looks(distance, !are_far, MessageDistance::most_between_looks + 2), 2U);
    EXPECT_EQ(distance.is_far(), !are_far);
  }
}

TEST(LeastLeftToSender, lies_between_the_two_kinds_of_pairs) {
  constexpr double near_line = 30;
  constexpr double far_line = 140;
  const std::uint32_t found_near = least_left_to_sender_ns(near_line, 110, false);
  EXPECT_GT(found_near, looking_ns + near_line);
  EXPECT_LT(found_near, looking_ns + far_line);
  const std::uint32_t found_far = least_left_to_sender_ns(far_line, 500, true);
  EXPECT_GT(found_far, looking_ns + near_line);
  EXPECT_LT(found_far, looking_ns + far_line);
}

TEST(LeastLeftToSender, is_any_where_it_is_better_between_two_that_share_a_cache) {
  const std::uint32_t found = least_left_to_sender_ns(30, 110, true);
  PeerDistance distance;
  for (const std::uint32_t line : {50U, 60U, 61U, 100U, 300U}) {
    distance.note(line, found);
    EXPECT_TRUE(distance.is_far()) << line;
  }
}

}  // namespace
}  // namespace sluice
