// What two engines write into a trace over the model of an adapter, driven by hand: every record of a message, in order, beside
// what the protocol exchanges.
#include "runtime/engine/trace_events.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/support/rdma_pair.hpp"
#include "tests/unit/support/traced.hpp"

namespace sluice {
namespace {

using trace::Kind;
using trace::Record;

constexpr Peer sender_side{0};
constexpr Peer receiver_side{1};
constexpr std::size_t bytes = 20'000;

/// The byte at its end is one that the receiver's buffer does not begin with, so that put needs no second message.
struct Buffers {
  std::vector<std::byte> sent = pattern(bytes, 3);
  std::vector<std::byte> got = std::vector<std::byte>(bytes);
};

std::string in_pages(const std::vector<std::byte>& buffer) {
  return std::to_string(PageRange::covering(ByteRange::of(buffer.data(), buffer.size())).bytes().size());
}

Config patient(Rendezvous protocol) {
  Config config = RdmaPair::forced(protocol);
  config.rtr_wait = 3'600'000'000;
  return config;
}

TEST(trace_events, message_of_every_protocol_is_told_from_beginning_to_end) {
  const Lines announces{"post_send 20000", "message_out rts 40", "message_in fin 0", "complete success 20000"};
  const Lines announced{"post_send 20000", "message_in rtr 40", "message_out put 20000", "complete success 20000"};
  const auto reads = [](const std::string& protocol) {
    return Lines{"post_receive 20000", "match rendezvous 20000", "protocol " + protocol + " 20000", "message_out fin 0",
                 "complete success 20000"};
  };
  const auto announces_itself = [](const std::string& protocol) {
    return Lines{"post_receive 20000", "message_out rtr 40", "match put 20000", "protocol " + protocol + " 20000",
                 "complete success 20000"};
  };
  const std::map<Rendezvous, std::pair<Lines, Lines>> expected = {
      {Rendezvous::rput,
       {{"post_send 20000", "message_out rts 40", "message_in cts 56", "message_out fin 0", "complete success 20000"},
        {"post_receive 20000", "match rendezvous 20000", "protocol rput 20000", "message_out cts 56", "message_in fin 0",
         "complete success 20000"}}},
      {Rendezvous::getcqe, {announces, reads("getcqe")}},
      {Rendezvous::get, {announces, reads("get")}},
      // The announcement brings what fits behind it into a message of the adapter's.
      {Rendezvous::rdrp,
       {{"post_send 20000", "message_out rts 4096", "message_in fin 0", "complete success 20000"},
        {"post_receive 20000", "match rendezvous 20000", "protocol rdrp 15944", "message_out fin 0", "complete success 20000"}}},
      {Rendezvous::putnr, {announced, announces_itself("putnr")}},
      {Rendezvous::put, {announced, announces_itself("put")}},
  };
  for (const auto& [protocol, sides] : expected) {
    const Traced traced;
    RdmaPair pair({}, patient(protocol));
    Buffers buffers;
    pair.exchange(RdmaPair::contiguous(buffers.sent), RdmaPair::contiguous(buffers.got));
    pair.run_out();
    EXPECT_EQ(traced.of(sender_side), sides.first) << name_of(protocol);
    EXPECT_EQ(traced.of(receiver_side), sides.second) << name_of(protocol);
  }
}

TEST(trace_events, memory_that_cannot_be_registered_is_told_and_so_is_what_the_message_did_instead) {
  const Traced traced;
  RdmaPair pair({.refused_processes = {1}}, RdmaPair::forced(Rendezvous::get));
  Buffers buffers;
  pair.exchange(RdmaPair::contiguous(buffers.sent), RdmaPair::contiguous(buffers.got));
  pair.run_out();
  EXPECT_EQ(traced.of(Kind::registration),
            (Lines{"registration made " + in_pages(buffers.sent), "registration refused " + in_pages(buffers.got)}));
  EXPECT_EQ(traced.of(Kind::fallback), Lines{"fallback memory could not be registered"});
  EXPECT_EQ(traced.of(Kind::protocol), Lines{"protocol stream 20000"});
}

TEST(trace_events, messages_sent_and_received_carry_the_same_numbers) {
  const Traced traced;
  RdmaPair pair({}, RdmaPair::forced(Rendezvous::getcqe));
  for (int i = 0; i < 3; ++i) {
    Buffers buffers;
    pair.exchange(RdmaPair::contiguous(buffers.sent), RdmaPair::contiguous(buffers.got));
  }
  std::vector<std::uint64_t> left;
  std::vector<std::uint64_t> matched;
  for (const Record& record : traced.records()) {
    if (record.kind == static_cast<std::uint16_t>(Kind::match)) matched.push_back(record.value);
    const bool is_rts = record.detail == static_cast<std::uint16_t>(MessageKind::rts);
    if (record.kind == static_cast<std::uint16_t>(Kind::message_out) && is_rts) left.push_back(record.value);
  }
  EXPECT_EQ(left, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(matched, left);
}

}  // namespace
}  // namespace sluice
