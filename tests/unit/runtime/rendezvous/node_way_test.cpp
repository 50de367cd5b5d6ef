// Single copies inside a node: what each side does in every state of a message, and what it tells the other one. Both sides are
// in one process; their hosts are fakes.
#include "runtime/rendezvous/node_way.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/rendezvous/chunk_claims.hpp"
#include "tests/unit/support/node_fakes.hpp"

namespace sluice {
namespace {

constexpr std::size_t chunk = std::size_t{32} << 10;
constexpr std::size_t bytes = 4 * chunk;
constexpr Peer sender_peer{0};
constexpr Peer receiver_peer{1};
using Asked = std::vector<std::string>;

std::string fallback(Fallback reason) { return "fall back " + std::to_string(static_cast<int>(reason)); }

/// One process.
struct Side {
  Side(Peer self, FakeNodeMemory& memory)
      : way(host, {self, 2, chunk, &memory, &memory, nullptr, lines, statistics, host, host}) {}

  void copy() {
    Lock lock(mutex);
    way.work(lock);
  }
  void help() {
    Lock lock(mutex);
    way.delivery().help(lock);
  }

  const Calibration calibration{};
  MessageLines lines{{calibration, {}, false}, nullptr, 2};
  EngineStatistics statistics;
  FakeNodeHost host;
  EngineLock mutex;
  NodeWay way;
};

class NodeWayTest : public ::testing::Test {
 protected:
  NodeWayTest() {
    for (std::size_t i = 0; i < bytes; ++i) source_[i] = static_cast<std::byte>(i * 7 + i / 4099);
    send_.kind = Request::Kind::send;
    send_.peer = receiver_peer;
    send_.data = source_.data();
    send_.bytes = bytes;
    receive_.kind = Request::Kind::receive;
    receive_.peer = sender_peer;
    receive_.data = target_.data();
    receive_.bytes = receive_.limit = receive_.stop = bytes;
    receive_.remote_address = reinterpret_cast<std::uint64_t>(source_.data());
    receive_.rts_flags = flag_contiguous | flag_block;
  }

  /// The receiver's choice is made, and the sender has heard of it.
  void begin(Copier copier) {
    receiver_.host.choice = {copier, trace::Reason::asked_for};
    ASSERT_TRUE(receiver_.way.begin(receive_, 0));
    if (receiver_.host.news() == Asked{"cts"}) sender_.way.cleared(send_, receiver_.host.clear);
  }
  [[nodiscard]] bool all_arrived() const { return target_ == source_; }

  std::vector<std::byte> source_ = std::vector<std::byte>(bytes);
  std::vector<std::byte> target_ = std::vector<std::byte>(bytes);
  FakeNodeMemory memory_;
  Side sender_{sender_peer, memory_};
  Side receiver_{receiver_peer, memory_};
  Request send_;
  Request receive_;
};

// --- rget ----------------------------------------------------------------------------------------------------------------

TEST_F(NodeWayTest, a_receiver_that_copies_ends_the_message_for_both) {
  begin(Copier::receiver);
  EXPECT_EQ(receiver_.host.chosen, trace::Protocol::rget);
  for (int i = 0; i < 3; ++i) receiver_.copy();
  EXPECT_EQ(receiver_.host.news(), Asked{});
  receiver_.copy();
  EXPECT_EQ(receiver_.host.news(), (Asked{"fin", "finish"}));
  EXPECT_TRUE(all_arrived());
  EXPECT_TRUE(receiver_.way.list().empty());
  EXPECT_FALSE(sender_.way.ended(send_));  // it was announced only: whoever asks ends it
}

TEST_F(NodeWayTest, what_cannot_be_read_any_more_is_streamed_from_the_first_missing_byte) {
  begin(Copier::receiver);
  memory_.read_budget = chunk;
  receiver_.copy();
  receiver_.copy();
  EXPECT_EQ(receiver_.host.news(), (Asked{fallback(Fallback::read_refused),
                                          "again " + std::to_string(chunk) + " to " + std::to_string(bytes) + " by stream"}));
  EXPECT_EQ(receiver_.way.bid(receive_, 0).moves, Bid::impossible);
  EXPECT_EQ(receiver_.way.copies().busy(), 0U);
}

TEST_F(NodeWayTest, a_read_that_stops_at_a_page_says_nothing_of_the_peer) {
  receive_.rts_flags = flag_contiguous;
  begin(Copier::receiver);
  memory_.read_budget = chunk + 100;
  receiver_.copy();
  receiver_.copy();
  EXPECT_EQ(receiver_.host.news(), (Asked{fallback(Fallback::page_closed), "again " + std::to_string(chunk + 100) + " to " +
                                                                               std::to_string(bytes) + " by stream"}));
}

TEST_F(NodeWayTest, its_own_messages_a_process_copies_by_their_address) {
  receive_.peer = receiver_peer;
  receive_.rts_flags = flag_contiguous;
  ASSERT_TRUE(receiver_.way.begin(receive_, 0));
  while (!receive_.complete) receiver_.copy();
  EXPECT_TRUE(all_arrived());
  EXPECT_EQ(memory_.copied_bytes, 0U);
}

// --- rput ----------------------------------------------------------------------------------------------------------------

TEST_F(NodeWayTest, a_sender_that_copies_alone_is_done_with_its_fin) {
  begin(Copier::sender);
  EXPECT_EQ(receiver_.host.chosen, trace::Protocol::rput);
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
  for (int i = 0; i < 3; ++i) sender_.copy();
  EXPECT_EQ(receiver_.way.delivery().missing_bytes(receive_), chunk);
  EXPECT_EQ(sender_.host.news(), Asked{});
  sender_.copy();
  EXPECT_EQ(sender_.host.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.host.news(), Asked{"finish"});
  EXPECT_TRUE(all_arrived());
}

TEST_F(NodeWayTest, a_sender_that_cannot_write_says_from_where_and_the_rest_is_read) {
  begin(Copier::sender);
  memory_.write_budget = chunk;
  sender_.copy();
  sender_.copy();
  EXPECT_EQ(sender_.host.news(), Asked{"refuse " + std::to_string(chunk)});
  EXPECT_EQ(send_.way, Request::Way::undecided);
  receiver_.way.refused(receive_, sender_.host.refusal.offset);
  EXPECT_EQ(receiver_.host.news(),
            (Asked{fallback(Fallback::write_refused), "again " + std::to_string(chunk) + " to " + std::to_string(bytes)}));
  EXPECT_EQ(receive_.progress_slot, NodeMemory::no_slot);
  ASSERT_TRUE(receiver_.way.begin(receive_, 0));  // writing is not tried again, though nobody has told this side's transport
  memory_.writable = true;
  EXPECT_EQ(receive_.way, Request::Way::read);
  while (!receive_.complete) receiver_.copy();
  EXPECT_TRUE(all_arrived());
}

TEST_F(NodeWayTest, without_a_slot_or_a_block_the_receiver_reads) {
  memory_.free_slots = 0;
  begin(Copier::sender);
  EXPECT_EQ(receive_.way, Request::Way::read);
  EXPECT_EQ(receive_.progress_slot, NodeMemory::no_slot);
}

TEST_F(NodeWayTest, what_is_no_block_is_not_written_to) {
  receiver_.host.buffers_are_blocks = false;
  begin(Copier::sender);
  EXPECT_EQ(receive_.way, Request::Way::read);
}

TEST_F(NodeWayTest, who_can_neither_write_nor_read_leaves_the_message_to_others) {
  EXPECT_EQ(receiver_.way.bid(receive_, 0).moves, 1U);
  memory_.writable = memory_.blocks_readable = false;
  EXPECT_EQ(receiver_.way.bid(receive_, 0).moves, Bid::impossible);
}

TEST_F(NodeWayTest, who_finds_out_only_then_that_it_can_do_neither_has_done_nothing) {
  memory_.blocks_readable = false;
  receiver_.host.buffers_are_blocks = false;
  EXPECT_FALSE(receiver_.way.begin(receive_, 0));
  EXPECT_EQ(receive_.way, Request::Way::undecided);
  EXPECT_TRUE(receiver_.way.list().empty());
}

// --- coop ----------------------------------------------------------------------------------------------------------------

TEST_F(NodeWayTest, both_copy_from_their_ends_and_wait_for_each_others_fin) {
  begin(Copier::both);
  EXPECT_EQ(receiver_.host.chosen, trace::Protocol::coop);
  sender_.copy();
  receiver_.help();
  EXPECT_EQ(receiver_.way.delivery().shared_receives(), 1U);
  sender_.copy();
  EXPECT_EQ(sender_.host.news(), Asked{});
  receiver_.help();
  EXPECT_EQ(receiver_.host.news(), Asked{"fin of chunks"});
  EXPECT_TRUE(all_arrived());
  sender_.copy();  // finds nothing left to claim
  EXPECT_EQ(sender_.host.news(), Asked{"fin of chunks"});
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(sender_.host.news(), Asked{"finish"});
  EXPECT_EQ(receiver_.host.news(), Asked{"finish"});
  EXPECT_EQ(sender_.statistics.bytes_copied + receiver_.statistics.bytes_copied, bytes);
}

TEST_F(NodeWayTest, a_sender_that_comes_too_late_owes_no_fin) {
  begin(Copier::both);
  while (!receive_.complete) receiver_.help();
  EXPECT_EQ(receiver_.host.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_EQ(sender_.host.news(), Asked{"finish"});
  EXPECT_TRUE(sender_.way.list().empty());
  EXPECT_TRUE(all_arrived());
}

TEST_F(NodeWayTest, a_late_sender_claims_nothing_of_who_has_the_slot_next) {
  begin(Copier::both);
  while (!receive_.complete) receiver_.help();
  sender_.copy();  // before the receiver's fin is there
  EXPECT_EQ(sender_.host.news(), Asked{});
  EXPECT_FALSE(send_.complete);
  EXPECT_EQ(send_.offset, 0U);
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_EQ(sender_.host.news(), Asked{"finish"});
}

TEST_F(NodeWayTest, a_receiver_that_claimed_nothing_owes_no_fin) {
  begin(Copier::both);
  for (int i = 0; i < 4; ++i) sender_.copy();
  EXPECT_EQ(sender_.host.news(), (Asked{"fin of chunks", "finish"}));
  receiver_.help();
  EXPECT_EQ(receiver_.host.news(), Asked{});  // the fin ends it
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.host.news(), Asked{"finish"});
  EXPECT_EQ(receiver_.way.delivery().shared_receives(), 0U);
}

TEST_F(NodeWayTest, a_fin_may_come_while_the_senders_last_chunk_is_copied) {
  begin(Copier::both);
  memory_.meanwhile = [&] {
    for (int i = 0; i < 3; ++i) receiver_.help();
    EXPECT_TRUE(sender_.way.ended(send_));
    EXPECT_FALSE(send_.complete);
  };
  sender_.copy();
  EXPECT_EQ(sender_.host.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.host.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(all_arrived());
}

TEST_F(NodeWayTest, a_fin_may_come_while_the_receivers_last_chunk_is_copied) {
  begin(Copier::both);
  memory_.meanwhile = [&] {
    for (int i = 0; i < 3; ++i) sender_.copy();
    EXPECT_TRUE(receiver_.way.ended(receive_));
    EXPECT_FALSE(receive_.complete);
  };
  receiver_.help();
  EXPECT_EQ(receiver_.host.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_EQ(sender_.host.news(), (Asked{"fin of chunks", "finish"}));
}

TEST_F(NodeWayTest, a_fin_takes_a_receiver_out_that_is_about_to_help) {
  begin(Copier::both);
  receiver_.help();
  for (int i = 0; i < 3; ++i) sender_.copy();
  ASSERT_FALSE(receiver_.way.delivery().helping().empty());
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
  EXPECT_EQ(receiver_.host.news(), (Asked{"fin of chunks", "finish"}));
}

TEST_F(NodeWayTest, a_refusal_leaves_what_lies_between_both_sides_chunks) {
  begin(Copier::both);
  receiver_.help();
  memory_.write_budget = chunk;
  sender_.copy();
  sender_.copy();
  receiver_.way.refused(receive_, sender_.host.refusal.offset);
  EXPECT_EQ(receiver_.host.news(),
            (Asked{fallback(Fallback::write_refused), "again " + std::to_string(chunk) + " to " + std::to_string(3 * chunk)}));
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
}

TEST_F(NodeWayTest, a_refusal_waits_for_the_chunk_that_is_being_read) {
  begin(Copier::both);
  memory_.write_budget = 0;
  memory_.meanwhile = [&] {
    sender_.copy();
    receiver_.way.refused(receive_, sender_.host.refusal.offset);
    EXPECT_EQ(receiver_.host.news(), Asked{fallback(Fallback::write_refused)});
  };
  receiver_.help();
  EXPECT_EQ(receiver_.host.news(), Asked{"again 0 to " + std::to_string(3 * chunk)});
  EXPECT_EQ(receiver_.way.copies().busy(), 0U);
}

TEST_F(NodeWayTest, a_hole_is_asked_for_when_the_sender_is_done_and_no_fin_is_sent) {
  begin(Copier::both);
  memory_.read_budget = chunk;
  receiver_.help();
  receiver_.help();
  EXPECT_EQ(receiver_.host.news(), Asked{fallback(Fallback::read_refused)});
  sender_.copy();
  sender_.copy();
  EXPECT_EQ(sender_.host.news(), Asked{"fin of chunks"});
  EXPECT_FALSE(send_.complete);
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.host.news(),
            Asked{"again " + std::to_string(2 * chunk) + " to " + std::to_string(3 * chunk) + " by stream"});
}

TEST_F(NodeWayTest, who_is_asked_to_send_another_way_has_nothing_more_to_write) {
  begin(Copier::both);
  sender_.way.leave(send_);
  EXPECT_TRUE(sender_.way.list().empty());
}

TEST_F(NodeWayTest, an_idle_sender_is_asked_without_being_woken) {
  receiver_.host.choice = {Copier::both, trace::Reason::asked_for, true};
  ASSERT_TRUE(receiver_.way.begin(receive_, 0));
  EXPECT_EQ(receiver_.host.clear_flags, flag_if_idle);
  EXPECT_TRUE(receive_.shared.if_idle);
}

TEST_F(NodeWayTest, a_message_of_one_chunk_is_its_senders_alone) {
  receive_.limit = receive_.stop = chunk;
  receiver_.host.choice = {Copier::both, trace::Reason::asked_for, true};
  ASSERT_TRUE(receiver_.way.begin(receive_, 0));
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
  EXPECT_EQ(receiver_.host.clear_flags, 0U);
  EXPECT_EQ(receiver_.host.expected, Copier::sender);
  EXPECT_EQ(receiver_.host.chosen, trace::Protocol::rput);
}

// --- coop-hca --------------------------------------------------------------------------------------------------------------

TEST_F(NodeWayTest, an_adapter_that_read_everything_ends_the_receivers_part) {
  receiver_.host.adapter_joins = true;
  receiver_.host.adapter_claims = [&](Request& receive) {
    ChunkClaims claims(memory_.claims(receive.progress_slot));
    while (claims.claim_back(receive.shared.generation, receive.shared.chunks).claimed) {
      receiver_.way.delivery().count_own_chunk(receive);
    }
  };
  begin(Copier::both);
  EXPECT_EQ(receiver_.host.chosen, trace::Protocol::coop_hca);
  receiver_.way.delivery().adapter_rests(receive_);
  EXPECT_EQ(receiver_.host.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
}

TEST_F(NodeWayTest, an_adapter_that_rests_with_chunks_left_leaves_them_to_the_processors) {
  receiver_.host.adapter_joins = true;
  begin(Copier::both);
  receiver_.way.delivery().adapter_rests(receive_);
  EXPECT_EQ(receiver_.host.news(), Asked{});
  EXPECT_FALSE(receiver_.way.delivery().helping().empty());
}

TEST_F(NodeWayTest, a_hole_of_the_adapters_may_be_written_by_the_sender) {
  receiver_.host.adapter_joins = true;
  begin(Copier::both);
  ChunkClaims(memory_.claims(receive_.progress_slot)).claim_back(receive_.shared.generation, receive_.shared.chunks);
  receiver_.way.delivery().count_own_chunk(receive_);
  receive_.shared.add_hole(3 * chunk, bytes);
  receiver_.way.delivery().adapter_rests(receive_);
  for (int i = 0; i < 3; ++i) sender_.copy();
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.host.news(), Asked{"again " + std::to_string(3 * chunk) + " to " + std::to_string(bytes)});
  EXPECT_EQ(receive_.way, Request::Way::undecided);
}

}  // namespace
}  // namespace sluice
