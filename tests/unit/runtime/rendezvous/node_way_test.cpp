// Single copies inside a node by one side: what each does in every state of a message, and what it tells the other one.
#include "tests/unit/support/node_way_fixture.hpp"

namespace sluice {
namespace {

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

// --- by address ----------------------------------------------------------------------------------------------------------

TEST_F(NodeWayWithoutBlocks, a_sender_that_can_writes_to_what_is_no_block) {
  receive_.rts_flags = flag_contiguous | flag_writes_at;
  begin(Rendezvous::rput);
  EXPECT_EQ(clear().delivery, Delivery::write_at);
  EXPECT_EQ(receive_.way, Request::Way::write);
  const PageRange pages = PageRange::covering(ByteRange::of(receive_.data, bytes));
  EXPECT_TRUE(receiver_.below.users.are_written_by_peers({pages.end - 1, pages.end}));
  for (int i = 0; i < 4; ++i) sender_.copy();
  EXPECT_EQ(sender_.news(), (Asked{"fin of chunks", "finish"}));
  receiver_.below.above.on_end = [this](Request& request) { receiver_.way.delivery().close(request); };
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_EQ(receiver_.news(), Asked{"finish"});
  EXPECT_TRUE(all_arrived());
  EXPECT_EQ(memory_.written_at, bytes);
  EXPECT_EQ(receiver_.below.statistics.written_at, 1U);
  EXPECT_FALSE(receiver_.below.users.are_written_by_peers(pages));
}

TEST_F(NodeWayWithoutBlocks, both_copy_what_is_no_block) {
  receive_.rts_flags = flag_contiguous | flag_writes_at;
  begin(Rendezvous::coop);
  sender_.copy();
  receiver_.help();
  sender_.copy();
  receiver_.help();
  EXPECT_EQ(receiver_.news(), Asked{"fin of chunks"});
  sender_.copy();
  EXPECT_EQ(sender_.news(), Asked{"fin of chunks"});
  EXPECT_TRUE(sender_.way.ended(send_));
  EXPECT_TRUE(receiver_.way.ended(receive_));
  EXPECT_TRUE(all_arrived());
  EXPECT_EQ(memory_.written_at, bytes / 2);
}

TEST_F(NodeWayWithoutBlocks, what_a_page_stops_goes_on_behind_the_last_byte_that_arrived) {
  receive_.rts_flags = flag_contiguous | flag_writes_at;
  begin(Rendezvous::rput);
  memory_.write_budget = chunk + 100;
  sender_.copy();
  sender_.copy();
  EXPECT_EQ(sender_.news(), Asked{"refuse " + std::to_string(chunk + 100)});
  receiver_.way.refused(receive_, refusal().offset);
  EXPECT_FALSE(receiver_.below.users.are_written_by_peers(PageRange::covering(ByteRange::of(receive_.data, bytes))));
  ASSERT_TRUE(receiver_.way.begin(receive_, 0));
  EXPECT_EQ(receive_.way, Request::Way::read);
  while (!receive_.complete) receiver_.copy();
  EXPECT_TRUE(all_arrived());
}

TEST_F(NodeWayTest, a_block_is_written_in_its_file_though_its_sender_could_do_otherwise) {
  receive_.rts_flags |= flag_writes_at;
  begin(Rendezvous::rput);
  EXPECT_EQ(clear().delivery, Delivery::write);
}

TEST_F(NodeWayTest, a_page_that_is_a_block_keeps_writers_by_address_away) {
  memory_.writable = false;
  receive_.rts_flags = flag_contiguous | flag_writes_at;
  begin(Rendezvous::rput);
  EXPECT_EQ(receive_.way, Request::Way::read);
  EXPECT_EQ(receiver_.below.statistics.written_at, 0U);
}

TEST_F(NodeWayWithoutBlocks, by_address_nobody_writes_into_gaps) {
  receive_.rts_flags = flag_contiguous | flag_writes_at;
  receive_.gaps = true;
  memory_.writable = memory_.readable = false;
  EXPECT_EQ(receiver_.way.bid(receive_, 0).moves, Bid::impossible);
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

}  // namespace
}  // namespace sluice
