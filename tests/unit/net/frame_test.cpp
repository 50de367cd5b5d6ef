#include "net/frame.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::frame {
namespace {

constexpr std::size_t max_payload = 65536;

WireHeader message(MessageKind kind, std::uint32_t payload) {
  WireHeader header;
  header.kind = kind;
  header.payload_bytes = payload;
  header.subject = 0x0123456789abcdef;
  return header;
}

WireHeader matching(MessageKind kind, std::uint32_t payload) {
  WireHeader header = message(kind, payload);
  header.subject = 0x89abcdef01;
  header.source = Rank{0xf10203};
  header.tag = Tag{0x7ffffffe};
  return header;
}

Header encoded(const WireHeader& header) {
  Header bytes;
  encode(header, bytes);
  return bytes;
}

std::string fault_text(const WireHeader& header) { return explain(encoded(header), max_payload); }

std::vector<WireHeader> one_of_each_kind() {
  return {matching(MessageKind::eager, 0),
          matching(MessageKind::eager, max_payload),
          matching(MessageKind::rts, sizeof(ReadyToSend)),
          matching(MessageKind::rts, max_payload),
          message(MessageKind::cts, sizeof(ClearToSend)),
          message(MessageKind::refuse, sizeof(Refusal)),
          message(MessageKind::data, 1),
          message(MessageKind::data, max_data_bytes),
          message(MessageKind::fin, 0),
          message(MessageKind::fin, sizeof(PutEnd)),
          message(MessageKind::ack, 0),
          matching(MessageKind::rtr, sizeof(ReadyToReceive)),
          message(MessageKind::withdraw, 0),
          message(MessageKind::withdrawn, 0)};
}

TEST(Frame, every_kind_comes_back_as_it_was) {
  for (const WireHeader& header : one_of_each_kind()) {
    const Decoded decoded = decode(encoded(header), max_payload);
    ASSERT_TRUE(decoded.good()) << fault_text(header);
    EXPECT_EQ(decoded.control, Control::none);
    EXPECT_EQ(decoded.header.kind, header.kind);
    EXPECT_EQ(decoded.header.flags, header.flags);
    EXPECT_EQ(decoded.header.payload_bytes, header.payload_bytes);
    EXPECT_EQ(decoded.header.subject, header.subject);
    EXPECT_EQ(decoded.header.source, header.source);
    EXPECT_EQ(decoded.header.tag, header.tag);
  }
}

TEST(Frame, messages_that_take_part_in_matching_say_how_many_announcements_had_come) {
  auto header = matching(MessageKind::eager, 8);
  header.rtrs = 0xabcd;
  EXPECT_EQ(decode(encoded(header), max_payload).header.rtrs, 0xabcd);
  auto reply = message(MessageKind::fin, 0);
  reply.rtrs = 1;
  EXPECT_EQ(decode(encoded(reply), max_payload).fault, Fault::reserved);
}

TEST(Frame, flags_come_back) {
  auto rts = matching(MessageKind::rts, sizeof(ReadyToSend));
  rts.flags = flag_sender_waits | flag_contiguous | flag_block | flag_buffered;
  EXPECT_EQ(decode(encoded(rts), max_payload).header.flags, rts.flags);
  auto fin = message(MessageKind::fin, 0);
  fin.flags = flag_announces;
  EXPECT_EQ(decode(encoded(fin), max_payload).header.flags, fin.flags);
}

TEST(Frame, controls_come_back) {
  for (const Control control : {Control::goodbye, Control::ping, Control::pong}) {
    Header bytes;
    encode(control, 42, bytes);
    const Decoded decoded = decode(bytes, max_payload);
    ASSERT_TRUE(decoded.good());
    EXPECT_EQ(decoded.control, control);
    EXPECT_EQ(decoded.header.subject, 42U);
    EXPECT_EQ(decoded.header.payload_bytes, 0U);
  }
}

TEST(Frame, is_little_endian_with_every_field_in_its_place) {
  auto header = matching(MessageKind::eager, 0x0c0a0b);
  header.flags = flag_synchronous;
  header.rtrs = 0xdcba;
  const Header expected = [] {
    constexpr std::array<unsigned char, header_bytes> bytes{0xd3, 1,    1,    0x0b, 0x0a, 0x0c, 0xba, 0xdc, 0x01, 0xef,
                                                            0xcd, 0xab, 0x89, 3,    2,    0xf1, 0xfe, 0xff, 0xff, 0x7f};
    Header made;
    for (std::size_t i = 0; i < header_bytes; ++i) made[i] = static_cast<std::byte>(bytes[i]);
    return made;
  }();
  EXPECT_EQ(encoded(header), expected);
}

TEST(Frame, names_a_wrong_beginning) {
  Header bytes = encoded(message(MessageKind::ack, 0));
  bytes[0] = std::byte{'G'};
  EXPECT_EQ(decode(bytes, max_payload).fault, Fault::mark);
  EXPECT_EQ(explain(bytes, max_payload), "a frame begins with 47 where d3 belongs");
}

TEST(Frame, names_another_version) {
  Header bytes = encoded(message(MessageKind::ack, 0));
  bytes[0] = std::byte{0xd2};
  EXPECT_EQ(decode(bytes, max_payload).fault, Fault::version);
  EXPECT_EQ(explain(bytes, max_payload), "a frame is of version 2, this process speaks version 3");
}

TEST(Frame, knows_thirteen_kinds_and_no_others) {
  int known = 0;
  for (unsigned kind = 0; kind < 256; ++kind) {
    Header bytes = encoded(message(MessageKind::ack, 0));
    bytes[1] = static_cast<std::byte>(kind);
    known += decode(bytes, max_payload).fault == Fault::kind ? 0 : 1;
  }
  EXPECT_EQ(known, 13);
  EXPECT_EQ(fault_text(message(MessageKind{}, 0)), "a frame is of the unknown kind 0");
}

TEST(Frame, names_flags_that_the_kind_does_not_have) {
  auto header = matching(MessageKind::eager, 8);
  header.flags = flag_synchronous | flag_block;
  EXPECT_EQ(fault_text(header), "a frame of kind eager has the flags 0x11, of which 0x1 are known");
}

TEST(Frame, names_lengths_that_the_kind_cannot_have) {
  const auto is_bad = [](const WireHeader& header) { return decode(encoded(header), max_payload).fault == Fault::length; };
  EXPECT_TRUE(is_bad(matching(MessageKind::eager, max_payload + 1)));
  EXPECT_TRUE(is_bad(matching(MessageKind::rts, sizeof(ReadyToSend) - 1)));
  EXPECT_TRUE(is_bad(message(MessageKind::cts, sizeof(ClearToSend) + 1)));
  EXPECT_TRUE(is_bad(message(MessageKind::refuse, 0)));
  EXPECT_TRUE(is_bad(message(MessageKind::data, 0)));
  EXPECT_TRUE(is_bad(message(MessageKind::fin, sizeof(PutEnd) + 1)));
  EXPECT_TRUE(is_bad(matching(MessageKind::rtr, sizeof(ReadyToReceive) - 1)));
  EXPECT_TRUE(is_bad(message(MessageKind::withdraw, 1)));
  EXPECT_TRUE(is_bad(message(MessageKind::ack, 0xffffffff)));
  EXPECT_EQ(fault_text(message(MessageKind::data, max_data_bytes + 1)),
            "a frame of kind data announces 1048577 bytes where 1 to 1048576 are possible");
}

TEST(Frame, a_synchronous_message_has_room_for_its_request) {
  auto header = matching(MessageKind::eager, 7);
  EXPECT_TRUE(decode(encoded(header), max_payload).good());
  header.flags = flag_synchronous;
  EXPECT_EQ(decode(encoded(header), max_payload).fault, Fault::length);
}

TEST(Frame, holds_the_largest_context_and_the_last_rank) {
  auto header = matching(MessageKind::eager, 0);
  header.subject = context_limit - 1;
  header.source = static_cast<Rank>(max_ranks - 1);
  const Decoded decoded = decode(encoded(header), max_payload);
  EXPECT_EQ(decoded.header.subject, header.subject);
  EXPECT_EQ(decoded.header.source, header.source);
}

TEST(Frame, a_reply_has_no_source_and_all_bits_for_its_request) {
  auto header = message(MessageKind::ack, 0);
  header.subject = ~std::uint64_t{0};
  const Decoded decoded = decode(encoded(header), max_payload);
  EXPECT_EQ(decoded.header.subject, header.subject);
  EXPECT_EQ(decoded.header.source, Rank{0});
}

TEST(Frame, names_tags_that_nobody_has) {
  auto negative_tag = matching(MessageKind::rts, sizeof(ReadyToSend));
  negative_tag.tag = Tag{-7};
  EXPECT_EQ(fault_text(negative_tag), "a frame of kind rts has the tag -7");
  auto reply = message(MessageKind::fin, 0);
  reply.tag = Tag{1};
  EXPECT_EQ(decode(encoded(reply), max_payload).fault, Fault::tag);
}

TEST(Frame, values_in_unused_places_are_a_fault) {
  for (const std::size_t place : {6U, 7U}) {
    Header bytes = encoded(message(MessageKind::ack, 0));
    bytes[place] = std::byte{1};
    EXPECT_EQ(decode(bytes, max_payload).fault, Fault::reserved) << place;
  }
}

TEST(Frame, good_bytes_need_no_explanation) {
  for (const WireHeader& header : one_of_each_kind()) EXPECT_EQ(fault_text(header), "");
}

}  // namespace
}  // namespace sluice::frame
