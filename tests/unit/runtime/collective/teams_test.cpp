#include "runtime/collective/teams.hpp"

#include <gtest/gtest.h>

#include "../../support/lane_block.hpp"

namespace sluice {
namespace {

constexpr Description barrier{.kind = Description::Kind::barrier};

void enter(Team& team) {
  team.begin(barrier);
  team.await_room();
  ASSERT_TRUE(team.is_there());
  team.publish(Team::Readers::all);
  team.await_all();
}

void meet(const std::vector<Team*>& teams) {
  for (Team* team : teams) enter(*team);
  for (Team* team : teams) {
    ASSERT_TRUE(team->is_there());
    ASSERT_FALSE(team->mismatch());
    team->finish();
  }
}

TEST(Teams, where_one_member_has_no_lane_left_nobody_has_a_team) {
  TeamsOfAll all(2, 2);
  all.teams[1]->offer();  // for another communicator
  EXPECT_TRUE(all.make()[0]);
  const auto none = all.make();
  EXPECT_FALSE(none[0]);
  EXPECT_FALSE(none[1]);
  EXPECT_NE(all.teams[0]->offer().lane, LaneOffer::none);  // it has got its own back
}

TEST(Teams, nobody_has_a_team_where_no_memory_is_shared) {
  TeamsOfAll all(2);
  struct NoMemory final : LaneMemory {};
  const NoMemory none;
  const std::vector<LaneOffer> offers{all.teams[0]->offer(), all.teams[1]->offer()};
  EXPECT_FALSE(all.teams[0]->make(&none, all.peers, Rank{0}, offers));
  EXPECT_FALSE(all.teams[1]->make(nullptr, all.peers, Rank{1}, offers));
}

TEST(Teams, a_lane_is_given_out_again_when_all_members_are_through) {
  TeamsOfAll all(2, 1);
  const auto first = all.make();
  for (std::uint64_t call = 0; call <= Lane::done_interval; ++call) meet(first);
  all.teams[0]->retire(*first[0]);
  EXPECT_EQ(all.teams[0]->offer().lane, LaneOffer::none);  // the other has not said so yet
  all.teams[1]->retire(*first[1]);
  for (int round = 0; round < 20; ++round) {
    const auto teams = all.make();
    ASSERT_TRUE(teams[0] && teams[1]);
    for (int call = 0; call < round; ++call) meet(teams);
    all.teams[0]->retire(*teams[0]);
    all.teams[1]->retire(*teams[1]);
  }
}

TEST(Teams, numbers_go_on_in_a_lane_that_is_used_again) {
  TeamsOfAll all(3, 2);
  std::uint64_t last = 0;
  for (int round = 1; round < 30; ++round) {
    const auto teams = all.make();
    for (Team* team : teams) ASSERT_TRUE(team);
    EXPECT_EQ(teams[0]->next(), teams[2]->next());
    EXPECT_GE(teams[0]->next(), last);
    for (int call = 0; call < round % 11; ++call) meet(teams);
    last = teams[0]->next();
    for (std::size_t member = 0; member < 3; ++member) all.teams[member]->retire(*teams[member]);
  }
}

/// A root that leaves its message unread and frees the communicator.
TEST(Teams, what_is_not_read_yet_keeps_the_lane) {
  TeamsOfAll all(2, 1);
  const auto teams = all.make();
  const Description call{.kind = Description::Kind::bcast, .bytes = 8};
  teams[0]->begin(call);
  teams[0]->await_room();
  *teams[0]->payload() = std::byte{7};
  teams[0]->publish(Team::Readers::all);
  teams[0]->finish();
  all.teams[0]->retire(*teams[0]);
  EXPECT_EQ(all.teams[0]->offer().lane, LaneOffer::none);
  teams[1]->begin(call);
  teams[1]->await_room();
  teams[1]->publish(Team::Readers::none);
  teams[1]->await(Rank{0});
  ASSERT_TRUE(teams[1]->is_there());
  EXPECT_EQ(*teams[1]->part(Rank{0}), std::byte{7});
  teams[1]->finish();
  all.teams[1]->retire(*teams[1]);
  const LaneOffer again = all.teams[0]->offer();
  EXPECT_NE(again.lane, LaneOffer::none);
  EXPECT_GT(again.next, 1U);
}

TEST(Teams, a_wait_of_one_thread_is_seen_by_another) {
  TeamsOfAll all(2);
  const auto teams = all.make();
  EXPECT_FALSE(all.teams[0]->any_is_there());
  enter(*teams[0]);
  all.teams[0]->waits(*teams[0]);
  EXPECT_FALSE(all.teams[0]->any_is_there());
  enter(*teams[1]);
  EXPECT_TRUE(all.teams[0]->any_is_there());
  all.teams[0]->waits_no_more(*teams[0]);
  EXPECT_FALSE(all.teams[0]->any_is_there());
}

}  // namespace
}  // namespace sluice
