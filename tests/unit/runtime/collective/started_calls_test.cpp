#include "runtime/collective/started_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <thread>

#include "../../support/lane_block.hpp"

namespace sluice {
namespace {

using Kind = Description::Kind;
using Readers = Team::Readers;

constexpr std::size_t lengths[] = {0, 8, 48, 49, 384, 385, 4096};

/// Of all members alike. Broadcasts leave no trace at their root; all others wait for all.
struct Planned {
  Kind kind{};
  std::size_t root = 0;
  std::size_t bytes = 0;

  [[nodiscard]] Description description() const {
    return {.kind = kind, .root = static_cast<std::uint16_t>(root), .bytes = static_cast<std::uint32_t>(bytes)};
  }
};

std::vector<Planned> random_plan(std::size_t members, std::size_t count, unsigned seed) {
  constexpr std::array kinds{Kind::bcast, Kind::reduce, Kind::allreduce};
  std::mt19937 random(seed);
  std::vector<Planned> plan;
  while (plan.size() < count) {
    const Planned call{kinds[random() % kinds.size()], random() % members, lengths[random() % std::size(lengths)]};
    plan.insert(plan.end(), random() % (seed % 2 == 0 ? 12 : 3 * Lane::slots) + 1, call);
  }
  return plan;
}

/// One member's way: it begins calls before the ones before them are over, and ends them in any order.
class Member {
 public:
  Member(StartedCalls& calls, Rank self, const std::vector<Planned>& plan, std::size_t most_open)
      : calls_(calls), self_(static_cast<std::size_t>(self)), plan_(plan), most_open_(most_open) {}

  [[nodiscard]] bool is_through() const { return next_ == plan_.size() && open_.empty(); }
  [[nodiscard]] std::size_t begun() const { return next_; }

  void step(std::mt19937& random) {
    if (next_ != plan_.size() && open_.size() < most_open_ && random() % 3 != 0) {
      open_.push_back({next_, &calls_.begin(plan_[next_].description())});
      ++next_;
    }
    if (open_.empty()) return;
    const std::size_t chosen = random() % open_.size();
    if (go_on(open_[chosen])) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }

 private:
  struct Open {
    std::size_t place;
    StartedCalls::Call* call;
  };

  static std::byte value(std::size_t place, std::size_t member) { return static_cast<std::byte>(place * 37 + member * 5 + 1); }

  /// Whether it is over.
  bool go_on(const Open& open) {
    const Planned& what = plan_[open.place];
    if (!open.call->is_published()) {
      Team* const team = calls_.to_publish(*open.call);
      if (team) publish(*team, open, what);
      return false;
    }
    Team* const team = calls_.that_is_there(*open.call);
    if (!team) return false;
    read(*team, open, what);
    calls_.end(*open.call);
    return true;
  }

  void publish(Team& team, const Open& open, const Planned& what) {
    const Rank root{static_cast<int>(what.root)};
    const bool is_root = what.root == self_;
    if (what.kind != Kind::bcast || is_root) std::fill_n(team.payload(), what.bytes, value(open.place, self_));
    if (what.kind == Kind::bcast) {
      team.publish(is_root ? Readers::all : Readers::none);
      is_root ? team.await_nobody() : team.await(root);
    } else if (what.kind == Kind::reduce) {
      team.publish(is_root ? Readers::none : Readers::one, root);
      is_root ? team.await_all() : team.await_nobody();
    } else {
      team.publish(Readers::all);
      team.await_all();
    }
    calls_.published(*open.call);
  }

  void read(const Team& team, const Open& open, const Planned& what) const {
    ASSERT_FALSE(team.mismatch());
    const bool reads = what.kind == Kind::allreduce || (what.kind == Kind::reduce) == (what.root == self_);
    for (std::size_t member = 0; member < team.size() && reads; ++member) {
      if (what.kind == Kind::bcast && member != what.root) continue;
      // The own part, too: it is read until the call ends.
      const std::byte* const part = member == self_ ? team.payload() : team.part(Rank{static_cast<int>(member)});
      if (member == self_ && what.kind == Kind::bcast) continue;
      const std::vector<std::byte> wanted(what.bytes, value(open.place, member));
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), part)) << "call " << open.place << ", member " << member;
    }
  }

  StartedCalls& calls_;
  const std::size_t self_;
  const std::vector<Planned>& plan_;
  const std::size_t most_open_;
  std::size_t next_ = 0;
  std::vector<Open> open_;
};

TEST(StartedCalls, many_open_ones_end_in_any_order_with_the_right_parts) {
  for (const std::size_t members : {2U, 3U, 5U, 32U}) {
    for (unsigned seed = 0; seed < 6; ++seed) {
      TeamsOfAll all(members);
      const auto teams = all.make();
      const auto plan = random_plan(members, members <= 5 ? 6 * Lane::slots : 100, seed);
      std::vector<Member> ways;
      for (Team* team : teams) ways.emplace_back(*team->started, team->self(), plan, seed % 3 == 0 ? 100 : 1 + 6 * seed);
      std::mt19937 random(seed);
      const auto is_through = [](const Member& way) { return way.is_through(); };
      for (std::size_t turn = 0; !std::all_of(ways.begin(), ways.end(), is_through); ++turn) {
        ASSERT_LT(turn, 5'000'000U) << members << " members, seed " << seed;
        // One of them is far behind for a while.
        std::size_t chosen = random() % members;
        if (chosen == turn / 700 % members && random() % 16 != 0) chosen = (chosen + 1) % members;
        ways[chosen].step(random);
      }
    }
  }
}

TEST(StartedCalls, threads_see_each_others_parts) {
  constexpr std::size_t members = 4;
  TeamsOfAll all(members);
  const auto teams = all.make();
  const auto plan = random_plan(members, 500, 1);
  std::vector<std::thread> threads;
  for (Team* team : teams) {
    threads.emplace_back([team, &plan] {
      std::mt19937 random(static_cast<unsigned>(team->self()));
      Member way(*team->started, team->self(), plan, 20);
      while (!way.is_through()) {
        way.step(random);
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(StartedCalls, a_long_one_is_not_published_over_one_that_is_open) {
  TeamsOfAll all(2);
  StartedCalls& calls = *all.make()[0]->started;
  const Description longest{.kind = Kind::allreduce, .bytes = 4000};
  std::vector<StartedCalls::Call*> open;
  for (std::size_t i = 0; i < Lane::long_slots; ++i) {
    open.push_back(&calls.begin(longest));
    Team* const team = calls.to_publish(*open.back());
    ASSERT_TRUE(team);
    team->publish(Readers::none);  // whoever reads it, this rank does
    team->await_all();
    calls.published(*open.back());
  }
  StartedCalls::Call& next = calls.begin(longest);
  StartedCalls::Call& after_next = calls.begin({.kind = Kind::barrier});
  EXPECT_FALSE(calls.to_publish(next));
  EXPECT_FALSE(calls.to_publish(after_next));  // in the order in which they began
  EXPECT_TRUE(calls.others_may_wait());
  calls.end(*open[1]);
  EXPECT_FALSE(calls.to_publish(next));
  calls.end(*open[0]);
  EXPECT_TRUE(calls.to_publish(next));
}

TEST(StartedCalls, one_that_is_in_another_call_is_told_of) {
  TeamsOfAll all(2);
  const auto teams = all.make();
  const auto enter = [&](std::size_t member, const Description& what) {
    StartedCalls& calls = *teams[member]->started;
    StartedCalls::Call& call = calls.begin(what);
    Team* const team = calls.to_publish(call);
    team->publish(Readers::all);
    team->await_all();
    calls.published(call);
    return &call;
  };
  StartedCalls::Call* const own = enter(0, {.kind = Kind::barrier});
  enter(1, {.kind = Kind::allreduce, .bytes = 8});
  Team* const team = teams[0]->started->that_is_there(*own);
  ASSERT_TRUE(team);
  const auto found = team->mismatch();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, Rank{1});
}

TEST(StartedCalls, a_lane_is_not_given_out_again_while_one_is_open) {
  TeamsOfAll all(2, 1);
  const auto teams = all.make();
  const auto begin = [&](std::size_t member) {
    StartedCalls& calls = *teams[member]->started;
    StartedCalls::Call& call = calls.begin({.kind = Kind::barrier});
    Team* const team = calls.to_publish(call);
    team->publish(Readers::all);
    team->await_all();
    calls.published(call);
    return &call;
  };
  StartedCalls::Call* const first = begin(0);
  all.teams[0]->retire(*teams[0]);  // MPI lets the communicator be freed
  StartedCalls::Call* const second = begin(1);
  all.teams[1]->retire(*teams[1]);
  EXPECT_EQ(all.teams[0]->offer().lane, LaneOffer::none);
  ASSERT_TRUE(teams[0]->started->that_is_there(*first));
  teams[0]->started->end(*first);
  EXPECT_EQ(all.teams[0]->offer().lane, LaneOffer::none);  // the other may still read
  ASSERT_TRUE(teams[1]->started->that_is_there(*second));
  teams[1]->started->end(*second);
  const LaneOffer again = all.teams[0]->offer();
  EXPECT_EQ(again.lane, 0U);
  EXPECT_EQ(again.next, 2U);
}

}  // namespace
}  // namespace sluice
