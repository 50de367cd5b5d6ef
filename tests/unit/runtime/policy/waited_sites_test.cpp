#include "runtime/policy/waited_sites.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

constexpr CallSite here{0x1000};
constexpr CallSite next_call{0x1005};

/// Of so many receives those that are announced, in vain.
std::vector<int> announced_in_vain(WaitedSites& sites, int receives) {
  std::vector<int> announced;
  for (int receive = 0; receive < receives; ++receive) {
    if (!sites.announces(here)) continue;
    announced.push_back(receive);
    sites.note_announced(here, false);
  }
  return announced;
}

TEST(WaitedSites, of_a_site_nothing_is_known_before_its_first_message) {
  WaitedSites sites;
  EXPECT_FALSE(sites.waits(here));
  EXPECT_FALSE(sites.announces(here));
}

TEST(WaitedSites, a_site_waits_as_long_as_its_calls_do) {
  WaitedSites sites;
  sites.note_end(here, false);
  EXPECT_TRUE(sites.waits(here));
  sites.note_end(here, true);
  EXPECT_FALSE(sites.waits(here)) << "its call had returned";
  EXPECT_FALSE(sites.announces(here));
}

TEST(WaitedSites, calls_beside_each_other_are_told_apart) {
  WaitedSites sites;
  sites.note_end(here, false);
  sites.note_end(next_call, true);
  EXPECT_TRUE(sites.waits(here));
  EXPECT_FALSE(sites.waits(next_call));
}

TEST(WaitedSites, announces_each_receive_where_messages_are_written) {
  WaitedSites sites;
  sites.note_end(here, false);
  for (int receive = 0; receive < 10; ++receive) {
    EXPECT_TRUE(sites.announces(here));
    sites.note_announced(here, true);
  }
}

TEST(WaitedSites, announces_ever_more_rarely_in_vain) {
  WaitedSites sites;
  sites.note_end(here, false);
  EXPECT_EQ(announced_in_vain(sites, 100), (std::vector{0, 8, 72}));
}

TEST(WaitedSites, is_never_lost_for_good) {
  WaitedSites sites;
  sites.note_end(here, false);
  const std::vector<int> announced = announced_in_vain(sites, 2000);
  EXPECT_EQ(announced.back() - announced[announced.size() - 2], 1 << WaitedSites::most_steps);
}

/// How many of so many receives are announced, if of so many announcements one is in vain.
int announced_with(int one_in, int receives) {
  WaitedSites sites;
  sites.note_end(here, false);
  int announced = 0;
  for (int receive = 0; receive < receives; ++receive) {
    if (sites.announces(here)) sites.note_announced(here, ++announced % one_in != 0);
  }
  return announced;
}

TEST(WaitedSites, most_announcements_must_be_used) {
  constexpr int receives = 10'000;
  EXPECT_GT(announced_with(10, receives), receives / 3);
  EXPECT_LT(announced_with(2, receives), receives / 30);
}

}  // namespace
}  // namespace sluice
