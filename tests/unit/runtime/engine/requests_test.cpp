// Operations from their start to their end, what is counted of them meanwhile, and who is asked at the end.

#include "runtime/engine/requests.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

struct Host : Requests::Host {
  void end_elsewhere(Request& request) override { ended.push_back(&request); }
  void drop(Context* context) override { dropped.push_back(context); }
  std::vector<Request*> ended;
  std::vector<Context*> dropped;
};

struct RequestsTest : testing::Test {
  RequestsTest() { context.become({Peer{0}, Peer{1}}, zero); }

  Request& send(std::size_t bytes, SendMode mode = SendMode::standard, Rank to = one) {
    Request& request = *requests.new_send(context, to, tag, mode, here);
    request.bytes = bytes;
    return request;
  }
  Request& receive(std::size_t bytes) {
    Request& request = *requests.new_receive(context, one, tag, here);
    request.bytes = bytes;
    requests.enter(request);
    return request;
  }
  [[nodiscard]] const RequestCounts& counts() const { return requests.counts(); }

  LoopbackNetwork network{2};
  const Job job{one_of_two(Peer{0}, network.transport(Peer{0}), {})};
  Sleepers sleepers{&network.transport(Peer{0})};
  EngineStatistics statistics;
  Host host;
  Requests requests{job, statistics, sleepers, host};
  Context context{ContextId{1}};
};

TEST_F(RequestsTest, a_send_is_pending_until_it_is_finished) {
  Request& request = send(10);
  EXPECT_EQ(request.peer, Peer{1});
  EXPECT_EQ(counts().pending_sends, 1u);
  EXPECT_EQ(requests.sends_not_left(), 1u);
  EXPECT_EQ(requests.find(request.id), &request);
  const std::uint64_t before = requests.completions();
  requests.finish(&request);
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(counts().pending_sends, 0u);
  EXPECT_EQ(requests.completions(), before + 1);
  const RequestId id = request.id;
  requests.take(&request);
  EXPECT_EQ(requests.find(id), nullptr);
}

TEST_F(RequestsTest, a_small_message_asks_nobody_at_its_end) {
  requests.finish(&send(10));
  requests.finish(&receive(10));
  EXPECT_TRUE(host.ended.empty());
}

TEST_F(RequestsTest, what_is_held_elsewhere_is_given_back_once) {
  Request& released = receive(10);
  released.released = true;
  Request& reported = receive(10);
  reported.progress_slot = 3;
  Request& announced = receive(10);
  announced.rtrs_sent = 1;
  announced.rtr_open = true;
  Request& expected = receive(10);
  expected.way = Request::Way::write;
  expected.expected_of_peer = 10;
  const std::vector<Request*> all{&released, &reported, &announced, &expected};
  for (Request* request : all) requests.finish(request);
  EXPECT_EQ(host.ended, all);
}

TEST_F(RequestsTest, receives_longer_than_an_eager_message_are_large) {
  Request& small = receive(job.eager_limit);
  Request& large = receive(job.eager_limit + 1);
  EXPECT_LT(small.sequence, large.sequence);
  EXPECT_EQ(counts().open_receives, 2u);
  EXPECT_EQ(counts().large_receives, 1u);
  requests.finish(&small);
  EXPECT_EQ(counts().large_receives, 1u);
  requests.finish(&large);
  EXPECT_EQ(counts().large_receives, 0u);
  EXPECT_EQ(counts().open_receives, 0u);
  EXPECT_EQ(statistics.receives, 2u);
}

TEST_F(RequestsTest, nothing_is_awaited_of_what_has_left_whole) {
  Request& request = send(100);
  request.brought = 100;
  requests.note_left();
  EXPECT_EQ(requests.sends_not_left(), 0u);
  requests.finish(&request);
  EXPECT_EQ(counts().left_sends, 0u);
}

TEST_F(RequestsTest, sends_to_itself_are_told_apart) {
  Request& request = send(1, SendMode::standard, zero);
  EXPECT_EQ(counts().sends_to_self, 1u);
  requests.finish(&request);
  EXPECT_EQ(counts().sends_to_self, 0u);
}

TEST_F(RequestsTest, buffered_sends_count_until_they_have_left) {
  Request& request = send(100, SendMode::buffered);
  requests.note_buffered(request);
  EXPECT_EQ(counts().buffered_bytes, 100u);
  EXPECT_EQ(context.buffered_sends, 1u);
  requests.detach(&request);
  const RequestId id = request.id;
  requests.finish(&request);
  EXPECT_EQ(counts().buffered_bytes, 0u);
  EXPECT_EQ(context.buffered_sends, 0u);
  EXPECT_EQ(requests.find(id), nullptr) << "nobody will take it";
}

TEST_F(RequestsTest, a_released_receive_whose_outcome_was_taken_ends_by_itself) {
  Request& request = receive(10);
  request.released = true;
  requests.take(&request);
  const RequestId id = request.id;
  EXPECT_EQ(requests.find(id), &request);
  requests.finish(&request);
  EXPECT_EQ(requests.find(id), nullptr);
}

TEST_F(RequestsTest, nothing_of_an_earlier_operation_is_left_in_one_that_moves_nothing) {
  Request& before = receive(1 << 20);
  before.data = reinterpret_cast<std::byte*>(&before);
  requests.finish(&before);
  requests.take(&before);
  Request& call = *requests.new_collective(context, here);
  ASSERT_EQ(&call, &before);
  EXPECT_TRUE(call.range().empty());  // a release would close it
  EXPECT_EQ(call.bytes, 0u);
  EXPECT_GT(call.sequence, 0u);
  EXPECT_EQ(requests.open_collectives(), 1u);
  EXPECT_EQ(counts().open_receives, 0u);
  requests.finish(&call);
  EXPECT_TRUE(call.complete);
  EXPECT_EQ(requests.open_collectives(), 0u);
  EXPECT_EQ(counts().open_receives, 0u);
  EXPECT_EQ(counts().pending_sends, 0u);
  requests.take(&call);
  EXPECT_EQ(send(10).sequence, 0u);  // it is no part of a call
}

TEST_F(RequestsTest, messages_cross_when_a_large_one_was_sent_meanwhile) {
  Request& first = receive(10);
  first.way = Request::Way::read;
  first.sends_too = false;
  first.sends_before = counts().large_sends;
  requests.note_large_send(send(77));
  EXPECT_EQ(counts().last_large_send, 77u);
  requests.finish(&first);
  EXPECT_TRUE(counts().exchanges);
}

TEST_F(RequestsTest, a_retired_context_goes_with_its_last_operation) {
  Request& first = send(1);
  Request& second = receive(1);
  requests.finish(&first);
  context.retired = true;
  EXPECT_TRUE(host.dropped.empty());
  requests.finish(&second);
  EXPECT_EQ(host.dropped, std::vector<Context*>{&context});
}

}  // namespace
}  // namespace sluice
