// Single copies inside a node: what each side does in every state of a message, and what it tells the other one. Both sides are
// in one process, whose memory they share.
#include "runtime/rendezvous/node_way.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/rendezvous/chunk_claims.hpp"
#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/guarded_block.hpp"
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
  Side(Peer self, FakeNodeMemory& memory, AliasArena* arena)
      : below(self, memory, in_chunks(), arena),
        way({below.job, below.outbox, below.requests, below.blocks, below.users, below.matches, below.lines, below.statistics,
             copiers, adapter, below.ways}) {}
  static Config in_chunks() {
    Config config;
    config.copy_chunk = chunk;
    return config;
  }

  void copy() {
    Lock lock(mutex);
    way.work(lock);
  }
  void help() {
    Lock lock(mutex);
    way.delivery().help(lock);
  }
  Asked news() { return below.news(); }

  EngineBelow below;
  ApplicationNow application{.inside = 1};
  CopierChoice copiers{below.job, below.requests, below.lines, application};
  FakeChunkReader adapter;
  EngineLock mutex;
  NodeWay way;
};

class NodeWayTest : public ::testing::Test {
 protected:
  explicit NodeWayTest(bool has_blocks = true) : receiver_(receiver_peer, memory_, has_blocks ? &arena_ : nullptr) {
    for (std::size_t i = 0; i < bytes; ++i) source_[i] = static_cast<std::byte>(i * 7 + i / 4099);
    receive_.limit = receive_.stop = bytes;
    receive_.remote_address = reinterpret_cast<std::uint64_t>(source_.data());
    receive_.rts_flags = flag_contiguous | flag_block;
  }

  /// The receiver's choice is made, and the sender has heard of it.
  void begin(Rendezvous how) {
    receiver_.below.world.rendezvous = how;
    ASSERT_TRUE(receiver_.way.begin(receive_, 0));
    if (receiver_.news() == Asked{"cts"}) sender_.way.cleared(send_, clear());
  }
  [[nodiscard]] ClearToSend clear() const { return receiver_.below.last<ClearToSend>(MessageKind::cts); }
  [[nodiscard]] Refusal refusal() const { return sender_.below.last<Refusal>(MessageKind::refuse); }
  [[nodiscard]] bool all_arrived() const { return std::equal(source_.begin(), source_.end(), receive_.data); }
  [[nodiscard]] std::span<std::byte> target() const { return {reinterpret_cast<std::byte*>(block_.range().begin), bytes}; }

  std::vector<std::byte> source_ = std::vector<std::byte>(bytes);
  AliasArena arena_{10000};
  Block block_{arena_, bytes / page_bytes};
  FakeNodeMemory memory_;
  Side sender_{sender_peer, memory_, nullptr};
  Side receiver_;
  Request& send_ = sender_.below.request(Request::Kind::send, receiver_peer, source_);
  Request& receive_ = receiver_.below.request(Request::Kind::receive, sender_peer, target());
};

class NodeWayWithoutBlocks : public NodeWayTest {
 protected:
  NodeWayWithoutBlocks() : NodeWayTest(false) {}
};

// --- rget ----------------------------------------------------------------------------------------------------------------

TEST_F(NodeWayTest, a_receiver_that_copies_ends_the_message_for_both) {
  begin(Rendezvous::rget);
  EXPECT_EQ(receive_.way, Request::Way::read);
  for (int i = 0; i < 3; ++i) receiver_.copy();
  EXPECT_EQ(receiver_.news(), Asked{});
  receiver_.copy();
  EXPECT_EQ(receiver_.news(), (Asked{"fin", "finish"}));
  EXPECT_TRUE(all_arrived());
  EXPECT_TRUE(receiver_.way.list().empty());
  EXPECT_FALSE(sender_.way.ended(send_));  // it was announced only: whoever asks ends it
}

TEST_F(NodeWayTest, what_cannot_be_read_any_more_is_streamed_from_the_first_missing_byte) {
  begin(Rendezvous::rget);
  memory_.read_budget = chunk;
  receiver_.copy();
  receiver_.copy();
  EXPECT_EQ(receiver_.news(), (Asked{fallback(Fallback::read_refused),
                                     "again " + std::to_string(chunk) + " to " + std::to_string(bytes) + " by stream"}));
  EXPECT_EQ(receiver_.way.bid(receive_, 0).moves, Bid::impossible);
  EXPECT_EQ(receiver_.way.copies().busy(), 0U);
}

TEST_F(NodeWayTest, a_read_that_stops_at_a_page_says_nothing_of_the_peer) {
  receive_.rts_flags = flag_contiguous;
  begin(Rendezvous::rget);
  memory_.read_budget = chunk + 100;
  receiver_.copy();
  receiver_.copy();
  EXPECT_EQ(receiver_.news(), (Asked{fallback(Fallback::page_closed),
                                     "again " + std::to_string(chunk + 100) + " to " + std::to_string(bytes) + " by stream"}));
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
  begin(Rendezvous::rput);
  EXPECT_TRUE(receive_.shared.own_part_done);
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
  for (int i = 0; i < 3; ++i) sender_.copy();
  EXPECT_EQ(receiver_.way.delivery().missing_bytes(receive_), chunk);
  EXPECT_EQ(sender_.news(), Asked{});
  sender_.copy();
  EXPECT_EQ(sender_.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.news(), Asked{"finish"});
  EXPECT_TRUE(all_arrived());
}

TEST_F(NodeWayTest, a_sender_that_cannot_write_says_from_where_and_the_rest_is_read) {
  begin(Rendezvous::rput);
  memory_.write_budget = chunk;
  sender_.copy();
  sender_.copy();
  EXPECT_EQ(sender_.news(), Asked{"refuse " + std::to_string(chunk)});
  EXPECT_EQ(send_.way, Request::Way::undecided);
  receiver_.way.refused(receive_, refusal().offset);
  EXPECT_EQ(receiver_.news(),
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
  begin(Rendezvous::rput);
  EXPECT_EQ(receive_.way, Request::Way::read);
  EXPECT_EQ(receive_.progress_slot, NodeMemory::no_slot);
}

TEST_F(NodeWayWithoutBlocks, what_is_no_block_is_not_written_to) {
  begin(Rendezvous::rput);
  EXPECT_EQ(receive_.way, Request::Way::read);
}

TEST_F(NodeWayTest, who_can_neither_write_nor_read_leaves_the_message_to_others) {
  EXPECT_EQ(receiver_.way.bid(receive_, 0).moves, 1U);
  memory_.writable = memory_.blocks_readable = false;
  EXPECT_EQ(receiver_.way.bid(receive_, 0).moves, Bid::impossible);
}

TEST_F(NodeWayWithoutBlocks, who_finds_out_only_then_that_it_can_do_neither_has_done_nothing) {
  memory_.blocks_readable = false;
  EXPECT_FALSE(receiver_.way.begin(receive_, 0));
  EXPECT_EQ(receive_.way, Request::Way::undecided);
  EXPECT_TRUE(receiver_.way.list().empty());
}

// --- coop ----------------------------------------------------------------------------------------------------------------

TEST_F(NodeWayTest, both_copy_from_their_ends_and_wait_for_each_others_fin) {
  begin(Rendezvous::coop);
  EXPECT_FALSE(receive_.shared.own_part_done);
  sender_.copy();
  receiver_.help();
  EXPECT_EQ(receiver_.way.delivery().shared_receives(), 1U);
  sender_.copy();
  EXPECT_EQ(sender_.news(), Asked{});
  receiver_.help();
  EXPECT_EQ(receiver_.news(), Asked{"fin of chunks"});
  EXPECT_TRUE(all_arrived());
  sender_.copy();  // finds nothing left to claim
  EXPECT_EQ(sender_.news(), Asked{"fin of chunks"});
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(sender_.news(), Asked{"finish"});
  EXPECT_EQ(receiver_.news(), Asked{"finish"});
  EXPECT_EQ(sender_.below.statistics.bytes_copied + receiver_.below.statistics.bytes_copied, bytes);
}

TEST_F(NodeWayTest, a_sender_that_comes_too_late_owes_no_fin) {
  begin(Rendezvous::coop);
  while (!receive_.complete) receiver_.help();
  EXPECT_EQ(receiver_.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_EQ(sender_.news(), Asked{"finish"});
  EXPECT_TRUE(sender_.way.list().empty());
  EXPECT_TRUE(all_arrived());
}

TEST_F(NodeWayTest, a_late_sender_claims_nothing_of_who_has_the_slot_next) {
  begin(Rendezvous::coop);
  while (!receive_.complete) receiver_.help();
  sender_.copy();  // before the receiver's fin is there
  EXPECT_EQ(sender_.news(), Asked{});
  EXPECT_FALSE(send_.complete);
  EXPECT_EQ(send_.offset, 0U);
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_EQ(sender_.news(), Asked{"finish"});
}

TEST_F(NodeWayTest, a_receiver_that_claimed_nothing_owes_no_fin) {
  begin(Rendezvous::coop);
  for (int i = 0; i < 4; ++i) sender_.copy();
  EXPECT_EQ(sender_.news(), (Asked{"fin of chunks", "finish"}));
  receiver_.help();
  EXPECT_EQ(receiver_.news(), Asked{});  // the fin ends it
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.news(), Asked{"finish"});
  EXPECT_EQ(receiver_.way.delivery().shared_receives(), 0U);
}

TEST_F(NodeWayTest, a_fin_may_come_while_the_senders_last_chunk_is_copied) {
  begin(Rendezvous::coop);
  memory_.meanwhile = [&] {
    for (int i = 0; i < 3; ++i) receiver_.help();
    EXPECT_TRUE(sender_.way.ended(send_));
    EXPECT_FALSE(send_.complete);
  };
  sender_.copy();
  EXPECT_EQ(sender_.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(all_arrived());
}

TEST_F(NodeWayTest, a_fin_may_come_while_the_receivers_last_chunk_is_copied) {
  begin(Rendezvous::coop);
  memory_.meanwhile = [&] {
    for (int i = 0; i < 3; ++i) sender_.copy();
    EXPECT_TRUE(receiver_.way.ended(receive_));
    EXPECT_FALSE(receive_.complete);
  };
  receiver_.help();
  EXPECT_EQ(receiver_.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_EQ(sender_.news(), (Asked{"fin of chunks", "finish"}));
}

TEST_F(NodeWayTest, a_fin_takes_a_receiver_out_that_is_about_to_help) {
  begin(Rendezvous::coop);
  receiver_.help();
  for (int i = 0; i < 3; ++i) sender_.copy();
  ASSERT_FALSE(receiver_.way.delivery().helping().empty());
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
  EXPECT_EQ(receiver_.news(), (Asked{"fin of chunks", "finish"}));
}

TEST_F(NodeWayTest, a_refusal_leaves_what_lies_between_both_sides_chunks) {
  begin(Rendezvous::coop);
  receiver_.help();
  memory_.write_budget = chunk;
  sender_.copy();
  sender_.copy();
  receiver_.way.refused(receive_, refusal().offset);
  EXPECT_EQ(receiver_.news(),
            (Asked{fallback(Fallback::write_refused), "again " + std::to_string(chunk) + " to " + std::to_string(3 * chunk)}));
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
}

TEST_F(NodeWayTest, a_refusal_waits_for_the_chunk_that_is_being_read) {
  begin(Rendezvous::coop);
  memory_.write_budget = 0;
  memory_.meanwhile = [&] {
    sender_.copy();
    receiver_.way.refused(receive_, refusal().offset);
    EXPECT_EQ(receiver_.news(), Asked{fallback(Fallback::write_refused)});
  };
  receiver_.help();
  EXPECT_EQ(receiver_.news(), Asked{"again 0 to " + std::to_string(3 * chunk)});
  EXPECT_EQ(receiver_.way.copies().busy(), 0U);
}

TEST_F(NodeWayTest, a_hole_is_asked_for_when_the_sender_is_done_and_no_fin_is_sent) {
  begin(Rendezvous::coop);
  memory_.read_budget = chunk;
  receiver_.help();
  receiver_.help();
  EXPECT_EQ(receiver_.news(), Asked{fallback(Fallback::read_refused)});
  sender_.copy();
  sender_.copy();
  EXPECT_EQ(sender_.news(), Asked{"fin of chunks"});
  EXPECT_FALSE(send_.complete);
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.news(), Asked{"again " + std::to_string(2 * chunk) + " to " + std::to_string(3 * chunk) + " by stream"});
}

TEST_F(NodeWayTest, who_is_asked_to_send_another_way_has_nothing_more_to_write) {
  begin(Rendezvous::coop);
  sender_.way.leave(send_);
  EXPECT_TRUE(sender_.way.list().empty());
}

TEST_F(NodeWayTest, an_idle_sender_is_asked_without_being_woken) {
  receive_.call_waits = true;
  begin(Rendezvous::automatic);
  EXPECT_EQ(receiver_.below.sent.sent.at(0).header.flags, flag_if_idle);
  EXPECT_TRUE(receive_.shared.if_idle);
}

TEST_F(NodeWayTest, a_message_of_one_chunk_is_its_senders_alone) {
  receive_.limit = receive_.stop = chunk;
  receive_.call_waits = true;
  begin(Rendezvous::automatic);
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
  EXPECT_EQ(receiver_.below.sent.sent.at(0).header.flags, 0U);
  EXPECT_TRUE(receive_.shared.own_part_done);
}

// --- coop-hca --------------------------------------------------------------------------------------------------------------

TEST_F(NodeWayTest, an_adapter_that_read_everything_ends_the_receivers_part) {
  receiver_.adapter.takes_part = true;
  receiver_.adapter.claims = [&](Request& receive) {
    ChunkClaims claims(memory_.claims(receive.progress_slot));
    while (claims.claim_back(receive.shared.generation, receive.shared.chunks).claimed) {
      receiver_.way.delivery().count_own_chunk(receive);
    }
  };
  begin(Rendezvous::coop);
  EXPECT_TRUE(receive_.shared.offloads);
  receiver_.way.delivery().adapter_rests(receive_);
  EXPECT_EQ(receiver_.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_TRUE(receiver_.way.delivery().helping().empty());
}

TEST_F(NodeWayTest, an_adapter_that_rests_with_chunks_left_leaves_them_to_the_processors) {
  receiver_.adapter.takes_part = true;
  begin(Rendezvous::coop);
  receiver_.way.delivery().adapter_rests(receive_);
  EXPECT_EQ(receiver_.news(), Asked{});
  EXPECT_FALSE(receiver_.way.delivery().helping().empty());
}

TEST_F(NodeWayTest, a_hole_of_the_adapters_may_be_written_by_the_sender) {
  receiver_.adapter.takes_part = true;
  begin(Rendezvous::coop);
  ChunkClaims(memory_.claims(receive_.progress_slot)).claim_back(receive_.shared.generation, receive_.shared.chunks);
  receiver_.way.delivery().count_own_chunk(receive_);
  receive_.shared.add_hole(3 * chunk, bytes);
  receiver_.way.delivery().adapter_rests(receive_);
  for (int i = 0; i < 3; ++i) sender_.copy();
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.news(), Asked{"again " + std::to_string(3 * chunk) + " to " + std::to_string(bytes)});
  EXPECT_EQ(receive_.way, Request::Way::undecided);
}

}  // namespace
}  // namespace sluice
