// RdmaWay without an engine: what it asks of one, and when, while a model of an adapter moves the bytes.

#include "runtime/rendezvous/rdma_way.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/support/rdma_side.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 10'000;
constexpr Peer sender_side{0};
constexpr Peer receiver_side{1};

class RdmaWayTest : public testing::Test {
 protected:
  explicit RdmaWayTest(const AdapterKnobs& knobs = {}, Rendezvous rendezvous = Rendezvous::getcqe)
      : network_(2, by_hand(knobs)),
        sender_(network_, sender_side, wanting(rendezvous)),
        receiver_(network_, receiver_side, wanting(rendezvous)) {
    for (std::size_t i = 0; i < bytes; ++i) sent_[i] = static_cast<std::byte>(i % 251);
  }
  ~RdmaWayTest() override { network_.let_helpers_go(); }

  static AdapterKnobs by_hand(AdapterKnobs knobs) {
    knobs.by_hand = true;
    return knobs;
  }
  static Config wanting(Rendezvous rendezvous) {
    Config config;
    config.rendezvous = rendezvous;
    config.rdrp_chunk = 1000;
    config.rdrp_outstanding = 2;
    return config;
  }

  /// The sender's announcement, and the receive as it has matched it.
  void announce() {
    send_ = &sender_.request(Request::Kind::send, receiver_side, sent_);
    ReadyToSend rts;
    sender_.way.offer(*send_, header_, rts);
    receive_ = &receiver_.request(Request::Kind::receive, sender_side, got_);
    receive_->message_bytes = receive_->limit = receive_->stop = bytes;
    receive_->rts_flags = header_.flags;
    receive_->remote_address = rts.sender_address;
    receive_->rts_key = rts.sender_key;
    receive_->rts_last_byte = rts.last_byte;
  }
  /// The receiver's clearance reaches the sender.
  void clear() {
    const auto clear = receiver_.answers().at(0).as<ClearToSend>();
    sender_.way.cleared(*send_, clear);
  }
  void run() {
    do {
      sender_.poll();
      receiver_.poll();
    } while (network_.step());
    sender_.poll();
    receiver_.poll();
  }

  std::vector<std::byte> sent_ = std::vector<std::byte>(bytes);
  std::vector<std::byte> got_ = std::vector<std::byte>(bytes);
  WireHeader header_;
  ModelAdapters network_;
  RdmaSide sender_;
  RdmaSide receiver_;
  Request* send_ = nullptr;
  Request* receive_ = nullptr;
};

class FullQueues : public RdmaWayTest {
 protected:
  FullQueues() : RdmaWayTest({.largest_transfer = 3000, .queue_depth = 1}) {}
};

class NoMemoryAtReceiver : public RdmaWayTest {
 protected:
  NoMemoryAtReceiver() : RdmaWayTest({.refused_processes = {1}}) {}
};

class NoMemoryAtSender : public RdmaWayTest {
 protected:
  NoMemoryAtSender() : RdmaWayTest({.refused_processes = {0}}) {}
};

class Gets : public RdmaWayTest {
 protected:
  Gets() : RdmaWayTest({.notification = 1'000'000}, Rendezvous::get) {}
};

class Chunks : public RdmaWayTest {
 protected:
  Chunks() : RdmaWayTest({}, Rendezvous::rdrp) {}
};

TEST_F(RdmaWayTest, what_was_offered_with_its_memory_is_read_and_its_sender_told) {
  announce();
  EXPECT_EQ(header_.flags, flag_rdma | flag_registered);
  ASSERT_TRUE(receiver_.way.begin(*receive_, 0));
  EXPECT_EQ(receive_->way, Request::Way::rdma);
  EXPECT_TRUE(receiver_.answers().empty()) << "before the bytes are there";
  run();
  EXPECT_EQ(got_, sent_);
  ASSERT_EQ(receiver_.answers().size(), 1u);
  EXPECT_EQ(receiver_.answers()[0].header.kind, MessageKind::fin);
  EXPECT_TRUE(receive_->complete.load());
  EXPECT_EQ(receiver_.statistics.rdma[static_cast<std::size_t>(Rendezvous::getcqe)], 1u);
}

TEST_F(RdmaWayTest, a_message_without_an_offer_or_with_gaps_here_goes_another_way) {
  announce();
  receive_->rts_flags = 0;
  EXPECT_EQ(receiver_.way.bid(*receive_, 0).moves, Bid::impossible);
  receive_->rts_flags = header_.flags;
  receive_->gaps = true;
  EXPECT_EQ(receiver_.way.bid(*receive_, 0).moves, Bid::impossible);
  receive_->gaps = false;
  receive_->peer = receiver_side;
  EXPECT_EQ(receiver_.way.bid(*receive_, 0).moves, Bid::impossible) << "of this process itself";
  EXPECT_EQ(receive_->way, Request::Way::undecided);
  EXPECT_FALSE(receive_->rdma);
}

TEST_F(NoMemoryAtSender, it_offers_to_write_and_refuses_when_it_is_asked_to) {
  announce();
  EXPECT_EQ(header_.flags, flag_rdma);
  ASSERT_TRUE(receiver_.way.begin(*receive_, 0));
  ASSERT_EQ(receiver_.answers().size(), 1u);
  EXPECT_EQ(receiver_.answers()[0].header.kind, MessageKind::cts);
  clear();
  ASSERT_EQ(sender_.answers().size(), 1u);
  EXPECT_EQ(sender_.answers()[0].header.kind, MessageKind::refuse);
  EXPECT_EQ(send_->way, Request::Way::undecided);

  receiver_.way.refused(*receive_, 0);
  EXPECT_EQ(receive_->way, Request::Way::stream);
  EXPECT_EQ(receiver_.begun_again, std::vector<const Request*>{receive_});
  EXPECT_FALSE(receive_->rdma);
  EXPECT_EQ(receiver_.statistics.rdma[static_cast<std::size_t>(Rendezvous::rput)], 0u);
}

TEST_F(NoMemoryAtReceiver, the_message_goes_another_way_and_that_is_counted) {
  announce();
  EXPECT_FALSE(receiver_.way.begin(*receive_, 0));
  EXPECT_EQ(receive_->way, Request::Way::undecided);
  EXPECT_EQ(receiver_.fallbacks(Fallback::registration_refused), 1u);
}

TEST_F(FullQueues, segments_wait_for_room_and_are_posted_when_there_is_some) {
  announce();
  ASSERT_TRUE(receiver_.way.begin(*receive_, 0));
  EXPECT_TRUE(receiver_.way.has_work());
  EXPECT_FALSE(receiver_.way.work()) << "the queue is full";
  EXPECT_FALSE(receiver_.way.has_room());
  EXPECT_EQ(receive_->rdma->posted, 3000u);
  run();
  EXPECT_FALSE(receiver_.way.has_work());
  EXPECT_EQ(got_, sent_);
  EXPECT_TRUE(receive_->complete.load());
  EXPECT_EQ(network_.counts(receiver_side).reads, 4u);
}

TEST_F(Gets, the_last_byte_ends_the_receive_and_the_transfer_stays_until_the_adapter_is_done) {
  announce();
  ASSERT_TRUE(receiver_.way.begin(*receive_, 0));
  EXPECT_TRUE(receiver_.way.has_work()) << "somebody has to look";
  while (!receive_->complete.load()) {
    ASSERT_TRUE(network_.step());
    receiver_.poll();
  }
  EXPECT_EQ(got_, sent_);
  EXPECT_EQ(receiver_.statistics.last_bytes_seen, 1u);
  EXPECT_FALSE(receiver_.way.has_work());
  EXPECT_TRUE(receiver_.transfers.outlive_requests());
  run();
  EXPECT_FALSE(receiver_.transfers.outlive_requests());
  EXPECT_EQ(receiver_.answers().size(), 1u) << "its end is told once";
}

TEST_F(Chunks, so_many_are_under_way_at_a_time_and_what_is_there_is_known) {
  announce();
  ASSERT_TRUE(receiver_.way.begin(*receive_, 0));
  std::size_t in_place = 0;
  std::size_t steps = 0;
  while (!receive_->complete.load()) {
    ASSERT_TRUE(network_.step());
    receiver_.poll();
    EXPECT_GE(receive_->offset, in_place);
    if (receive_->offset != in_place) ++steps;
    in_place = receive_->offset;
    EXPECT_TRUE(std::equal(got_.begin(), got_.begin() + static_cast<std::ptrdiff_t>(in_place), sent_.begin()));
  }
  EXPECT_EQ(steps, 10u);
  EXPECT_EQ(network_.counts(receiver_side).max_reads, 2u);
}

TEST_F(RdmaWayTest, a_sender_that_is_to_write_says_so_behind_its_data) {
  announce();
  receive_->rts_flags = flag_rdma;
  ASSERT_TRUE(receiver_.way.begin(*receive_, 0));
  clear();
  ASSERT_EQ(sender_.answers().size(), 1u) << "as soon as all is posted";
  EXPECT_EQ(sender_.answers()[0].header.kind, MessageKind::fin);
  EXPECT_FALSE(send_->complete.load());
  run();
  EXPECT_EQ(got_, sent_);
  EXPECT_TRUE(send_->complete.load());
  EXPECT_FALSE(receive_->complete.load()) << "that is the fin's to do";
}

// --- what is posted ----------------------------------------------------------------------------------------------------

TEST_F(RdmaWayTest, work_of_the_adapter_is_told_until_it_is_over) {
  announce();
  ASSERT_TRUE(receiver_.way.begin(*receive_, 0));
  EXPECT_EQ(network_.counts(receiver_side).told_work, 1);
  receiver_.transfers.end(*receive_);
  EXPECT_TRUE(receiver_.transfers.outlive_requests());
  EXPECT_EQ(network_.counts(receiver_side).told_work, 1);
  run();
  EXPECT_FALSE(receiver_.transfers.outlive_requests());
  EXPECT_EQ(network_.counts(receiver_side).told_work, 0);
  EXPECT_FALSE(receive_->complete.load());
}

}  // namespace
}  // namespace sluice
