// Messages and receives that meet, in either order, and what the matcher asks of others.

#include "runtime/engine/matcher.hpp"

#include <gtest/gtest.h>

#include "runtime/collective/collective_tags.hpp"
#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

struct MatcherTest : testing::Test {
  Request& receive(std::size_t bytes, Rank from = one) {
    Request& request = *requests.new_receive(world, from, tag, here);
    request.data = got.data();
    request.bytes = bytes;
    requests.enter(request);
    return request;
  }
  static WireHeader header(MessageKind kind, std::size_t payload_bytes) {
    WireHeader made;
    made.kind = kind;
    made.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    made.subject = 1;
    made.source = one;
    made.tag = tag;
    return made;
  }
  void eager(std::span<const std::byte> bytes) { matcher.on_eager(Peer{1}, header(MessageKind::eager, bytes.size()), bytes); }
  void announcement(std::size_t message_bytes) {
    const ReadyToSend rts{.message_bytes = message_bytes, .sender_request = 9};
    matcher.on_rts(Peer{1}, header(MessageKind::rts, sizeof rts), std::as_bytes(std::span(&rts, 1)));
  }

  LoopbackNetwork network{2};
  const Job job{one_of_two(Peer{0}, network.transport(Peer{0}), {})};
  Sleepers sleepers{&network.transport(Peer{0})};
  EngineStatistics statistics;
  RoomsAbove others;
  MatchTrace matches{job.config};
  Outbox outbox{job, sleepers, matches, others};
  Requests requests{job, statistics, sleepers, others};
  Causality causality{others};
  Matcher matcher{job, requests, outbox, causality, matches, others};
  Context& world = matcher.adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  std::vector<std::byte> data = std::vector<std::byte>(100, std::byte{7});
  std::vector<std::byte> got = std::vector<std::byte>(100);
};

TEST_F(MatcherTest, an_eager_message_completes_the_receive_that_waits) {
  Request& request = receive(100);
  EXPECT_FALSE(matcher.post(request));
  eager(data);
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(got, data);
  EXPECT_TRUE(others.left.empty()) << "it was never announced";
}

TEST_F(MatcherTest, an_eager_message_waits_for_its_receive) {
  eager(data);
  data.assign(100, std::byte{8});  // it was copied
  Request& request = receive(100, any_source);
  EXPECT_TRUE(matcher.post(request));
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(request.rank, one);
  EXPECT_EQ(got, std::vector<std::byte>(100, std::byte{7}));
}

TEST_F(MatcherTest, what_is_too_long_is_truncated) {
  Request& request = receive(10);
  matcher.post(request);
  eager(data);
  EXPECT_EQ(request.failure, Failure::truncated);
  EXPECT_EQ(request.limit, 10u);
  EXPECT_EQ(got[10], std::byte{0});
}

TEST_F(MatcherTest, an_announcement_begins_a_transfer_on_either_side_of_its_receive) {
  Request& first = receive(100);
  matcher.post(first);
  announcement(100);
  announcement(50);
  Request& second = receive(100);
  EXPECT_TRUE(matcher.post(second));
  ASSERT_EQ(others.begun.size(), 2u);
  EXPECT_EQ(others.begun[0].first, &first);
  EXPECT_EQ(others.begun[1].first, &second);
  EXPECT_EQ(second.limit, 50u);
  EXPECT_EQ(second.remote_request, 9u);
  EXPECT_FALSE(second.complete);
}

TEST_F(MatcherTest, a_receive_that_was_announced_is_so_no_longer) {
  Request& request = receive(100);
  request.rtrs_sent = 1;
  request.rtr_open = true;
  matcher.post(request);
  eager(data);
  EXPECT_EQ(others.left, std::vector<Request*>{&request});
}

TEST_F(MatcherTest, messages_of_a_context_may_come_before_its_group) {
  WireHeader early = header(MessageKind::eager, data.size());
  early.subject = 2;
  matcher.on_eager(Peer{1}, early, data);
  Context& context = matcher.adopt(ContextId{2}, {Peer{0}, Peer{1}}, zero);
  EXPECT_NE(context.find_unexpected(one, tag), nullptr);
}

TEST_F(MatcherTest, what_is_streamed_is_begun_only_for_a_receive_that_holds_it_all) {
  Request& request = receive(50);
  matcher.post(request);
  EXPECT_EQ(matcher.begin(Peer{1}, header(MessageKind::eager, 100), {}).subject, 0u);
  EXPECT_NE(matcher.begin(Peer{1}, header(MessageKind::eager, 50), {}).subject, 0u);
  EXPECT_TRUE(request.matched);
  EXPECT_EQ(request.way, Request::Way::stream);
}

using MatcherDeathTest = MatcherTest;

TEST_F(MatcherDeathTest, a_message_of_a_rank_that_its_sender_has_not_ends_the_job) {
  WireHeader foreign = header(MessageKind::eager, 0);
  foreign.source = zero;
  EXPECT_DEATH(matcher.on_eager(Peer{1}, foreign, {}), "of a rank that its sender does not have");
}

TEST_F(MatcherDeathTest, a_collective_call_that_has_returned_waits_for_no_message_of_another_one) {
  const CollectiveTags tags(5, 100);
  Request& request = receive(100);
  request.tag = tags.of(0);
  request.released = true;
  matcher.post(request);
  WireHeader other = header(MessageKind::eager, data.size());
  other.tag = CollectiveTags(5, 101).of(0);
  matcher.on_eager(Peer{1}, other, data);  // the program may send what it likes
  world.is_channel = true;
  other.tag = CollectiveTags(6, 101).of(0);
  matcher.on_eager(Peer{1}, other, data);  // of a later call
  other.tag = CollectiveTags(5, 101).of(0);
  EXPECT_DEATH(matcher.on_eager(Peer{1}, other, data), "is in another collective call");
  request.released = false;
  matcher.on_eager(Peer{1}, other, data);  // whoever waits in its call is told there
}

}  // namespace
}  // namespace sluice
