// Single copies inside a node by both sides at once, and by an adapter beside them: claims, ends and refusals in every order.
#include "tests/unit/support/node_way_fixture.hpp"

namespace sluice {
namespace {

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
