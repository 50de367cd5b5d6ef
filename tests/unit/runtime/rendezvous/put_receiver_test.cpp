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
constexpr Peer there{0};
constexpr Peer here{1};
constexpr Tag tag{3};
constexpr std::byte before{0x5a};

class PutReceiverTest : public testing::Test, public PutReceiver::Host {
 protected:
  struct Sent {
    MessageKind kind;
    std::uint64_t subject;
    ReadyToReceive ready;
  };

  PutReceiverTest() : network_(2, {.by_hand = true}), side_(network_, here, putting()) {
    context_.become({there, here}, Rank{1});
  }
  ~PutReceiverTest() override { network_.let_helpers_go(); }

  static Config putting() {
    Config config;
    config.rendezvous = Rendezvous::putnr;
    config.eager_limit = 100;
    return config;
  }
  Request& post(std::size_t length = bytes, Rank from = Rank{0}) {
    Request& made = side_.request(Request::Kind::receive, Peer{}, std::span(data_).first(length));
    made.context = &context_;
    made.rank = from;
    made.tag = tag;
    made.sequence = ++posted_;
    context_.post(&made);
    receiver_.announce(made);
    return made;
  }
  [[nodiscard]] std::size_t count(MessageKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(sent_.begin(), sent_.end(), [kind](const Sent& one) { return one.kind == kind; }));
  }

  void send_or_queue(Peer, const MessageHeader& header, std::span<const std::byte> payload) override {
    ReadyToReceive ready;
    ASSERT_EQ(payload.size(), sizeof ready);
    std::copy(payload.begin(), payload.end(), reinterpret_cast<std::byte*>(&ready));
    sent_.push_back({header.kind, header.subject, ready});
  }
  void send_control(Peer, MessageKind kind, std::uint64_t subject) override { sent_.push_back({kind, subject, {}}); }
  void finish(Request& receive) override {
    receiver_.leave(receive);
    side_.finish(receive);
  }
  void note_match(Request&) override {}
  [[nodiscard]] bool awaits_matches() const override { return awaits_matches_; }
  void tell_choice(const Request&, trace::Protocol, trace::Reason) override {}

  std::vector<std::byte> data_ = std::vector<std::byte>(bytes, before);
  Context context_{ContextId{5}};
  ModelAdapters network_;
  RdmaSide side_;
  std::vector<PeerNumbers> numbers_ = std::vector<PeerNumbers>(2);
  PutReceiver receiver_{*this, {side_.job, side_.way, side_.transfers, numbers_, side_.statistics}};
  std::vector<Sent> sent_;
  std::uint64_t posted_ = 0;
  bool awaits_matches_ = false;
};

TEST_F(PutReceiverTest, a_receive_that_names_its_sender_is_announced_with_its_memory) {
  numbers_[0].arrived = 4;
  Request& receive = post();
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].kind, MessageKind::rtr);
  EXPECT_EQ(sent_[0].ready.capacity, bytes);
  EXPECT_EQ(sent_[0].ready.seen, 4u);
  EXPECT_EQ(sent_[0].ready.address, reinterpret_cast<std::uint64_t>(data_.data()));
  EXPECT_NE(data_.back(), before) << "the byte that tells the end";
  EXPECT_TRUE(receive.announced);
  EXPECT_EQ(receiver_.announced(), 1u);
}

TEST_F(PutReceiverTest, others_are_not_announced) {
  post(100);
  post(bytes, any_source);
  EXPECT_TRUE(sent_.empty());
  context_.become({there, here}, Rank{1});
  awaits_matches_ = true;
  post();
  EXPECT_TRUE(sent_.empty());
  EXPECT_FALSE(receiver_.has_work());
}

TEST_F(PutReceiverTest, a_receive_behind_one_that_is_not_announced_and_accepts_the_same_is_not_either) {
  post(100);
  post();
  EXPECT_TRUE(sent_.empty());
}

TEST_F(PutReceiverTest, of_receives_into_one_buffer_one_at_a_time_is_announced) {
  Request& first = post();
  Request& second = post();
  Request& part = post(bytes / 2);
  EXPECT_TRUE(first.announced);
  EXPECT_FALSE(second.announced);
  EXPECT_FALSE(part.announced);
  EXPECT_EQ(sent_.size(), 1u);
  data_.back() = std::byte{1};
  EXPECT_TRUE(receiver_.work());
  EXPECT_TRUE(side_.is_finished(first));
  EXPECT_FALSE(side_.is_finished(second));
}

TEST_F(PutReceiverTest, a_changed_last_byte_ends_the_receive) {
  Request& receive = post();
  EXPECT_FALSE(receiver_.work());
  data_.back() = std::byte{1};
  EXPECT_TRUE(receiver_.work());
  EXPECT_TRUE(side_.is_finished(receive));
  EXPECT_EQ(receive.limit, bytes);
  EXPECT_EQ(context_.find_posted(Rank{0}, tag), nullptr);
  EXPECT_FALSE(receiver_.has_work());
  EXPECT_EQ(side_.statistics.last_bytes_seen, 1u);
}

TEST_F(PutReceiverTest, a_shorter_message_leaves_the_last_byte_as_it_was) {
  Request& receive = post();
  receiver_.on_put_end(receive, {bytes / 2});
  EXPECT_TRUE(side_.is_finished(receive));
  EXPECT_EQ(receive.limit, bytes / 2);
  EXPECT_EQ(data_.back(), before);
}

TEST_F(PutReceiverTest, a_message_that_matches_it_ends_the_announcement) {
  Request& receive = post();
  receiver_.before_matching(there, 1);
  EXPECT_TRUE(receive.announced) << "its sender knew of it";
  receiver_.leave(receive);
  EXPECT_FALSE(receive.announced);
  EXPECT_EQ(data_.back(), before);
  EXPECT_EQ(receiver_.announced(), 0u);
}

TEST_F(PutReceiverTest, what_a_message_crossed_is_announced_again_so_many_times) {
  Request& receive = post();
  for (std::size_t times = 1; times < most_announcements; ++times) {
    receiver_.before_matching(there, 0);
    EXPECT_FALSE(receive.announced);
    EXPECT_EQ(data_.back(), before);
    EXPECT_TRUE(receiver_.has_work());
    receiver_.announce_again();
    EXPECT_TRUE(receive.announced);
    EXPECT_EQ(sent_.back().ready.seen, times);
  }
  receiver_.before_matching(there, 0);
  receiver_.announce_again();
  EXPECT_FALSE(receive.announced);
  EXPECT_FALSE(receiver_.has_work());
  EXPECT_EQ(count(MessageKind::rtr), most_announcements);
  EXPECT_EQ(numbers_[0].arrived, std::uint64_t{most_announcements});
}

TEST_F(PutReceiverTest, a_receive_that_was_written_to_is_over_before_a_message_behind_it_is_matched) {
  Request& receive = post();
  data_.back() = std::byte{1};
  receiver_.before_matching(there, 0);
  EXPECT_TRUE(side_.is_finished(receive));
}

TEST_F(PutReceiverTest, one_that_is_cancelled_is_over_when_its_sender_has_answered) {
  Request& receive = post();
  receiver_.cancel(receive);
  receiver_.cancel(receive);
  EXPECT_EQ(count(MessageKind::withdraw), 1u);
  EXPECT_EQ(receiver_.withdrawals(), 1u);
  EXPECT_FALSE(side_.is_finished(receive));
  receiver_.on_withdrawn(there, static_cast<std::uint64_t>(receive.id));
  EXPECT_TRUE(side_.is_finished(receive));
  EXPECT_TRUE(receive.cancelled);
  EXPECT_EQ(data_.back(), before);
  EXPECT_EQ(receiver_.withdrawals(), 0u);
}

TEST_F(PutReceiverTest, one_that_is_not_announced_is_cancelled_at_once) {
  Request& receive = post(100);
  receiver_.cancel(receive);
  EXPECT_TRUE(receive.cancelled);
  EXPECT_TRUE(sent_.empty());
}

TEST_F(PutReceiverTest, nothing_is_announced_to_a_sender_that_was_asked_for_all_of_them) {
  Request& first = post();
  receiver_.withdraw(first);
  EXPECT_EQ(sent_.back().subject, every_receive);
  post();
  EXPECT_EQ(count(MessageKind::rtr), 1u);
  receiver_.on_withdrawn(there, every_receive);
  EXPECT_FALSE(first.announced);
  receiver_.announce_again();
  EXPECT_FALSE(first.announced) << "it is wanted for something else";
}

}  // namespace
}  // namespace sluice
