// Nonblocking calls through lanes as requests: two ranks of one communicator, each with its own.

#include "runtime/lane_calls.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>

#include "tests/unit/support/lane_block.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

struct NoHost final : Requests::Host {
  void end_elsewhere(Request& /*request*/) override {}
  void drop(Context* /*context*/) override {}
};

struct Side {
  Side(LoopbackNetwork& network, Peer self, Team* made)
      : job(one_of_two(self, network.transport(self), {})), sleepers{&network.transport(self)}, team(*made) {
    context.become({Peer{0}, Peer{1}}, Rank{static_cast<int>(self)});
  }

  Request* start(std::unique_ptr<LaneStep> step, std::size_t bytes = 0) {
    return calls.start(context, team, {.step = std::move(step), .kept = {}, .bytes = bytes}, here);
  }

  const Job job;
  Sleepers sleepers;
  EngineStatistics statistics;
  NoHost host;
  Requests requests{job, statistics, sleepers, host};
  Context context{ContextId{1}};
  Team& team;
  LaneCalls calls{{job, requests, statistics}};
};

struct LaneCallsTest : testing::Test {
  static UserBuffer buffer(int& value) { return {reinterpret_cast<std::byte*>(&value), sizeof value, Layout::contiguous(1)}; }

  LoopbackNetwork network{2};
  TeamsOfAll all{2};
  std::vector<Team*> teams{all.make()};
  Side root{network, Peer{0}, teams[0]};
  Side leaf{network, Peer{1}, teams[1]};
};

TEST_F(LaneCallsTest, who_waits_for_nobody_is_done_at_once) {
  int sent = 41;
  int received = 0;
  const Request* const root_request = root.start(std::make_unique<BcastStep>(zero, buffer(sent)), sizeof sent);
  EXPECT_TRUE(root_request->complete);
  EXPECT_FALSE(root.calls.any());
  sent = 0;  // the program's again
  Request* const leaf_request = leaf.start(std::make_unique<BcastStep>(zero, buffer(received)), sizeof received);
  EXPECT_TRUE(leaf_request->complete);
  EXPECT_EQ(received, 41);
  EXPECT_EQ(leaf.requests.take(leaf_request).bytes, sizeof received);
}

TEST_F(LaneCallsTest, a_barrier_is_over_when_the_other_has_come) {
  const Request* const first = root.start(std::make_unique<BarrierStep>());
  EXPECT_FALSE(first->complete);
  EXPECT_TRUE(root.calls.any());
  EXPECT_FALSE(root.calls.any_is_there());
  EXPECT_FALSE(root.calls.advance());
  leaf.start(std::make_unique<BarrierStep>());
  EXPECT_TRUE(root.calls.any_is_there());
  EXPECT_TRUE(root.calls.advance());
  EXPECT_TRUE(first->complete);
  EXPECT_EQ(root.requests.open_collectives(), 0U);
}

TEST_F(LaneCallsTest, a_root_that_runs_ahead_goes_on_when_its_slots_are_read) {
  constexpr int count = 3 * static_cast<int>(Lane::slots);
  std::vector<int> sent(count);
  std::vector<const Request*> requests;
  for (int i = 0; i < count; ++i) {
    sent[static_cast<std::size_t>(i)] = i;
    requests.push_back(root.start(std::make_unique<BcastStep>(zero, buffer(sent[static_cast<std::size_t>(i)]))));
  }
  EXPECT_TRUE(requests[Lane::slots - 1]->complete);
  EXPECT_FALSE(requests[Lane::slots]->complete);
  EXPECT_TRUE(root.calls.has_duties());
  for (int i = 0; i < count; ++i) {
    int received = -1;
    const Request* const request = leaf.start(std::make_unique<BcastStep>(zero, buffer(received)));
    if (!request->complete) root.calls.advance();
    leaf.calls.advance();
    ASSERT_TRUE(request->complete) << i;
    ASSERT_EQ(received, i);
  }
  EXPECT_FALSE(root.calls.any());
  for (const Request* request : requests) EXPECT_TRUE(request->complete);
}

TEST_F(LaneCallsTest, many_open_ones_are_a_duty) {
  for (std::uint64_t i = 1; i < Lane::long_done_interval; ++i) root.start(std::make_unique<BarrierStep>());
  EXPECT_FALSE(root.calls.has_duties());
  root.start(std::make_unique<BarrierStep>());
  EXPECT_TRUE(root.calls.has_duties());
}

TEST_F(LaneCallsTest, another_call_of_the_other_is_told_of_and_fails) {
  Request* const request = root.start(std::make_unique<BarrierStep>());
  int value = 0;
  leaf.start(std::make_unique<AllgatherStep>(buffer(value), std::nullopt, sizeof value), sizeof value);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(root.calls.advance());
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("rank 1 of the communicator is in another collective call"), std::string::npos);
  EXPECT_NE(told.find("(MPI_Allgather of 4 bytes instead of MPI_Barrier)"), std::string::npos);
  ASSERT_TRUE(request->complete);
  EXPECT_EQ(root.requests.take(request).failure, Failure::truncated);
}

TEST_F(LaneCallsTest, what_a_caller_knows_to_be_truncated_fails_after_taking_part) {
  int value = 7;
  Request* const odd = root.calls.start(root.context, root.team,
                                        {.step = std::make_unique<AllgatherStep>(buffer(value), std::nullopt, sizeof value),
                                         .kept = {},
                                         .bytes = 4,
                                         .is_truncated = true},
                                        here);
  std::array<int, 2> values{};
  const UserBuffer both{reinterpret_cast<std::byte*>(values.data()), sizeof values, Layout::contiguous(1)};
  int own = 8;
  leaf.start(std::make_unique<AllgatherStep>(buffer(own), both, sizeof own), sizeof values);
  root.calls.advance();
  EXPECT_EQ(values, (std::array{7, 8}));
  ASSERT_TRUE(odd->complete);
  EXPECT_EQ(root.requests.take(odd).failure, Failure::truncated);
}

}  // namespace
}  // namespace sluice
