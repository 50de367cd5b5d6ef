// PutReceiver without an engine: what is announced, and what ends that.

#include "runtime/rendezvous/put_receiver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/engine/matching.hpp"
#include "tests/unit/support/rdma_side.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 10'000;
constexpr Tag tag{3};
constexpr Peer there{0};
constexpr Peer self{1};
constexpr std::byte before{0x5a};

class PutReceiverTest : public testing::Test {
 protected:
  PutReceiverTest() : network_(2, {.by_hand = true}), side_(network_, self, putting()) {
    side_.above.on_end = [this](Request& receive) {
      receiver_.leave(receive);
      if (receive.rdma) side_.transfers.end(receive);
    };
  }
  ~PutReceiverTest() override { network_.let_helpers_go(); }

  static Config putting() {
    Config config;
    config.rendezvous = Rendezvous::putnr;
    config.eager_limit = 100;
    return config;
  }
  Request& post(std::size_t length = bytes, Rank from = Rank{0}) {
    Request& made = side_.request(Request::Kind::receive, there, std::span(data_).first(length));
    made.rank = from;
    side_.requests.enter(made);
    side_.world.post(&made);
    receiver_.send_rtr(made);
    return made;
  }
  [[nodiscard]] const std::vector<RecordingTransport::Sent>& sent() const { return side_.sent.sent; }
  [[nodiscard]] std::size_t count(MessageKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(sent().begin(), sent().end(), [kind](const auto& one) { return one.header.kind == kind; }));
  }

  std::vector<std::byte> data_ = std::vector<std::byte>(bytes, before);
  ModelAdapters network_;
  RdmaSide side_;
  std::vector<PeerNumbers> numbers_ = std::vector<PeerNumbers>(2);
  PutReceiver receiver_{{side_.job, side_.outbox, side_.requests, side_.causality, side_.matches, side_.way, side_.transfers,
                         numbers_, side_.statistics}};
};

TEST_F(PutReceiverTest, a_receive_that_names_its_sender_is_announced_with_its_memory) {
  numbers_[0].arrived = 4;
  Request& receive = post();
  ASSERT_EQ(sent().size(), 1u);
  EXPECT_EQ(sent()[0].header.kind, MessageKind::rtr);
  EXPECT_EQ(sent()[0].as<ReadyToReceive>().capacity, bytes);
  EXPECT_EQ(sent()[0].as<ReadyToReceive>().seen, 4u);
  EXPECT_EQ(sent()[0].as<ReadyToReceive>().address, reinterpret_cast<std::uint64_t>(data_.data()));
  EXPECT_NE(data_.back(), before) << "the byte that tells the end";
  EXPECT_TRUE(receive.rtr_open);
  EXPECT_EQ(receiver_.open_rtrs(), 1u);
}

TEST_F(PutReceiverTest, others_are_not_announced) {
  post(100);
  post(bytes, any_source);
  EXPECT_TRUE(sent().empty());
  EXPECT_FALSE(receiver_.has_work());
}

TEST_F(PutReceiverTest, while_a_released_receive_has_no_message_none_is_announced) {
  Request& released = side_.request(Request::Kind::receive, there, std::span(data_).first(100));
  released.unknown = true;
  side_.causality.add(released);
  post();
  EXPECT_TRUE(sent().empty());
  EXPECT_FALSE(receiver_.has_work());
}

TEST_F(PutReceiverTest, a_receive_behind_one_that_is_not_announced_and_accepts_the_same_is_not_either) {
  post(100);
  post();
  EXPECT_TRUE(sent().empty());
}

TEST_F(PutReceiverTest, of_receives_into_one_buffer_one_at_a_time_is_announced) {
  Request& first = post();
  Request& second = post();
  Request& part = post(bytes / 2);
  EXPECT_TRUE(first.rtr_open);
  EXPECT_FALSE(second.rtr_open);
  EXPECT_FALSE(part.rtr_open);
  EXPECT_EQ(sent().size(), 1u);
  data_.back() = std::byte{1};
  EXPECT_TRUE(receiver_.work());
  EXPECT_TRUE(first.complete.load());
  EXPECT_FALSE(second.complete.load());
}

TEST_F(PutReceiverTest, a_changed_last_byte_ends_the_receive) {
  Request& receive = post();
  EXPECT_FALSE(receiver_.work());
  data_.back() = std::byte{1};
  EXPECT_TRUE(receiver_.work());
  EXPECT_TRUE(receive.complete.load());
  EXPECT_EQ(receive.limit, bytes);
  EXPECT_EQ(side_.world.find_posted(Rank{0}, tag), nullptr);
  EXPECT_FALSE(receiver_.has_work());
  EXPECT_EQ(side_.statistics.last_bytes_seen, 1u);
}

TEST_F(PutReceiverTest, a_shorter_message_leaves_the_last_byte_as_it_was) {
  Request& receive = post();
  receiver_.on_put_end(receive, {bytes / 2});
  EXPECT_TRUE(receive.complete.load());
  EXPECT_EQ(receive.limit, bytes / 2);
  EXPECT_EQ(data_.back(), before);
}

TEST_F(PutReceiverTest, a_message_that_matches_it_ends_the_announcement) {
  Request& receive = post();
  receiver_.before_matching(there, 1);
  EXPECT_TRUE(receive.rtr_open) << "its sender knew of it";
  receiver_.leave(receive);
  EXPECT_FALSE(receive.rtr_open);
  EXPECT_EQ(data_.back(), before);
  EXPECT_EQ(receiver_.open_rtrs(), 0u);
}

TEST_F(PutReceiverTest, what_a_message_crossed_is_announced_again_so_many_times) {
  Request& receive = post();
  for (std::size_t times = 1; times < max_rtrs_each; ++times) {
    receiver_.before_matching(there, 0);
    EXPECT_FALSE(receive.rtr_open);
    EXPECT_EQ(data_.back(), before);
    EXPECT_TRUE(receiver_.has_work());
    receiver_.resend_rtrs();
    EXPECT_TRUE(receive.rtr_open);
    EXPECT_EQ(sent().back().as<ReadyToReceive>().seen, times);
  }
  receiver_.before_matching(there, 0);
  receiver_.resend_rtrs();
  EXPECT_FALSE(receive.rtr_open);
  EXPECT_FALSE(receiver_.has_work());
  EXPECT_EQ(count(MessageKind::rtr), max_rtrs_each);
  EXPECT_EQ(numbers_[0].arrived, std::uint64_t{max_rtrs_each});
}

TEST_F(PutReceiverTest, a_receive_that_was_written_to_is_over_before_a_message_behind_it_is_matched) {
  Request& receive = post();
  data_.back() = std::byte{1};
  receiver_.before_matching(there, 0);
  EXPECT_TRUE(receive.complete.load());
}

TEST_F(PutReceiverTest, one_that_is_cancelled_is_over_when_its_sender_has_answered) {
  Request& receive = post();
  receiver_.cancel(receive);
  receiver_.cancel(receive);
  EXPECT_EQ(count(MessageKind::withdraw), 1u);
  EXPECT_EQ(receiver_.withdrawals(), 1u);
  EXPECT_FALSE(receive.complete.load());
  receiver_.on_withdrawn(there, static_cast<std::uint64_t>(receive.id));
  EXPECT_TRUE(receive.complete.load());
  EXPECT_TRUE(receive.cancelled);
  EXPECT_EQ(data_.back(), before);
  EXPECT_EQ(receiver_.withdrawals(), 0u);
}

TEST_F(PutReceiverTest, one_that_is_not_announced_is_cancelled_at_once) {
  Request& receive = post(100);
  receiver_.cancel(receive);
  EXPECT_TRUE(receive.cancelled);
  EXPECT_TRUE(sent().empty());
}

TEST_F(PutReceiverTest, nothing_is_announced_to_a_sender_that_was_asked_for_all_of_them) {
  Request& first = post();
  receiver_.withdraw(first);
  EXPECT_EQ(sent().back().header.subject, every_receive);
  post();
  EXPECT_EQ(count(MessageKind::rtr), 1u);
  receiver_.on_withdrawn(there, every_receive);
  EXPECT_FALSE(first.rtr_open);
  receiver_.resend_rtrs();
  EXPECT_FALSE(first.rtr_open) << "it is wanted for something else";
}

}  // namespace
}  // namespace sluice
