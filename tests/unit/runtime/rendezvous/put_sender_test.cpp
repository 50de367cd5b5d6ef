// PutSender without an engine: which messages are written, which are sent, and in which order.

#include "runtime/rendezvous/put_sender.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "tests/unit/support/rdma_side.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 10'000;
constexpr Peer self{0};
constexpr Tag tag{3};
constexpr Peer there{1};

class PutSenderTest : public testing::Test, public PutSender::Host {
 protected:
  explicit PutSenderTest(const AdapterKnobs& knobs = {}, std::size_t wait_us = 1'000'000)
      : network_(2, by_hand(knobs)), side_(network_, self, putting(wait_us)) {}
  ~PutSenderTest() override { network_.let_helpers_go(); }

  static AdapterKnobs by_hand(AdapterKnobs knobs) {
    knobs.by_hand = true;
    return knobs;
  }
  static Config putting(std::size_t wait_us) {
    Config config;
    config.rendezvous = Rendezvous::putnr;
    config.eager_limit = 100;
    config.rtr_wait = wait_us;
    return config;
  }

  Request& send(std::size_t length = bytes, Tag with = tag) {
    Request& made = side_.request(Request::Kind::send, there, std::span(data_).first(length));
    made.tag = with;
    if (sender_.goes_at_once(made)) {
      send_in_turn(made);
    } else {
      sender_.transmit(made);
    }
    return made;
  }
  /// The peer has posted a receive, having seen so many messages.
  void announce(std::uint64_t seen, Tag with = tag, std::size_t capacity = bytes) {
    if (!target_) target_ = registrations_.acquire(adapter(), ByteRange::of(target_data_.data(), bytes), Backing::application);
    WireHeader header;
    header.kind = MessageKind::rtr;
    header.subject = static_cast<std::uint64_t>(side_.world.id());
    header.source = static_cast<Rank>(there);
    header.tag = with;
    sender_.on_ready_to_receive(there, header,
                                {.receiver_request = ++receives_,
                                 .address = target_.remote().address,
                                 .capacity = capacity,
                                 .seen = seen,
                                 .key = target_.remote().key,
                                 .polled = 1});
  }
  Rdma& adapter() { return *network_.transport(there).rdma(self); }
  void run() {
    do side_.poll();
    while (network_.step());
    side_.poll();
  }
  [[nodiscard]] std::size_t writes() { return network_.counts(self).writes; }

  void send_in_turn(Request& send) override {
    sent_.push_back(&send);
    ++numbers_[1].sent;
  }
  /// Of the receives that were announced, those named by the answers to withdrawals.
  [[nodiscard]] std::vector<std::uint64_t> withdrawn() const {
    std::vector<std::uint64_t> subjects;
    for (const auto& message : side_.sent.sent) {
      if (message.header.kind == MessageKind::withdrawn) subjects.push_back(message.header.subject);
    }
    return subjects;
  }

  std::vector<std::byte> data_ = std::vector<std::byte>(bytes, std::byte{7});
  std::vector<std::byte> target_data_ = std::vector<std::byte>(bytes);
  ModelAdapters network_;
  RdmaSide side_;
  std::vector<PeerNumbers> numbers_ = std::vector<PeerNumbers>(2);
  PutSender sender_{*this, {side_.job, side_.outbox, side_.matcher, side_.way, numbers_, side_.statistics}};
  JobRegistrations registrations_{nullptr, {~std::size_t{0}, ~std::size_t{0}}};
  RegisteredMemory target_;
  std::uint64_t receives_ = 0;
  std::vector<const Request*> sent_;
};

class ImpatientPutSender : public PutSenderTest {
 protected:
  ImpatientPutSender() : PutSenderTest({}, 1) {}
};

class NarrowPutSender : public PutSenderTest {
 protected:
  NarrowPutSender() : PutSenderTest({.largest_transfer = 6000, .queue_depth = 1}) {}
};

TEST_F(PutSenderTest, a_message_that_may_be_written_waits_for_its_receiver_and_others_do_not) {
  Request& small = send(10);
  EXPECT_EQ(sent_, std::vector<const Request*>{&small});
  send();
  EXPECT_EQ(sent_.size(), 1u);
  EXPECT_TRUE(sender_.needs_looks());
  EXPECT_FALSE(numbers_[1].plain());
}

TEST_F(PutSenderTest, what_comes_behind_a_message_that_waits_keeps_its_place) {
  Request& large = send();
  Request& small = send(10);
  EXPECT_TRUE(sent_.empty());
  announce(0);
  EXPECT_EQ(writes(), 1u);
  EXPECT_EQ(sent_, std::vector<const Request*>{&small});
  EXPECT_TRUE(numbers_[1].plain());
  EXPECT_EQ(large.way, Request::Way::rdma);
  run();
  EXPECT_TRUE(large.complete.load());
  EXPECT_EQ(target_data_, data_);
  EXPECT_TRUE(side_.answers().empty()) << "the receiver sees the last byte";
}

TEST_F(PutSenderTest, a_receive_that_was_announced_first_is_written_to_at_once) {
  announce(0);
  EXPECT_FALSE(numbers_[1].plain());
  send();
  EXPECT_EQ(writes(), 1u);
  EXPECT_TRUE(numbers_[1].plain());
  EXPECT_FALSE(sender_.needs_looks());
}

TEST_F(PutSenderTest, an_announcement_that_crossed_a_message_is_not_kept_but_counted) {
  send(10);
  announce(0);
  EXPECT_EQ(numbers_[1].rtrs, 1u);
  EXPECT_TRUE(numbers_[1].plain());
  announce(1);
  EXPECT_FALSE(numbers_[1].plain());
}

TEST_F(PutSenderTest, only_a_receive_that_accepts_the_message_is_taken) {
  announce(0, Tag{8});
  send(10);
  EXPECT_EQ(sent_.size(), 1u);
  EXPECT_FALSE(numbers_[1].plain()) << "another message may take it";
  send(bytes, Tag{8});
  EXPECT_EQ(writes(), 1u);
}

TEST_F(PutSenderTest, a_message_that_cannot_be_written_takes_its_receive_all_the_same) {
  announce(0);
  Request& small = send(10);
  EXPECT_EQ(sent_, std::vector<const Request*>{&small});
  EXPECT_TRUE(numbers_[1].plain());
  EXPECT_EQ(writes(), 0u);
}

TEST_F(PutSenderTest, a_message_that_ends_before_the_buffer_tells_its_end) {
  announce(0);
  send(bytes / 2);
  ASSERT_EQ(side_.answers().size(), 1u);
  EXPECT_EQ(side_.answers()[0].header.kind, MessageKind::fin);
  EXPECT_EQ(side_.answers()[0].as<PutEnd>().message_bytes, bytes / 2);
}

TEST_F(PutSenderTest, a_last_byte_that_is_there_already_is_told) {
  data_.back() = std::byte{0};
  announce(0);
  send();
  EXPECT_EQ(side_.answers().size(), 1u);
  EXPECT_EQ(side_.statistics.last_bytes_equal, 1u);
}

TEST_F(ImpatientPutSender, a_wait_in_vain_ends_and_is_not_repeated_until_something_is_announced) {
  Request& first = send();
  EXPECT_TRUE(sent_.empty());
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  EXPECT_TRUE(sender_.work());
  EXPECT_EQ(sent_, std::vector<const Request*>{&first});
  EXPECT_FALSE(sender_.has_work());
  send();
  EXPECT_EQ(sent_.size(), 2u);
  announce(0);
  send();
  EXPECT_EQ(sent_.size(), 2u) << "it is worth waiting again";
}

TEST_F(NarrowPutSender, a_message_behind_a_write_goes_when_that_is_posted_whole) {
  announce(0);
  Request& written = send();
  Request& small = send(10);
  EXPECT_TRUE(sent_.empty());
  EXPECT_FALSE(sender_.needs_looks()) << "the adapter tells when there is room";
  run();
  EXPECT_EQ(sent_, std::vector<const Request*>{&small});
  EXPECT_TRUE(written.complete.load());
}

TEST_F(PutSenderTest, a_receive_that_is_taken_back_is_not_written_to) {
  announce(0);
  sender_.on_withdraw(there, receives_);
  EXPECT_EQ(withdrawn(), std::vector{receives_});
  send();
  EXPECT_EQ(writes(), 0u);
}

TEST_F(PutSenderTest, who_takes_all_back_is_not_waited_for) {
  Request& waiting = send();
  sender_.on_withdraw(there, every_receive);
  EXPECT_EQ(sent_, std::vector<const Request*>{&waiting});
}

TEST_F(NarrowPutSender, the_answer_to_a_withdrawal_comes_behind_what_is_being_written) {
  announce(0);
  send();
  sender_.on_withdraw(there, every_receive);
  EXPECT_TRUE(withdrawn().empty());
  run();
  EXPECT_EQ(withdrawn(), std::vector{every_receive});
}

TEST(ReadyFault, memory_and_counts_of_an_announced_receive_are_possible) {
  const ReadyToReceive good{.address = 4096, .capacity = 100, .seen = 3};
  EXPECT_EQ(ready_fault(good, 3, 0), nullptr);
  EXPECT_NE(ready_fault({.address = 4096, .capacity = 0, .seen = 3}, 3, 0), nullptr);
  EXPECT_NE(ready_fault({.address = ~std::uint64_t{0} - 98, .capacity = 100, .seen = 3}, 3, 0), nullptr);
  EXPECT_NE(ready_fault({.address = 4096, .capacity = 100, .seen = 4}, 3, 0), nullptr);
  EXPECT_NE(ready_fault(good, 3, max_open_rtrs), nullptr);
}

}  // namespace
}  // namespace sluice
