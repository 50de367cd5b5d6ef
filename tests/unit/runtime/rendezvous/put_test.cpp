// putnr and put on the model of an adapter: what is exchanged, what becomes of the last byte, and who falls back when.

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/registration/registration_cache.hpp"
#include "tests/unit/support/rdma_pair.hpp"

namespace sluice {
namespace {

constexpr Rank zero{0};
constexpr Peer sender_side{0};
constexpr Peer receiver_side{1};
constexpr std::byte untouched{0x5a};
/// Nobody is late in these tests unless they say so.
constexpr std::size_t long_wait = 3'600'000'000;

std::size_t taken(const RdmaPair& pair, Rendezvous protocol) {
  return pair.receiver.statistics().rdma[static_cast<std::size_t>(protocol)];
}

class Put : public testing::TestWithParam<Rendezvous> {
 protected:
  static Config patient() {
    Config config = RdmaPair::forced(GetParam());
    config.rtr_wait = long_wait;
    return config;
  }
  static Config impatient() {
    Config config = RdmaPair::forced(GetParam());
    config.rtr_wait = 0;
    return config;
  }
  static std::vector<std::byte> ending_with(std::byte last, std::size_t bytes = 20'000) {
    auto data = pattern(bytes);
    data.back() = last;
    return data;
  }
  static Rendezvous fallback() { return GetParam() == Rendezvous::put ? Rendezvous::get : Rendezvous::getcqe; }
};
INSTANTIATE_TEST_SUITE_P(Protocols, Put, testing::Values(Rendezvous::putnr, Rendezvous::put),
                         [](const auto& instance) { return name_of(instance.param); });

// --- what is exchanged -------------------------------------------------------------------------------------------------

TEST_P(Put, a_message_takes_one_control_message_and_one_more_where_it_ends_with_the_byte_that_was_there) {
  constexpr std::size_t messages = 600;
  RdmaPair pair({}, patient());
  for (std::size_t i = 0; i < messages; ++i) {
    auto sent = ending_with(static_cast<std::byte>(i), 600);
    std::vector<std::byte> got(sent.size());
    pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
    ASSERT_EQ(got, sent);
  }
  pair.run_out();
  const AdapterCounts by_sender = pair.network.counts(sender_side);
  const std::size_t equal = pair.sender.statistics().last_bytes_equal;
  EXPECT_GT(equal, 0u);
  EXPECT_LT(equal, messages / 60);
  EXPECT_EQ(pair.network.counts(receiver_side).of(MessageKind::rtr), messages);
  EXPECT_EQ(by_sender.of(MessageKind::fin), equal);
  EXPECT_EQ(pair.control_messages(), messages + equal);
  EXPECT_EQ(by_sender.writes, messages);
  EXPECT_EQ(taken(pair, GetParam()), messages);
  EXPECT_EQ(pair.receiver.statistics().last_bytes_seen, messages - equal);
  EXPECT_EQ(pair.network.counts(receiver_side).notifications, 0u);
  pair.counts(GetParam(), "any").print();
}

TEST(Putnr, messages_that_end_with_the_constant_take_two_control_messages_each) {
  constexpr std::size_t messages = 100;
  Config config = RdmaPair::forced(Rendezvous::putnr);
  config.rtr_wait = long_wait;
  RdmaPair pair({}, config);
  std::vector<std::byte> sent(600);
  std::vector<std::byte> got(sent.size());
  for (std::size_t i = 0; i < messages; ++i) pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_EQ(pair.control_messages(), 2 * messages);
  pair.counts(Rendezvous::putnr, "zero").print();
}

TEST(PutOverPutnr, messages_that_all_end_alike_take_a_second_control_message_at_most_once_in_200) {
  constexpr std::size_t messages = 10'000;
  for (const std::byte last : {std::byte{0}, std::byte{0xff}, std::byte{0x3f}}) {
    Config config = RdmaPair::forced(Rendezvous::put);
    config.rtr_wait = long_wait;
    RdmaPair pair({}, config);
    std::vector<std::byte> sent(100, last);
    std::vector<std::byte> got(sent.size());
    for (std::size_t i = 0; i < messages; ++i) pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
    EXPECT_LE(pair.control_messages(), messages + messages / 200);
    EXPECT_GT(pair.control_messages(), messages);
    if (last == std::byte{0}) pair.counts(Rendezvous::put, "zero").print();
  }
}

TEST_P(Put, messages_of_one_byte_arrive_whatever_the_byte_is) {
  RdmaPair pair({}, patient());
  for (unsigned value = 0; value < 256; ++value) {
    std::vector<std::byte> sent{static_cast<std::byte>(value)};
    std::vector<std::byte> got(3, untouched);
    pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(std::span(got).subspan(1, 1)));
    EXPECT_EQ(got, (std::vector{untouched, sent[0], untouched}));
  }
  EXPECT_EQ(taken(pair, GetParam()), 256u);
}

TEST_P(Put, a_message_shorter_than_the_buffer_leaves_the_rest_as_it_was) {
  RdmaPair pair({}, patient());
  auto sent = pattern(20'000);
  std::vector<std::byte> got(30'000, untouched);
  EXPECT_EQ(pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got)).bytes, sent.size());
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got.begin()));
  EXPECT_EQ(std::count(got.begin() + 20'000, got.end(), untouched), 10'000);
  EXPECT_EQ(pair.control_messages(), 2u);
  EXPECT_EQ(taken(pair, GetParam()), 1u);
}

TEST_P(Put, nobody_looks_at_bytes_that_an_adapter_places_in_any_order) {
  RdmaPair pair({.shuffled = true}, patient());
  for (unsigned value = 0; value < 20; ++value) {
    auto sent = ending_with(static_cast<std::byte>(value), 100'000);
    std::vector<std::byte> got(sent.size());
    pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
    EXPECT_EQ(got, sent);
  }
  EXPECT_EQ(pair.receiver.statistics().last_bytes_seen, 0u);
  EXPECT_EQ(pair.control_messages(), 2 * 20u);
}

TEST_P(Put, a_send_is_done_when_its_own_adapter_says_so_and_nothing_stays_registered) {
  RdmaPair pair({.notification = 1'000'000}, patient());
  auto sent = pattern(50'000);
  std::vector<std::byte> got(sent.size());
  Request* const receive = pair.start_receive(RdmaPair::contiguous(got));
  Request* const send = pair.start_send(RdmaPair::contiguous(sent));
  ASSERT_TRUE(pair.run({&receive, 1}));
  EXPECT_EQ(got, sent);
  EXPECT_FALSE(Engine::is_complete(*send));
  pair.receiver.take(receive);
  ASSERT_TRUE(pair.run({&send, 1}));
  pair.sender.take(send);
  EXPECT_EQ(pair.network.counts(sender_side).registered + pair.network.counts(receiver_side).registered, 0u);
}

// --- who falls back ----------------------------------------------------------------------------------------------------

TEST_P(Put, wildcards_are_not_announced) {
  for (const auto& [source, tag] : {std::pair(any_source, RdmaPair::tag), std::pair(zero, any_tag)}) {
    RdmaPair pair({}, impatient());
    auto sent = pattern(20'000);
    std::vector<std::byte> got(sent.size());
    Request* const receive = pair.start_receive(RdmaPair::contiguous(got), source, tag);
    Request* const send = pair.start_send(RdmaPair::contiguous(sent));
    const std::array requests{receive, send};
    ASSERT_TRUE(pair.run(requests));
    EXPECT_EQ(got, sent);
    EXPECT_EQ(pair.receiver.take(receive).tag, RdmaPair::tag);
    pair.sender.take(send);
    EXPECT_EQ(pair.network.counts(receiver_side).of(MessageKind::rtr), 0u);
    EXPECT_EQ(taken(pair, fallback()), 1u);
  }
}

TEST_P(Put, a_receive_behind_one_that_could_match_first_is_not_announced) {
  RdmaPair pair({}, impatient());
  auto first = pattern(20'000, 1);
  auto second = pattern(20'000, 2);
  std::vector<std::byte> got_first(first.size());
  std::vector<std::byte> got_second(first.size());
  Request* const any = pair.start_receive(RdmaPair::contiguous(got_first), any_source);
  Request* const named = pair.start_receive(RdmaPair::contiguous(got_second));
  EXPECT_EQ(pair.receiver.statistics().rtrs_sent, 0u);
  Request* const send_first = pair.start_send(RdmaPair::contiguous(first));
  Request* const send_second = pair.start_send(RdmaPair::contiguous(second));
  const std::array requests{any, named, send_first, send_second};
  ASSERT_TRUE(pair.run(requests));
  EXPECT_EQ(got_first, first);
  EXPECT_EQ(got_second, second);
}

TEST_P(Put, a_receive_behind_one_that_accepts_something_else_is_announced) {
  RdmaPair pair({}, patient());
  std::vector<std::byte> elsewhere(20'000);
  pair.start_receive(RdmaPair::contiguous(elsewhere), any_source, Tag{77});
  auto sent = pattern(20'000);
  std::vector<std::byte> got(sent.size());
  pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_EQ(got, sent);
  EXPECT_EQ(taken(pair, GetParam()), 1u);
}

TEST_P(Put, a_late_receiver_finds_the_announcement_of_its_sender) {
  RdmaPair pair({}, RdmaPair::forced(GetParam()));
  auto sent = pattern(20'000);
  std::vector<std::byte> got(sent.size());
  pair.exchange_unexpected(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_EQ(got, sent);
  EXPECT_EQ(pair.network.counts(receiver_side).of(MessageKind::rtr), 0u);
  EXPECT_EQ(taken(pair, fallback()), 1u);
}

TEST_P(Put, a_peer_that_was_waited_for_in_vain_is_not_waited_for_until_it_announces_something) {
  RdmaPair pair({}, RdmaPair::forced(GetParam()));
  auto sent = pattern(20'000);
  std::vector<std::byte> got(sent.size());
  pair.exchange_unexpected(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  Request* const at_once = pair.start_send(RdmaPair::contiguous(sent));
  EXPECT_EQ(pair.network.counts(sender_side).of(MessageKind::rts), 2u);
  Request* const late = pair.start_receive(RdmaPair::contiguous(got));
  std::vector<std::byte> elsewhere(sent.size());
  Request* const early = pair.start_receive(RdmaPair::contiguous(elsewhere), zero, Tag{9});
  const std::array requests{at_once, late};
  ASSERT_TRUE(pair.run(requests));
  pair.run_out();
  Request* const put = pair.start_send(RdmaPair::contiguous(sent), Tag{9});
  Request* const waits = pair.start_send(RdmaPair::contiguous(sent));
  EXPECT_EQ(pair.network.counts(sender_side).of(MessageKind::rts), 2u);
  const std::array more{put, early};
  ASSERT_TRUE(pair.run(more));
  EXPECT_EQ(taken(pair, GetParam()), 1u);
  Request* const last = pair.start_receive(RdmaPair::contiguous(got));
  const std::array rest{waits, last};
  ASSERT_TRUE(pair.run(rest));
}

TEST_P(Put, memory_of_the_sender_that_cannot_be_registered_makes_it_announce_the_message) {
  RdmaPair pair({.refused_processes = {0}}, patient());
  auto sent = pattern(20'000);
  std::vector<std::byte> got(sent.size() + 1, untouched);
  pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got.begin()));
  EXPECT_EQ(got.back(), untouched);
  EXPECT_EQ(pair.network.counts(sender_side).of(MessageKind::rts), 1u);
}

// --- what crosses ------------------------------------------------------------------------------------------------------

Config with_small_messages(Rendezvous protocol) {
  Config config = RdmaPair::forced(protocol);
  config.eager_limit = 100;
  config.rtr_wait = long_wait;
  return config;
}

TEST_P(Put, a_small_message_takes_the_receive_that_was_announced_and_the_next_one_is_written) {
  RdmaPair pair({}, with_small_messages(GetParam()));
  auto small = pattern(10, 1);
  auto large = pattern(20'000, 2);
  std::vector<std::byte> got_small(20'000, untouched);
  std::vector<std::byte> got_large(20'000);
  Request* const first = pair.start_receive(RdmaPair::contiguous(got_small));
  Request* const second = pair.start_receive(RdmaPair::contiguous(got_large));
  pair.run_out();
  Request* const send_small = pair.start_send(RdmaPair::contiguous(small));
  Request* const send_large = pair.start_send(RdmaPair::contiguous(large));
  const std::array requests{first, second, send_small, send_large};
  ASSERT_TRUE(pair.run(requests));
  EXPECT_TRUE(std::equal(small.begin(), small.end(), got_small.begin()));
  EXPECT_EQ(std::count(got_small.begin() + 10, got_small.end(), untouched), 19'990);
  EXPECT_EQ(got_large, large);
  EXPECT_EQ(taken(pair, GetParam()), 1u);
}

TEST_P(Put, an_announcement_that_a_message_crossed_is_made_again) {
  RdmaPair pair({}, with_small_messages(GetParam()));
  auto small = pattern(10, 1);
  auto large = pattern(20'000, 2);
  std::vector<std::byte> got(20'000);
  Request* const receive = pair.start_receive(RdmaPair::contiguous(got));
  EXPECT_EQ(pair.start_send(RdmaPair::contiguous(small), Tag{9}), nullptr);  // for nobody yet
  pair.run_out();
  EXPECT_EQ(pair.receiver.statistics().rtrs_crossed, 1u);
  EXPECT_EQ(pair.receiver.statistics().rtrs_sent, 2u);
  Request* const send = pair.start_send(RdmaPair::contiguous(large));
  std::vector<std::byte> got_small(small.size());
  Request* const receive_small = pair.start_receive(RdmaPair::contiguous(got_small), Rank{0}, Tag{9});
  const std::array requests{receive, receive_small, send};
  ASSERT_TRUE(pair.run(requests));
  EXPECT_EQ(got, large);
  EXPECT_EQ(got_small, small);
  EXPECT_EQ(taken(pair, GetParam()), 1u);
}

TEST_P(Put, a_message_that_crossed_may_be_the_one_for_the_receive) {
  RdmaPair pair({}, with_small_messages(GetParam()));
  auto small = pattern(10, 1);
  auto large = pattern(20'000, 2);
  std::vector<std::byte> got_first(20'000, untouched);
  std::vector<std::byte> got_second(20'000);
  Request* const first = pair.start_receive(RdmaPair::contiguous(got_first));
  Request* const second = pair.start_receive(RdmaPair::contiguous(got_second));
  pair.start_send(RdmaPair::contiguous(small));
  Request* const send = pair.start_send(RdmaPair::contiguous(large));
  const std::array requests{first, second, send};
  ASSERT_TRUE(pair.run(requests));
  EXPECT_TRUE(std::equal(small.begin(), small.end(), got_first.begin()));
  EXPECT_EQ(got_first.back(), untouched);
  EXPECT_EQ(got_second, large);
}

TEST_P(Put, what_is_sent_behind_a_message_that_waits_for_its_receiver_does_not_overtake_it) {
  RdmaPair pair({}, with_small_messages(GetParam()));
  auto large = pattern(20'000, 1);
  auto small = pattern(10, 2);
  std::vector<std::byte> got_large(20'000);
  std::vector<std::byte> got_small(10);
  Request* const send = pair.start_send(RdmaPair::contiguous(large));
  Request* const behind = pair.start_send(RdmaPair::contiguous(small));
  EXPECT_NE(behind, nullptr);
  EXPECT_EQ(pair.network.counts(sender_side).of(MessageKind::eager), 0u);
  Request* const first = pair.start_receive(RdmaPair::contiguous(got_large));
  Request* const second = pair.start_receive(RdmaPair::contiguous(got_small));
  const std::array requests{first, second, send, behind};
  ASSERT_TRUE(pair.run(requests));
  EXPECT_EQ(got_large, large);
  EXPECT_EQ(got_small, small);
}

TEST_P(Put, what_is_sent_behind_a_message_that_has_no_room_in_the_queue_does_not_overtake_it) {
  RdmaPair pair({.largest_transfer = 1000, .queue_depth = 1}, with_small_messages(GetParam()));
  auto large = pattern(20'000, 1);
  auto small = pattern(10, 2);
  std::vector<std::byte> got_large(20'000);
  std::vector<std::byte> got_small(10);
  Request* const first = pair.start_receive(RdmaPair::contiguous(got_large));
  Request* const second = pair.start_receive(RdmaPair::contiguous(got_small));
  pair.run_out();
  Request* const send = pair.start_send(RdmaPair::contiguous(large));
  Request* const behind = pair.start_send(RdmaPair::contiguous(small));
  EXPECT_EQ(pair.network.counts(sender_side).of(MessageKind::eager), 0u);
  const std::array requests{first, second, send, behind};
  ASSERT_TRUE(pair.run(requests));
  EXPECT_EQ(got_large, large);
  EXPECT_EQ(got_small, small);
}

TEST_P(Put, a_receive_that_was_written_to_is_over_before_a_later_message_is_matched) {
  RdmaPair pair({}, with_small_messages(GetParam()));
  auto large = ending_with(std::byte{0x77});
  auto small = pattern(10, 2);
  std::vector<std::byte> got_large(large.size());
  std::vector<std::byte> got_small(10);
  Request* const first = pair.start_receive(RdmaPair::contiguous(got_large));
  Request* const second = pair.start_receive(RdmaPair::contiguous(got_small));
  pair.run_out();
  Request* const send = pair.start_send(RdmaPair::contiguous(large));
  pair.start_send(RdmaPair::contiguous(small));
  while (pair.network.step()) {  // the receiver does not look meanwhile
  }
  const std::array requests{first, second, send};
  ASSERT_TRUE(pair.run(requests));
  EXPECT_EQ(got_large, large);
  EXPECT_EQ(got_small, small);
}

TEST_P(Put, a_receive_that_was_written_to_before_it_was_cancelled_is_not_cancelled) {
  RdmaPair pair({}, patient());
  auto sent = ending_with(std::byte{0x77});
  std::vector<std::byte> got(sent.size());
  Request* const receive = pair.start_receive(RdmaPair::contiguous(got));
  pair.run_out();
  Request* const send = pair.start_send(RdmaPair::contiguous(sent));
  pair.receiver.completion().cancel(*receive);
  while (pair.network.step()) pair.sender.progress();  // the answer comes while the receiver does not look
  const std::array requests{receive, send};
  ASSERT_TRUE(pair.run(requests));
  EXPECT_FALSE(pair.receiver.take(receive).cancelled);
  EXPECT_EQ(got, sent);
}

// --- what is taken back ------------------------------------------------------------------------------------------------

TEST_P(Put, a_cancelled_receive_ends_when_its_sender_has_forgotten_it) {
  RdmaPair pair({}, patient());
  std::vector<std::byte> got(20'000, untouched);
  Request* const cancelled = pair.start_receive(RdmaPair::contiguous(got));
  pair.run_out();
  pair.receiver.completion().cancel(*cancelled);
  EXPECT_FALSE(Engine::is_complete(*cancelled));
  ASSERT_TRUE(pair.run({&cancelled, 1}));
  EXPECT_TRUE(pair.receiver.take(cancelled).cancelled);
  EXPECT_EQ(std::count(got.begin(), got.end(), untouched), 20'000);

  auto sent = pattern(20'000);
  std::vector<std::byte> next(sent.size());
  pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(next));
  EXPECT_EQ(next, sent);
  EXPECT_EQ(std::count(got.begin(), got.end(), untouched), 20'000);
}

TEST_P(Put, a_receive_that_is_being_written_to_is_not_cancelled) {
  for (const std::size_t depth : {std::size_t{1}, AdapterKnobs::unlimited}) {
    RdmaPair pair({.largest_transfer = 1000, .queue_depth = depth}, patient());
    auto sent = pattern(20'000);
    std::vector<std::byte> got(sent.size());
    Request* const receive = pair.start_receive(RdmaPair::contiguous(got));
    pair.run_out();
    Request* const send = pair.start_send(RdmaPair::contiguous(sent));
    pair.receiver.completion().cancel(*receive);
    const std::array requests{receive, send};
    ASSERT_TRUE(pair.run(requests));
    EXPECT_FALSE(pair.receiver.take(receive).cancelled);
    EXPECT_EQ(got, sent);
    pair.run_out();
  }
}

TEST_P(Put, a_receive_that_is_cancelled_while_a_message_crosses_is_over_at_once) {
  RdmaPair pair({}, with_small_messages(GetParam()));
  std::vector<std::byte> got(20'000, untouched);
  auto small = pattern(10);
  Request* const receive = pair.start_receive(RdmaPair::contiguous(got));
  pair.start_send(RdmaPair::contiguous(small), Tag{9});
  pair.receiver.completion().cancel(*receive);
  ASSERT_TRUE(pair.run({&receive, 1}));
  EXPECT_TRUE(pair.receiver.take(receive).cancelled);
  std::vector<std::byte> got_small(small.size());
  Request* const receive_small = pair.start_receive(RdmaPair::contiguous(got_small), Rank{0}, Tag{9});
  ASSERT_TRUE(pair.run({&receive_small, 1}));
  EXPECT_EQ(got_small, small);
  pair.run_out();
  pair.receiver.drain();
}

}  // namespace
}  // namespace sluice
