#include "verbs/port_choice.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace sluice {
namespace {

constexpr Gid link_local{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 1};
constexpr Gid ipv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3};
constexpr Gid ipv6{0xfd, 0x72, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

PortDescription roce(const std::string& device, std::vector<GidDescription> gids, bool active = true) {
  return {.device = device, .port = 1, .active = active, .ethernet = true, .lid = 0, .gids = std::move(gids)};
}

PortDescription infiniband(const std::string& device, std::uint8_t port, std::uint16_t lid, bool active = true) {
  return {.device = device, .port = port, .active = active, .ethernet = false, .lid = lid, .gids = {{0, false, link_local}}};
}

std::string why_none(const std::vector<PortDescription>& ports, std::string_view device = {},
                     std::optional<std::uint8_t> gid = {}) {
  try {
    static_cast<void>(choose_port(ports, device, gid));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "one was chosen";
}

TEST(port_choice, first_active_port_is_taken) {
  const std::vector<PortDescription> ports{infiniband("a", 1, 7, false), infiniband("a", 2, 8), infiniband("b", 1, 9)};
  EXPECT_EQ(choose_port(ports, "", {}).port, 1U);
  EXPECT_EQ(choose_port(ports, "", {}).network, VerbsNetwork::infiniband);
}

TEST(port_choice, named_adapter_is_taken_by_its_first_active_port) {
  const std::vector<PortDescription> ports{infiniband("a", 1, 7), infiniband("b", 1, 8, false), infiniband("b", 2, 9)};
  EXPECT_EQ(choose_port(ports, "b", {}).port, 2U);
}

TEST(port_choice, named_port_is_taken_and_no_other) {
  const std::vector<PortDescription> ports{infiniband("b", 1, 8, false), infiniband("b", 2, 9)};
  EXPECT_EQ(choose_port(ports, "b:2", {}).port, 1U);
  EXPECT_EQ(why_none(ports, "b:1"), "port b:1 is not active");
}

TEST(port_choice, addresses_of_roce_are_preferred_in_order) {
  std::vector<GidDescription> gids{
      {0, false, link_local}, {1, false, ipv4}, {2, true, link_local}, {3, true, ipv6}, {4, true, ipv4}};
  const std::vector<std::pair<int, VerbsNetwork>> order{{4, VerbsNetwork::roce_v2_ipv4},
                                                        {3, VerbsNetwork::roce_v2_ipv6},
                                                        {2, VerbsNetwork::roce_v2_ipv6},
                                                        {1, VerbsNetwork::roce_v1},
                                                        {0, VerbsNetwork::roce_v1}};
  for (const auto& [index, network] : order) {
    const PortChoice choice = choose_port({roce("r", gids)}, "", {});
    EXPECT_EQ(choice.gid.index, index);
    EXPECT_EQ(choice.network, network);
    std::erase_if(gids, [used = choice.gid.index](const GidDescription& gid) { return gid.index == used; });
  }
}

TEST(port_choice, address_can_be_named_by_its_index) {
  const std::vector<PortDescription> ports{roce("r", {{0, true, link_local}, {1, true, ipv4}})};
  EXPECT_EQ(choose_port(ports, "", std::uint8_t{0}).gid.gid, link_local);
  EXPECT_EQ(why_none(ports, "", std::uint8_t{5}), "port r:1 has no GID of index 5, SLUICE_VERBS_GID");
}

TEST(port_choice, port_without_an_address_is_passed_over) {
  const std::vector<PortDescription> ports{roce("r", {{0, true, Gid{}}}), infiniband("i", 1, 0), roce("s", {{1, true, ipv4}})};
  EXPECT_EQ(choose_port(ports, "", {}).port, 2U);
}

TEST(port_choice, cause_of_finding_none_is_said) {
  EXPECT_EQ(why_none({}), "no RDMA adapter was found");
  EXPECT_EQ(why_none({roce("r", {}, false)}), "no port is active; ports: r:1 (not active)");
  EXPECT_EQ(why_none({roce("r", {})}), "port r:1 has no GID: its interface has no address");
  EXPECT_EQ(why_none({infiniband("i", 1, 0)}), "port i:1 has no LID: no subnet manager has seen it");
  EXPECT_EQ(why_none({roce("r", {})}, "mlx5_0"), "SLUICE_VERBS_DEVICE=mlx5_0 is not there; ports: r:1");
}

TEST(port_choice, index_of_an_address_is_a_number_or_automatic) {
  EXPECT_EQ(gid_index("3"), std::uint8_t{3});
  EXPECT_EQ(gid_index("auto"), std::nullopt);
}

TEST(port_choice, names_that_are_none_are_refused) {
  const std::vector<PortDescription> ports{infiniband("a", 1, 7)};
  for (const char* name : {":1", "a:", "a:0", "a:x", "a:1x", "a:255", "a:-1"}) {
    EXPECT_EQ(why_none(ports, name),
              "SLUICE_VERBS_DEVICE=" + std::string(name) + ": expected a name, or a name, a colon and a port");
  }
}

TEST(port_choice, addresses_are_shown_as_people_write_them) {
  EXPECT_EQ(to_string(ipv4), "10.1.2.3");
  EXPECT_EQ(to_string(ipv6), "fd72::9");
}

}  // namespace
}  // namespace sluice
