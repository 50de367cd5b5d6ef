#include "runtime/rendezvous/unasked.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr CallSite here{0x1000};
constexpr Peer there{1};
constexpr Peer other{0};

TEST(Unasked, a_sender_is_told_with_the_end_of_a_message_before_anything_is_announced_to_it) {
  Unasked unasked(2);
  EXPECT_FALSE(unasked.announces(here, there)) << "nothing is known of the site";
  EXPECT_EQ(unasked.end_of_read(here, there, false), 0);
  EXPECT_FALSE(unasked.announces(here, there)) << "the peer knows of nothing";
  EXPECT_EQ(unasked.end_of_read(here, there, false), flag_announces);
  EXPECT_TRUE(unasked.announces(here, there));
}

TEST(Unasked, who_never_posts_ahead_tells_nobody) {
  Unasked unasked(2);
  for (int message = 0; message < 5; ++message) EXPECT_EQ(unasked.end_of_read(here, there, false), 0);
}

TEST(Unasked, each_peer_is_told_by_itself) {
  Unasked unasked(2);
  (void)unasked.end_of_read(here, there, false);
  (void)unasked.announces(here, there);
  EXPECT_EQ(unasked.end_of_read(here, other, false), 0);
  EXPECT_EQ(unasked.end_of_read(here, there, false), flag_announces);
  EXPECT_FALSE(unasked.announces(here, other));
}

TEST(Unasked, a_site_whose_calls_return_early_announces_nothing_to_peers_that_know) {
  Unasked unasked(2);
  (void)unasked.end_of_read(here, there, false);
  (void)unasked.announces(here, there);
  EXPECT_EQ(unasked.end_of_read(here, there, true), flag_announces);
  EXPECT_FALSE(unasked.announces(here, there));
}

}  // namespace
}  // namespace sluice
