// Which port of which adapter a process uses, and under which of its addresses.
//
// SLUICE_VERBS_DEVICE is `name` or `name:port`; without it the first active port in the library's order that has an address. Of
// the addresses (GIDs) of an Ethernet port, the first in this order:
//
//   RoCE v2, IPv4        routable, and the least trouble on a mixed network
//   RoCE v2, IPv6
//   RoCE v2, link-local
//   RoCE v1, IPv4, then IPv6, then link-local
//
// SLUICE_VERBS_GID names one by its index instead. An InfiniBand port is reached by its LID.
//
// Pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

using Gid = std::array<std::uint8_t, 16>;

/// How a port is reached. Ports of different kinds do not reach each other.
enum class VerbsNetwork : std::uint8_t { none = 0, infiniband = 1, roce_v1 = 2, roce_v2_ipv4 = 3, roce_v2_ipv6 = 4 };
[[nodiscard]] const char* name_of(VerbsNetwork network);

struct GidDescription {
  std::uint8_t index = 0;
  bool is_v2 = false;  // RoCE; false also for an InfiniBand GID
  Gid gid{};
};

/// A port as the library describes it.
struct PortDescription {
  std::string device;
  std::uint8_t port = 1;
  bool active = false;
  bool ethernet = false;
  std::uint16_t lid = 0;
  std::vector<GidDescription> gids;
};

struct PortChoice {
  std::size_t port = 0;  // index into the descriptions
  VerbsNetwork network = VerbsNetwork::none;
  GidDescription gid;
};

/// `device`: SLUICE_VERBS_DEVICE, or empty. `gid`: SLUICE_VERBS_GID. Throws std::runtime_error that says why there is none.
[[nodiscard]] PortChoice choose_port(const std::vector<PortDescription>& ports, std::string_view device,
                                     std::optional<std::uint8_t> gid);

/// The index that a good value of SLUICE_VERBS_GID names; nothing for "auto".
[[nodiscard]] std::optional<std::uint8_t> gid_index(std::string_view text);

/// "10.0.0.1", "fe80::1".
[[nodiscard]] std::string to_string(const Gid& gid);

}  // namespace sluice
