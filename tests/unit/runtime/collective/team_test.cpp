#include "runtime/collective/team.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <thread>

#include "../../support/lane_block.hpp"

namespace sluice {
namespace {

using Kind = Description::Kind;

constexpr std::size_t lengths[] = {0, 8, 48, 49, 384, 385, 4096};

Description bcast_of(std::size_t bytes, std::size_t root) {
  return {.kind = Kind::bcast, .root = static_cast<std::uint16_t>(root), .bytes = static_cast<std::uint32_t>(bytes)};
}

void enter(Team& team, const Description& call) {
  team.begin(call);
  team.await_room();
  ASSERT_TRUE(team.is_there());
  team.publish(Team::Readers::all);
}

/// One member's way through a sequence of calls, which all members know. Each step does as much as can be done.
class Member {
 public:
  struct Call {
    Kind kind{};
    std::size_t root = 0;
    std::size_t bytes = 0;
  };

  Member(Team& team, const std::vector<Call>& calls) : team_(team), calls_(calls) {}

  [[nodiscard]] bool is_through() const { return at_ == calls_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }

  /// Whether anything was done.
  bool step() {
    if (is_through()) return false;
    const Call& call = calls_[at_];
    if (stage_ == Stage::begin) {
      team_.begin({.kind = call.kind,
                   .reduction = is_counted(call) ? Description::counted : std::uint16_t{0},
                   .root = static_cast<std::uint16_t>(call.root),
                   .bytes = static_cast<std::uint32_t>(bytes_of(call, self()))});
      team_.await_room();
      stage_ = Stage::room;
      return true;
    }
    if (!team_.is_there()) return false;
    if (stage_ == Stage::room) {
      publish(call);
    } else {
      read(call);
    }
    return true;
  }

 private:
  enum class Stage : std::uint8_t { begin, room, parts };

  [[nodiscard]] std::size_t self() const { return static_cast<std::size_t>(team_.self()); }
  [[nodiscard]] std::byte value_of(std::size_t member) const { return static_cast<std::byte>(at_ * 37 + member * 5 + 1); }
  [[nodiscard]] bool is_root(const Call& call) const { return call.root == self(); }

  /// Scatter and alltoall are those in which each member has a length of its own.
  static bool is_counted(const Call& call) { return call.kind == Kind::scatter || call.kind == Kind::alltoall; }
  static bool is_rooted(const Call& call) { return call.kind == Kind::bcast || call.kind == Kind::scatter; }
  [[nodiscard]] std::size_t bytes_of(const Call& call, std::size_t member) const {
    if (!is_counted(call)) return call.bytes;
    return lengths[(at_ * 5 + member * 3 + call.bytes) % std::size(lengths)];
  }

  void publish(const Call& call) {
    const bool brings = !is_rooted(call) || is_root(call);
    if (brings) std::fill_n(team_.payload(), bytes_of(call, self()), value_of(self()));
    const Rank root{static_cast<int>(call.root)};
    if (is_rooted(call)) {
      team_.publish(is_root(call) ? Team::Readers::all : Team::Readers::none);
      if (is_root(call)) return finish();
      team_.await(root);
    } else if (call.kind == Kind::reduce) {
      team_.publish(is_root(call) ? Team::Readers::none : Team::Readers::one, root);
      if (!is_root(call)) return finish();
      team_.await_all();
    } else if (call.kind == Kind::scan) {
      team_.publish(Team::Readers::all);
      team_.await_lower();
    } else {
      team_.publish(Team::Readers::all);
      team_.await_all();
    }
    stage_ = Stage::parts;
  }

  void read(const Call& call) {
    EXPECT_FALSE(team_.mismatch());
    for (std::size_t member = 0; member < team_.size(); ++member) {
      if (member == self() || (is_rooted(call) && member != call.root)) continue;
      if (call.kind == Kind::scan && member > self()) continue;
      const std::byte* const part = team_.part(Rank{static_cast<int>(member)});
      const std::vector<std::byte> wanted(bytes_of(call, member), value_of(member));
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), part)) << "call " << at_ << ", member " << member;
    }
    finish();
  }

  void finish() {
    team_.finish();
    ++at_;
    stage_ = Stage::begin;
  }

  Team& team_;
  const std::vector<Call>& calls_;
  std::size_t at_ = 0;
  Stage stage_ = Stage::begin;
};

std::vector<Member::Call> random_calls(std::size_t members, std::size_t count, unsigned seed) {
  constexpr std::array kinds{Kind::barrier, Kind::bcast,   Kind::reduce,  Kind::allreduce,
                             Kind::scan,    Kind::scatter, Kind::alltoall};
  std::mt19937 random(seed);
  std::vector<Member::Call> calls;
  for (std::size_t i = 0; i < count;) {
    const Member::Call call{kinds[random() % kinds.size()], random() % members, lengths[random() % std::size(lengths)]};
    const std::size_t longest_run = seed % 2 == 0 ? 20 : 3 * Lane::slots;
    for (std::size_t run = random() % longest_run + 1; run-- > 0; ++i) calls.push_back(call);
  }
  return calls;
}

TEST(Team, every_order_of_steps_comes_to_the_end_with_the_right_parts) {
  for (const std::size_t members : {2U, 3U, 4U, 8U, 32U}) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      TeamsOfAll all(members);
      const auto teams = all.make();
      const auto calls = random_calls(members, members <= 4 ? 10 * Lane::slots : 80, seed);
      std::vector<Member> ways;
      for (Team* team : teams) ways.emplace_back(*team, calls);
      std::mt19937 random(seed);
      // One member is far behind most of the time, another one each time; by turns the choice is fair.
      std::size_t idle = 0;
      for (std::size_t turn = 0; idle < 400 * members; ++turn) {
        const std::size_t slow = turn / 500 % members;
        std::size_t chosen = random() % members;
        if (chosen == slow && seed % 3 != 0 && random() % 16 != 0) chosen = (chosen + 1) % members;
        idle = ways[chosen].step() ? 0 : idle + 1;
      }
      for (const Member& way : ways)
        ASSERT_TRUE(way.is_through()) << members << " members, seed " << seed << ", call " << way.at();
    }
  }
}

TEST(Team, threads_see_each_others_parts) {
  constexpr std::size_t members = 4;
  TeamsOfAll all(members);
  const auto teams = all.make();
  const auto calls = random_calls(members, 600, 1);
  std::vector<std::thread> threads;
  for (Team* team : teams) {
    threads.emplace_back([team, &calls] {
      Member way(*team, calls);
      while (!way.is_through()) {
        if (!way.step()) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Team, a_root_stops_when_its_slots_are_full_of_what_others_have_not_read) {
  TeamsOfAll all(2);
  const auto teams = all.make();
  Team& root = *teams[0];
  Team& leaf = *teams[1];
  std::size_t sent = 0;
  const auto send = [&] {
    root.begin(bcast_of(8, 0));
    root.await_room();
    if (!root.is_there()) return false;
    root.publish(Team::Readers::all);
    root.finish();
    ++sent;
    return true;
  };
  while (send()) ASSERT_LE(sent, Lane::slots);
  EXPECT_EQ(sent, Lane::slots);
  // It is in the next call by now. The leaf reads what there is, and the root goes on, at the latest when the leaf has read all.
  std::size_t read = 0;
  while (!root.is_there()) {
    ASSERT_LT(read, Lane::slots);
    leaf.begin(bcast_of(8, 0));
    leaf.await_room();
    ASSERT_TRUE(leaf.is_there());
    leaf.publish(Team::Readers::none);
    leaf.await(Rank{0});
    ASSERT_TRUE(leaf.is_there());
    leaf.finish();
    ++read;
  }
  EXPECT_GT(read, 0U);
}

TEST(Team, a_root_stops_earlier_when_its_long_slots_are_full) {
  TeamsOfAll all(2);
  const auto teams = all.make();
  Team& root = *teams[0];
  Team& leaf = *teams[1];
  const auto leaf_reads = [&](std::size_t bytes) {
    leaf.begin(bcast_of(bytes, 0));
    leaf.await_room();
    ASSERT_TRUE(leaf.is_there());
    leaf.publish(Team::Readers::none);
    leaf.await(Rank{0});
    ASSERT_TRUE(leaf.is_there());
    leaf.finish();
  };
  const auto root_enters = [&](std::size_t bytes) {
    root.begin(bcast_of(bytes, 0));
    root.await_room();
    return root.is_there();
  };
  // One long call, and short ones that use no long slot.
  std::size_t sent = 0;
  for (; sent < Lane::long_slots; ++sent) {
    ASSERT_TRUE(root_enters(sent == 0 ? 4000 : 8));
    root.publish(Team::Readers::all);
    root.finish();
  }
  EXPECT_FALSE(root_enters(4000));
  leaf_reads(4000);
  for (std::size_t read = 1; !root.is_there(); ++read) {
    ASSERT_LT(read, sent);
    leaf_reads(8);
  }
}

TEST(Team, who_waits_for_some_does_not_wait_for_the_others) {
  TeamsOfAll all(4);
  const auto teams = all.make();
  const std::array neighbours{Rank{0}, Rank{2}};
  enter(*teams[0], {.kind = Kind::barrier});
  teams[0]->await_some(neighbours);
  EXPECT_FALSE(teams[0]->is_there());
  EXPECT_EQ(teams[0]->missing(), Rank{2});
  enter(*teams[3], {.kind = Kind::barrier});
  EXPECT_FALSE(teams[0]->is_there());
  enter(*teams[2], bcast_of(8, 1));
  EXPECT_TRUE(teams[0]->is_there());
  EXPECT_FALSE(teams[0]->missing());
  const auto found = teams[0]->mismatch();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, Rank{2});
}

/// On a line each reads its neighbours. Payloads have lengths of their own, wide ones among them, and a member that is far away
/// may be far behind: nobody waits for its `done`.
TEST(Team, neighbours_on_a_line_go_on_whatever_those_do_that_are_far_away) {
  constexpr std::size_t members = 6;
  constexpr std::size_t calls = 300;
  constexpr std::array sizes{std::size_t{0},    std::size_t{40},   std::size_t{400},
                             std::size_t{4000}, std::size_t{5000}, std::size_t{16384}};
  TeamsOfAll all(members);
  const auto teams = all.make();
  std::array<std::vector<Rank>, members> neighbours;
  for (std::size_t member = 0; member < members; ++member) {
    if (member > 0) neighbours[member].push_back(Rank{static_cast<int>(member - 1)});
    if (member + 1 < members) neighbours[member].push_back(Rank{static_cast<int>(member + 1)});
  }
  const auto size_of = [&](std::size_t member, std::size_t call) {
    return sizes[(member * 7 + call * 5 + call / 9) % sizes.size()];
  };
  const auto value_of = [](std::size_t member, std::size_t call) { return static_cast<std::byte>(member * 31 + call); };
  struct Way {
    std::size_t call = 0;
    enum { begin, room, parts } stage = begin;
  };
  std::array<Way, members> ways;
  const auto step = [&](std::size_t member) {
    Team& team = *teams[member];
    Way& way = ways[member];
    if (way.call == calls) return false;
    if (way.stage == Way::begin) {
      team.begin({.kind = Kind::neighbour_alltoall,
                  .reduction = Description::counted,
                  .bytes = static_cast<std::uint32_t>(size_of(member, way.call))});
      team.await_room();
      way.stage = Way::room;
      return true;
    }
    if (!team.is_there()) return false;
    if (way.stage == Way::room) {
      std::fill_n(team.payload(), size_of(member, way.call), value_of(member, way.call));
      team.publish(neighbours[member]);
      team.await_some(neighbours[member]);
      way.stage = Way::parts;
      return true;
    }
    for (const Rank from : neighbours[member]) {
      const auto source = static_cast<std::size_t>(from);
      const std::vector<std::byte> wanted(size_of(source, way.call), value_of(source, way.call));
      EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), team.part(from))) << way.call;
    }
    team.finish();
    way = {way.call + 1, Way::begin};
    return true;
  };
  std::mt19937 random(1);
  std::size_t idle = 0;
  for (std::size_t turn = 0; idle < 400 * members; ++turn) {
    const std::size_t chosen = random() % members;
    const bool is_behind = chosen == turn / 900 % members && random() % 16 != 0;
    idle = !is_behind && step(chosen) ? 0 : idle + 1;
  }
  for (const Way& way : ways) EXPECT_EQ(way.call, calls);
}

/// Two pairs that have nothing to do with each other, in calls of one communicator.
TEST(Team, a_pair_goes_on_while_another_one_stands) {
  TeamsOfAll all(4);
  const auto teams = all.make();
  constexpr std::array ranks{Rank{0}, Rank{1}, Rank{2}, Rank{3}};
  const auto meet = [&](std::size_t one, std::size_t other, std::size_t bytes) {
    const std::span kept = std::span(ranks).subspan(one, 2);
    for (const std::size_t member : {one, other}) {
      teams[member]->begin(
          {.kind = Kind::neighbour_alltoall, .reduction = Description::counted, .bytes = static_cast<std::uint32_t>(bytes)});
      teams[member]->await_room();
      ASSERT_TRUE(teams[member]->is_there());
      teams[member]->publish(kept);
      teams[member]->await_some(kept);
    }
    for (const std::size_t member : {one, other}) {
      ASSERT_TRUE(teams[member]->is_there());
      teams[member]->finish();
    }
  };
  for (std::size_t call = 0; call < 4 * Lane::slots; ++call) meet(0, 1, call % 3 == 0 ? 9000 : call % 3 == 1 ? 900 : 9);
  for (std::size_t call = 0; call < 4 * Lane::slots; ++call) meet(2, 3, 8);
}

TEST(Team, members_in_different_calls_are_told_of) {
  TeamsOfAll all(3);
  const auto teams = all.make();
  enter(*teams[0], {.kind = Kind::barrier});
  enter(*teams[1], {.kind = Kind::barrier});
  enter(*teams[2], bcast_of(8, 1));
  teams[0]->await_all();
  ASSERT_TRUE(teams[0]->is_there());
  const auto found = teams[0]->mismatch();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, Rank{2});
  EXPECT_EQ(found->own.text(), "MPI_Barrier");
  EXPECT_EQ(found->other.text(), "MPI_Bcast of 8 bytes, root 1");
  EXPECT_FALSE(found->differs_in_bytes_only());
  teams[2]->await(Rank{1});
  ASSERT_TRUE(teams[2]->is_there());
  EXPECT_TRUE(teams[2]->mismatch());
}

TEST(Team, who_awaits_lower_ranks_waits_for_no_other) {
  TeamsOfAll all(3);
  const auto teams = all.make();
  const auto enter = [&](std::size_t member, Kind kind) {
    teams[member]->begin({.kind = kind, .bytes = 8});
    teams[member]->await_room();
    ASSERT_TRUE(teams[member]->is_there());
    teams[member]->publish(Team::Readers::all);
    teams[member]->await_lower();
  };
  enter(1, Kind::scan);
  EXPECT_FALSE(teams[1]->is_there());
  EXPECT_EQ(teams[1]->missing(), Rank{0});
  enter(0, Kind::exscan);
  EXPECT_TRUE(teams[0]->is_there());
  EXPECT_FALSE(teams[0]->mismatch());
  EXPECT_TRUE(teams[1]->is_there());
  EXPECT_EQ(teams[1]->missing(), std::nullopt);
  ASSERT_TRUE(teams[1]->mismatch());
  EXPECT_EQ(teams[1]->mismatch()->other.text(), "MPI_Exscan of 8 bytes");
}

TEST(Team, a_member_is_asleep_as_its_process_says) {
  std::atomic<WakeMask> wake_mask{WakeMask::none};
  Team::Member member;
  EXPECT_FALSE(Team::is_asleep(member));
  member.wake_mask = &wake_mask;
  EXPECT_FALSE(Team::is_asleep(member));
  wake_mask = WakeMask::everything;  // the helper thread is asked for, which waits for no lane
  EXPECT_FALSE(Team::is_asleep(member));
  wake_mask = WakeMask::sleeper;
  EXPECT_TRUE(Team::is_asleep(member));
}

TEST(Team, other_lengths_are_told_of_as_such) {
  TeamsOfAll all(2);
  const auto teams = all.make();
  for (std::size_t member = 0; member < 2; ++member) {
    teams[member]->begin(bcast_of(member == 0 ? 8 : 4000, 0));
    teams[member]->await_room();
    teams[member]->publish(Team::Readers::all);
  }
  teams[1]->await(Rank{0});
  ASSERT_TRUE(teams[1]->is_there());
  const auto found = teams[1]->mismatch();
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->differs_in_bytes_only());
}

/// Who does not wait for anybody may have gone round all slots.
TEST(Team, a_member_that_has_run_ahead_in_other_calls_is_told_of) {
  TeamsOfAll all(2);
  const auto teams = all.make();
  for (std::size_t i = 0; i < 2 * Lane::slots; ++i) {
    teams[0]->begin(bcast_of(8, 1));
    teams[0]->await_room();
    ASSERT_TRUE(teams[0]->is_there());
    teams[0]->publish(Team::Readers::none);
    teams[0]->finish();
  }
  teams[1]->begin(bcast_of(8, 1));
  teams[1]->await_room();
  teams[1]->publish(Team::Readers::none);
  teams[1]->await(Rank{0});
  ASSERT_TRUE(teams[1]->is_there());
  EXPECT_TRUE(teams[1]->mismatch());
}

}  // namespace
}  // namespace sluice
