#include "runtime/policy/patience.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

/// Of so many occasions those at which it waits, in vain.
std::vector<int> waits_in_vain(Patience& patience, int occasions) {
  std::vector<int> waits;
  for (int occasion = 0; occasion < occasions; ++occasion) {
    if (!patience.is_worth_it()) continue;
    waits.push_back(occasion);
    patience.note(false);
  }
  return waits;
}

TEST(Patience, waits_every_time_where_the_peer_comes) {
  Patience patience;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(patience.is_worth_it());
    patience.note(true);
  }
}

TEST(Patience, waits_ever_more_rarely_in_vain) {
  Patience patience;
  EXPECT_EQ(waits_in_vain(patience, 16), (std::vector{0, 2, 6, 14}));
}

TEST(Patience, is_never_lost_for_good) {
  Patience patience;
  const std::vector<int> waits = waits_in_vain(patience, 2000);
  EXPECT_EQ(waits.back() - waits[waits.size() - 2], static_cast<int>(Patience::most_let_pass) + 1);
}

TEST(Patience, is_as_at_first_once_the_peer_came) {
  Patience patience;
  (void)waits_in_vain(patience, 15);
  while (!patience.is_worth_it()) {
  }
  patience.note(true);
  EXPECT_EQ(waits_in_vain(patience, 7), (std::vector{0, 2, 6}));
}

}  // namespace
}  // namespace sluice
