#include "runtime/rendezvous/reply_check.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/rendezvous/rdma_protocol.hpp"

namespace sluice {
namespace {

using Expects = Request::Expects;
using Way = Request::Way;

constexpr Peer peer{1};
constexpr std::size_t chunk_bytes = 1024;

WireHeader message(MessageKind kind, std::uint8_t flags = 0) {
  WireHeader header;
  header.kind = kind;
  header.flags = flags;
  return header;
}

/// A pool's entry in the state of an operation; RequestPool is what the engine has.
class ReplyCheck : public testing::Test {
 protected:
  Request& send(Expects expects, Way way = Way::undecided) {
    Request* made = pool_.take();
    made->kind = Request::Kind::send;
    made->peer = peer;
    made->bytes = 8 * chunk_bytes;
    made->expects = expects;
    made->way = way;
    return *made;
  }
  Request& receive(Way way) {
    Request* made = pool_.take();
    made->kind = Request::Kind::receive;
    made->peer = peer;
    made->way = way;
    made->stop = 8 * chunk_bytes;
    made->shared = {.chunk_bytes = chunk_bytes, .chunks = 8};
    return *made;
  }
  static bool fits(const Request& request, MessageKind kind, std::uint8_t flags = 0) {
    return reply_fault(request, peer, message(kind, flags)) == nullptr;
  }

  RequestPool pool_;
};

TEST_F(ReplyCheck, an_announced_send_may_be_cleared_and_ended) {
  const Request& announced = send(Expects::clearance);
  EXPECT_TRUE(fits(announced, MessageKind::cts));
  EXPECT_TRUE(fits(announced, MessageKind::fin));
  EXPECT_FALSE(fits(announced, MessageKind::ack));
  EXPECT_FALSE(fits(announced, MessageKind::data));
  EXPECT_FALSE(fits(announced, MessageKind::refuse));
}

TEST_F(ReplyCheck, a_synchronous_send_may_only_be_acknowledged) {
  const Request& small = send(Expects::acknowledgement);
  EXPECT_TRUE(fits(small, MessageKind::ack));
  for (const MessageKind kind : {MessageKind::cts, MessageKind::fin, MessageKind::data, MessageKind::refuse}) {
    EXPECT_FALSE(fits(small, kind));
  }
}

TEST_F(ReplyCheck, a_send_that_has_not_left_may_not_be_answered) {
  const Request& held = send(Expects::nothing);
  for (const MessageKind kind : {MessageKind::cts, MessageKind::fin, MessageKind::ack}) EXPECT_FALSE(fits(held, kind));
}

TEST_F(ReplyCheck, a_send_on_its_way_is_ended_by_what_was_agreed_on_only) {
  EXPECT_FALSE(fits(send(Expects::clearance, Way::stream), MessageKind::fin));
  EXPECT_FALSE(fits(send(Expects::clearance, Way::write), MessageKind::fin));
  EXPECT_TRUE(fits(send(Expects::clearance, Way::write), MessageKind::fin, flag_of_chunks));
}

TEST_F(ReplyCheck, data_is_for_a_receive_that_streams_and_lacks_some) {
  EXPECT_TRUE(fits(receive(Way::stream), MessageKind::data));
  EXPECT_FALSE(fits(receive(Way::undecided), MessageKind::data));
  EXPECT_FALSE(fits(receive(Way::read), MessageKind::data));
  Request& full = receive(Way::stream);
  full.offset = full.stop;
  EXPECT_FALSE(fits(full, MessageKind::data));
}

TEST_F(ReplyCheck, a_refusal_is_for_a_receive_by_write_and_comes_once) {
  Request& written = receive(Way::write);
  EXPECT_TRUE(fits(written, MessageKind::refuse));
  EXPECT_FALSE(fits(receive(Way::stream), MessageKind::refuse));
  written.shared.refused = true;
  EXPECT_FALSE(fits(written, MessageKind::refuse));
}

TEST_F(ReplyCheck, a_receive_is_ended_by_chunks_only) {
  EXPECT_TRUE(fits(receive(Way::write), MessageKind::fin, flag_of_chunks));
  for (const Way way : {Way::undecided, Way::write, Way::read, Way::stream}) EXPECT_FALSE(fits(receive(way), MessageKind::fin));
}

TEST_F(ReplyCheck, nobody_answers_for_somebody_else) {
  EXPECT_NE(reply_fault(send(Expects::clearance), Peer{2}, message(MessageKind::cts)), nullptr);
}

TEST_F(ReplyCheck, nothing_fits_an_operation_that_is_complete) {
  Request& done = send(Expects::clearance);
  done.complete.store(true);
  EXPECT_FALSE(fits(done, MessageKind::fin));
}

TEST_F(ReplyCheck, a_reused_request_expects_nothing) {
  Request& used = send(Expects::acknowledgement);
  pool_.give_back(&used);
  EXPECT_EQ(pool_.take()->expects, Expects::nothing);
}

TEST_F(ReplyCheck, a_clearance_stays_within_the_message) {
  const Request& announced = send(Expects::clearance);
  ClearToSend clear{.offset = chunk_bytes, .limit = 8 * chunk_bytes, .delivery = Delivery::stream};
  EXPECT_EQ(clearance_fault(announced, clear), nullptr);
  clear.limit = 8 * chunk_bytes + 1;
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
  clear.limit = ~std::uint64_t{0};
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
  clear = {.offset = 9, .limit = 9, .delivery = Delivery::stream};
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
}

TEST_F(ReplyCheck, a_clearance_does_not_ask_for_what_the_announcement_has_brought) {
  Request& announced = send(Expects::clearance);
  announced.brought = chunk_bytes;
  ClearToSend clear{.offset = chunk_bytes, .limit = 8 * chunk_bytes, .delivery = Delivery::stream};
  EXPECT_EQ(clearance_fault(announced, clear), nullptr);
  clear.offset = chunk_bytes - 1;
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
}

TEST_F(ReplyCheck, a_clearance_names_a_way_and_countable_chunks) {
  const Request& announced = send(Expects::clearance);
  ClearToSend clear{.limit = 8 * chunk_bytes, .delivery = Delivery::write, .chunk_bytes = chunk_bytes};
  EXPECT_EQ(clearance_fault(announced, clear), nullptr);
  clear.chunk_bytes = 0;
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
  clear = {.limit = 8 * chunk_bytes, .delivery = Delivery{7}, .chunk_bytes = chunk_bytes};
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
}

TEST_F(ReplyCheck, a_message_is_not_cleared_while_it_is_being_sent) {
  Request& sending = send(Expects::clearance, Way::stream);
  const ClearToSend clear{.limit = 8 * chunk_bytes, .delivery = Delivery::stream};
  sending.work_link.linked = true;
  EXPECT_NE(clearance_fault(sending, clear), nullptr);
  sending.work_link.linked = false;
  sending.copying = true;
  EXPECT_NE(clearance_fault(sending, clear), nullptr);
}

TEST_F(ReplyCheck, a_refusal_is_of_bytes_that_the_sender_could_claim) {
  Request& written = receive(Way::write);
  written.shared.start = chunk_bytes;
  written.shared.chunks = 7;
  written.shared.back = 2;
  EXPECT_EQ(refusal_fault(written, chunk_bytes), nullptr);
  EXPECT_EQ(refusal_fault(written, 6 * chunk_bytes), nullptr);
  EXPECT_NE(refusal_fault(written, 6 * chunk_bytes + 1), nullptr);
  EXPECT_NE(refusal_fault(written, chunk_bytes - 1), nullptr);
  written.shared.back = 0;
  EXPECT_EQ(refusal_fault(written, 8 * chunk_bytes), nullptr);
  EXPECT_NE(refusal_fault(written, 8 * chunk_bytes + 1), nullptr);
}

TEST_F(ReplyCheck, an_adapter_writes_what_was_offered_and_once) {
  const ClearToSend clear{.limit = 8 * chunk_bytes, .delivery = Delivery::rdma_write};
  Request& announced = send(Expects::clearance);
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
  announced.offers_rdma = true;
  EXPECT_EQ(clearance_fault(announced, clear), nullptr);
  announced.way = Way::rdma;
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
  EXPECT_NE(clearance_fault(announced, {.limit = 8 * chunk_bytes, .delivery = Delivery::stream}), nullptr);
}

TEST_F(ReplyCheck, by_address_is_written_what_was_offered) {
  Request& announced = send(Expects::clearance);
  ClearToSend clear{.limit = 8 * chunk_bytes, .delivery = Delivery::write_at, .chunk_bytes = chunk_bytes};
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
  announced.offers_write = true;
  EXPECT_EQ(clearance_fault(announced, clear), nullptr);
  clear.remote_address = ~std::uint64_t{0} - chunk_bytes;
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
  clear.remote_address = 0;
  clear.chunk_bytes = 0;
  EXPECT_NE(clearance_fault(announced, clear), nullptr);
}

TEST_F(ReplyCheck, a_receive_over_rdma_is_ended_or_refused_by_the_sender_only_where_the_sender_writes) {
  for (const auto* protocol :
       {&rdma_protocols::rput(), &rdma_protocols::getcqe(), &rdma_protocols::get(), &rdma_protocols::rdrp()}) {
    Request& moving = receive(Way::rdma);
    moving.rdma = std::make_unique<RdmaTransfer>();
    moving.rdma->protocol = protocol;
    const bool written = protocol == &rdma_protocols::rput();
    EXPECT_EQ(fits(moving, MessageKind::fin), written);
    EXPECT_EQ(fits(moving, MessageKind::refuse), written);
    EXPECT_FALSE(fits(moving, MessageKind::data));
    EXPECT_EQ(refusal_fault(moving, 0), nullptr);
    EXPECT_NE(refusal_fault(moving, 1), nullptr);
  }
}

TEST_F(ReplyCheck, a_receive_that_was_announced_is_ended_by_its_sender) {
  Request& announced = receive(Way::undecided);
  EXPECT_FALSE(fits(announced, MessageKind::fin));
  announced.rtr_open = true;
  EXPECT_TRUE(fits(announced, MessageKind::fin));
  EXPECT_FALSE(fits(announced, MessageKind::data));
}

TEST_F(ReplyCheck, memory_to_write_to_lies_in_one_address_space) {
  Request& offered = send(Expects::clearance);
  offered.offers_rdma = true;
  ClearToSend clear{.remote_address = ~std::uint64_t{0} - chunk_bytes, .limit = chunk_bytes, .delivery = Delivery::rdma_write};
  EXPECT_EQ(clearance_fault(offered, clear), nullptr);
  clear.limit = 2 * chunk_bytes;
  EXPECT_NE(clearance_fault(offered, clear), nullptr);
}

}  // namespace
}  // namespace sluice
