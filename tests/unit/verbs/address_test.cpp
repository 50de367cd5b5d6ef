#include "verbs/address.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

VerbsAddress roce_address() {
  VerbsAddress address;
  address.network = VerbsNetwork::roce_v2_ipv4;
  address.mtu = 5;
  address.port = 1;
  address.reads = 128;
  address.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  return address;
}

VerbsAddress infiniband_address() {
  VerbsAddress address;
  address.network = VerbsNetwork::infiniband;
  address.mtu = 4;
  address.lid = 0x1234;
  address.port = 2;
  address.reads = 16;
  return address;
}

VerbsHello hello() {
  return {.step = VerbsHello::Step::hello,
          .queue_pair = 0xabcdef,
          .packet_number = 0x123456,
          .window = 32,
          .buffer_bytes = 16512,
          .ring_words = {0x7fff12345640, 0x1234},
          .ring_slots = 16};
}

TEST(verbs_address, what_was_encoded_is_read_back) {
  for (const VerbsAddress& address : {roce_address(), infiniband_address(), VerbsAddress{}}) {
    EXPECT_EQ(VerbsAddress::decode(address.encode()), address);
  }
}

TEST(verbs_address, every_place_has_its_number_in_little_endian) {
  const VerbsAddress::Wire wire = infiniband_address().encode();
  EXPECT_EQ(wire[0], std::byte{'S'});
  EXPECT_EQ(wire[3], std::byte{'A'});
  EXPECT_EQ(wire[4], std::byte{2});
  EXPECT_EQ(wire[6], std::byte{1});
  EXPECT_EQ(wire[8], std::byte{0x34});
  EXPECT_EQ(wire[9], std::byte{0x12});
}

TEST(verbs_address, damage_is_noticed) {
  for (const std::size_t place : {0, 4, 6, 7, 10, 11}) {
    VerbsAddress::Wire wire = roce_address().encode();
    wire[place] = place == 10 ? std::byte{0} : std::byte{99};
    EXPECT_FALSE(VerbsAddress::decode(wire)) << place;
  }
  EXPECT_FALSE(VerbsAddress::decode(VerbsAddress::Wire{}));
}

TEST(verbs_address, address_that_nobody_could_reach_is_refused) {
  VerbsAddress without_gid = roce_address();
  without_gid.gid = {};
  EXPECT_FALSE(VerbsAddress::decode(without_gid.encode()));
  VerbsAddress without_lid = infiniband_address();
  without_lid.lid = 0;
  EXPECT_FALSE(VerbsAddress::decode(without_lid.encode()));
}

TEST(verbs_address, job_on_one_kind_of_network_goes_together) {
  const std::vector<VerbsAddress> job{roce_address(), roce_address(), roce_address()};
  EXPECT_EQ(why_not_together(job), "");
}

TEST(verbs_address, rank_without_an_adapter_is_named) {
  const std::vector<VerbsAddress> job{roce_address(), roce_address(), VerbsAddress{}};
  EXPECT_EQ(why_not_together(job), "rank 2 has no RDMA adapter that it could use");
}

TEST(verbs_address, rank_on_another_kind_of_network_is_named) {
  const std::vector<VerbsAddress> job{roce_address(), infiniband_address()};
  EXPECT_EQ(why_not_together(job), "rank 1 is on InfiniBand, rank 0 on RoCE v2 over IPv4");
}

TEST(hello, what_was_encoded_is_read_back) { EXPECT_EQ(VerbsHello::decode(hello().encode()), hello()); }

TEST(hello, damage_is_noticed) {
  for (const std::size_t place : {0, 4, 6, 7, 11, 15, 18, 37, 40, 47}) {
    VerbsHello::Wire wire = hello().encode();
    wire[place] = std::byte{77};
    EXPECT_FALSE(VerbsHello::decode(wire)) << place;
  }
}

TEST(hello, window_of_nothing_is_refused) {
  VerbsHello none = hello();
  none.window = 0;
  EXPECT_FALSE(VerbsHello::decode(none.encode()));
}

TEST(hello, rings_are_had_altogether_or_not_at_all) {
  VerbsHello none = hello();
  none.ring_slots = 0;
  EXPECT_FALSE(VerbsHello::decode(none.encode()));
  none.ring_words = {};
  EXPECT_EQ(VerbsHello::decode(none.encode()), none);
  none.ring_slots = 16;
  EXPECT_FALSE(VerbsHello::decode(none.encode()));
}

}  // namespace
}  // namespace sluice
