#include "net/address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace sluice {
namespace {

Address address(const char* text) {
  const auto parsed = parse_address(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(Address{});
}

std::optional<std::uint8_t> mask(const char* text) { return prefix_of(*to_sockaddr(address(text), 0).get()); }

TEST(Address, is_read_and_shown_in_both_families) {
  for (const char* text : {"0.0.0.0", "10.1.2.3", "255.255.255.255", "::", "::1", "fd00::12", "2001:db8::ffff"}) {
    EXPECT_EQ(to_string(address(text)), text);
  }
  EXPECT_EQ(address("10.1.2.3").prefix, 32);
  EXPECT_EQ(address("10.1.2.3/8").prefix, 8);
  EXPECT_EQ(address("fd00::/8").prefix, 8);
  EXPECT_EQ(address("::1").prefix, 128);
}

TEST(Address, what_is_none_is_refused) {
  for (const char* text : {"", "10.1.2", "10.1.2.3/", "10.1.2.3/33", "10.1.2.3/-1", "10.1.2.3/8x", "10.1.2.256", "fd00::/129",
                           "fd00:::1", "eth0", "10.1.2.3 ", "/8"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
}

TEST(Address, goes_to_the_kernel_and_back) {
  for (const char* text : {"10.1.2.3", "fd00::12"}) {
    const SocketAddress native = to_sockaddr(address(text), 4711);
    EXPECT_EQ(from_sockaddr(*native.get()), address(text));
  }
  const SocketAddress v4 = to_sockaddr(address("10.1.2.3"), 4711);
  sockaddr_in native{};
  std::memcpy(&native, &v4.storage, sizeof native);
  EXPECT_EQ(ntohs(native.sin_port), 4711);
  EXPECT_EQ(v4.bytes, sizeof native);
}

TEST(Address, scope_is_kept_where_it_means_something) {
  Address link_local = address("fe80::1");
  link_local.scope = 3;
  const SocketAddress native = to_sockaddr(link_local, 1);
  EXPECT_EQ(from_sockaddr(*native.get()), link_local);
  EXPECT_EQ(to_string(link_local), "fe80::1%3");

  Address global = address("2001:db8::1");
  global.scope = 3;
  EXPECT_EQ(from_sockaddr(*to_sockaddr(global, 1).get())->scope, 0U);
}

TEST(Address, other_families_are_none) {
  sockaddr other{};
  other.sa_family = AF_UNIX;
  EXPECT_FALSE(from_sockaddr(other));
}

TEST(Address, knows_its_reach) {
  using Reach = Address::Reach;
  for (const char* text : {"127.0.0.1", "127.8.0.1", "::1"}) EXPECT_EQ(address(text).reach(), Reach::loopback) << text;
  for (const char* text : {"169.254.1.1", "fe80::1", "febf::1"}) EXPECT_EQ(address(text).reach(), Reach::link_local) << text;
  for (const char* text : {"10.0.0.1", "172.16.0.1", "172.31.255.1", "192.168.7.7", "100.64.0.1", "fd00::1"}) {
    EXPECT_EQ(address(text).reach(), Reach::site) << text;
  }
  for (const char* text : {"8.8.8.8", "172.32.0.1", "126.0.0.1", "2001:db8::1", "fec0::1"}) {
    EXPECT_EQ(address(text).reach() == Reach::global, std::string_view(text) != "fec0::1") << text;
  }
}

TEST(Address, shares_a_number_of_leading_bits) {
  EXPECT_TRUE(address("10.1.2.3").shares(address("10.1.2.9"), 28));
  EXPECT_FALSE(address("10.1.2.3").shares(address("10.1.2.9"), 29));
  EXPECT_TRUE(address("10.1.2.3").shares(address("192.168.1.1"), 0));
  EXPECT_TRUE(address("fd00::1").shares(address("fd00::1"), 128));
  EXPECT_FALSE(address("fd00::1").shares(address("fd00::2"), 128));
  EXPECT_FALSE(address("10.1.2.3").shares(address("fd00::1"), 0));
  EXPECT_FALSE(address("10.1.2.3").shares(address("10.1.2.3"), 33));
}

TEST(Address, prefix_is_read_from_a_mask) {
  EXPECT_EQ(mask("255.255.255.0"), 24);
  EXPECT_EQ(mask("255.240.0.0"), 12);
  EXPECT_EQ(mask("0.0.0.0"), 0);
  EXPECT_EQ(mask("255.255.255.255"), 32);
  EXPECT_EQ(mask("ffff:ffff:ffff:ffff::"), 64);
  EXPECT_FALSE(mask("255.0.255.0"));
}

}  // namespace
}  // namespace sluice
