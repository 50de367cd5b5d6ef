#include "net/interfaces.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Texts = std::vector<std::string>;

InterfaceAddress on(const char* name, const char* text, bool running = true) {
  Address address = parse_address(text).value();
  if (address.reach() == Address::Reach::link_local && address.family == Address::Family::v6) {
    address.scope = static_cast<std::uint32_t>(std::string_view(name).back() - '0') + 1;
  }
  return {name, address, running, std::string_view(name) == "lo"};
}

Texts shown(std::span<const Address> addresses) {
  Texts texts;
  for (const Address& address : addresses) texts.push_back(to_string(address));
  return texts;
}

const std::vector<InterfaceAddress> machine{
    on("lo", "127.0.0.1/8"),       on("lo", "::1/128"),         on("eth0", "fe80::10/64"),
    on("eth0", "2001:db8::10/64"), on("eth0", "192.0.2.10/24"), on("docker0", "172.17.0.1/16"),
    on("ib0", "10.8.0.10/16"),     on("ib0", "fd00:8::10/64"),  on("eth1", "198.51.100.10/24", false),
};

Texts chosen(const char* wanted, bool all_on_this_host = false, std::span<const InterfaceAddress> interfaces = machine) {
  return shown(choose_addresses(interfaces, wanted, all_on_this_host));
}

std::string error(const char* wanted) { return error_of_interfaces(wanted).value_or(""); }

std::vector<Address> addresses(std::initializer_list<const char*> texts) {
  std::vector<Address> made;
  for (const char* text : texts) made.push_back(parse_address(text).value());
  return made;
}

Texts candidates(std::initializer_list<const char*> peer, std::initializer_list<const char*> own, bool here = false) {
  return shown(order_candidates(addresses(peer), addresses(own), here));
}

TEST(Interfaces, default_takes_what_runs_and_is_no_loopback_and_no_bridge_of_containers) {
  EXPECT_EQ(chosen(""), (Texts{"192.0.2.10", "10.8.0.10", "2001:db8::10", "fd00:8::10", "fe80::10%1"}));
}

TEST(Interfaces, default_is_loopback_alone_when_everybody_is_here) {
  EXPECT_EQ(chosen("", true), (Texts{"127.0.0.1", "::1"}));
  const std::vector<InterfaceAddress> without_loopback{on("eth0", "192.0.2.10/24")};
  EXPECT_EQ(chosen("", true, without_loopback), (Texts{"192.0.2.10"}));
}

TEST(Interfaces, default_takes_a_bridge_and_then_loopback_when_there_is_nothing_else) {
  const std::vector<InterfaceAddress> bridge{on("lo", "127.0.0.1/8"), on("docker0", "172.17.0.1/16"),
                                             on("eth0", "192.0.2.1/24", false)};
  EXPECT_EQ(chosen("", false, bridge), (Texts{"172.17.0.1"}));
  const std::vector<InterfaceAddress> loopback{on("lo", "127.0.0.1/8"), on("docker0", "172.17.0.1/16", false)};
  EXPECT_EQ(chosen("", false, loopback), (Texts{"127.0.0.1"}));
}

TEST(Interfaces, names_and_networks_of_both_families_select) {
  EXPECT_EQ(chosen("ib0"), (Texts{"10.8.0.10", "fd00:8::10"}));
  EXPECT_EQ(chosen("10.0.0.0/8"), (Texts{"10.8.0.10"}));
  EXPECT_EQ(chosen("fd00::/8"), (Texts{"fd00:8::10"}));
  EXPECT_EQ(chosen("192.0.2.10"), (Texts{"192.0.2.10"}));
  EXPECT_EQ(chosen("lo"), (Texts{"127.0.0.1", "::1"}));
  EXPECT_EQ(chosen("docker0"), (Texts{"172.17.0.1"}));
}

TEST(Interfaces, order_of_the_list_is_the_order_of_preference) {
  EXPECT_EQ(chosen("ib0,192.0.2.0/24"), (Texts{"10.8.0.10", "fd00:8::10", "192.0.2.10"}));
  EXPECT_EQ(chosen("192.0.2.0/24,ib0"), (Texts{"192.0.2.10", "10.8.0.10", "fd00:8::10"}));
  EXPECT_EQ(chosen("fd00::/8,ib0"), (Texts{"fd00:8::10", "10.8.0.10"}));
}

TEST(Interfaces, a_list_of_what_is_not_wanted_leaves_the_rest_of_the_default) {
  EXPECT_EQ(chosen("^eth0"), (Texts{"10.8.0.10", "fd00:8::10"}));
  EXPECT_EQ(chosen("^ib0,2001:db8::/32"), (Texts{"192.0.2.10", "fe80::10%1"}));
}

TEST(Interfaces, an_interface_that_is_down_is_not_taken_even_when_named) { EXPECT_EQ(chosen("eth1"), Texts{}); }

TEST(Interfaces, good_values_have_no_error) {
  for (const char* value :
       {"", "eth0", "eth0,ib0", "10.0.0.0/8", "fd00::/8,eth0", "^docker0", "^lo,10.1.2.3", "eth0.100", "enp3s0f0:1"}) {
    EXPECT_EQ(error(value), "") << value;
  }
}

TEST(Interfaces, error_names_the_bad_item) {
  EXPECT_EQ(error("eth0,10.0.0.0/40,ib0"), "\"10.0.0.0/40\" is neither the name of an interface nor an address nor a network");
  for (const char* item :
       {"10.0.0", "10.0.0.0/8/8", "eth0 ", "an-interface-with-a-name-too-long", "fd00::/200", "eth0/24", "^eth0"}) {
    const std::string quoted = std::string(1, '"').append(item).append(1, '"');
    EXPECT_EQ(error(std::string("lo,").append(item).c_str()).find(quoted), 0U) << item;
  }
  for (const char* value : {",", "eth0,", ",eth0", "^"}) EXPECT_NE(error(value).find("\"\""), std::string::npos) << value;
}

TEST(Interfaces, an_empty_choice_is_explained_by_what_there_is) {
  const std::vector<InterfaceAddress> two{on("lo", "127.0.0.1/8"), on("eth0", "192.0.2.10/24", false)};
  EXPECT_EQ(why_no_address(two, "ib0"),
            "SLUICE_TCP_INTERFACES=ib0: no address matches; there are lo 127.0.0.1/8, eth0 192.0.2.10/24 (down)");
  EXPECT_EQ(why_no_address({}, ""), "no interface is up; this host has no addresses");
}

TEST(Interfaces, this_machine_tells_its_addresses) {
  for (const InterfaceAddress& each : read_interfaces()) {
    EXPECT_FALSE(each.name.empty());
    EXPECT_NE(each.address.family, Address::Family::none);
    EXPECT_LE(each.address.prefix, each.address.bits());
  }
}

TEST(Interfaces, same_subnet_comes_first) {
  EXPECT_EQ(candidates({"192.0.2.20/24", "10.8.0.20/16"}, {"10.8.0.10/16", "198.51.100.1/24"}),
            (Texts{"10.8.0.20", "192.0.2.20"}));
}

TEST(Interfaces, without_a_subnet_in_common_addresses_of_the_same_reach_come_first) {
  EXPECT_EQ(candidates({"10.8.0.20/16", "192.0.2.20/24"}, {"198.51.100.1/24"}), (Texts{"192.0.2.20", "10.8.0.20"}));
  EXPECT_EQ(candidates({"192.0.2.20/24", "10.8.0.20/16"}, {"10.9.0.10/16"}), (Texts{"10.8.0.20", "192.0.2.20"}));
}

TEST(Interfaces, ipv4_comes_first_within_a_class) {
  EXPECT_EQ(candidates({"fd00::2/64", "10.8.0.20/16"}, {"10.8.0.10/16", "fd00::1/64"}), (Texts{"10.8.0.20", "fd00::2"}));
  EXPECT_EQ(candidates({"10.9.0.20/16", "fd00::2/64"}, {"10.8.0.10/16", "fd00::1/64"}), (Texts{"fd00::2", "10.9.0.20"}));
}

TEST(Interfaces, addresses_that_cannot_be_the_peer_are_left_out) {
  EXPECT_EQ(candidates({"127.0.0.1/8", "172.17.0.1/16", "fd00::2/64", "10.8.0.20/16"},
                       {"127.0.0.1/8", "172.17.0.1/16", "10.8.0.10/16"}),
            (Texts{"10.8.0.20"}));
}

TEST(Interfaces, a_peer_on_this_host_is_reached_by_loopback_and_by_the_hosts_own_addresses) {
  EXPECT_EQ(candidates({"127.0.0.1/8", "10.8.0.10/16"}, {"127.0.0.1/8", "10.8.0.10/16"}, true),
            (Texts{"127.0.0.1", "10.8.0.10"}));
}

TEST(Interfaces, link_local_addresses_come_last_once_for_every_interface) {
  auto own = addresses({"fe80::1/64", "fe80::2/64", "fd00:1::1/64"});
  own[0].scope = 2;
  own[1].scope = 5;
  auto peer = addresses({"fe80::9/64", "fd00:2::9/64"});
  peer[0].scope = 77;  // the peer's own number for the interface

  EXPECT_EQ(shown(order_candidates(peer, own, false)), (Texts{"fd00:2::9", "fe80::9%2", "fe80::9%5"}));
}

}  // namespace
}  // namespace sluice
