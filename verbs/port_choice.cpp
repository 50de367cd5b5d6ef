#include "verbs/port_choice.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace sluice {
namespace {

struct PortName {
  std::string_view device;
  std::optional<std::uint8_t> port;
};

std::optional<PortName> parse(std::string_view text) {
  constexpr unsigned max_ports = 254;
  const auto colon = text.find(':');
  PortName name{text.substr(0, colon), std::nullopt};
  if (name.device.empty()) return std::nullopt;
  if (colon == std::string_view::npos) return name;
  const std::string_view digits = text.substr(colon + 1);
  unsigned port = 0;
  const auto [stopped, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || stopped != digits.data() + digits.size() || port == 0 || port > max_ports) return std::nullopt;
  name.port = static_cast<std::uint8_t>(port);
  return name;
}

bool is_zero(const Gid& gid) {
  return std::all_of(gid.begin(), gid.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// ::ffff:a.b.c.d
bool is_ipv4(const Gid& gid) {
  constexpr std::size_t prefix = 10;
  return std::all_of(gid.begin(), gid.begin() + prefix, [](std::uint8_t byte) { return byte == 0; }) && gid[prefix] == 0xff &&
         gid[prefix + 1] == 0xff;
}

bool is_link_local(const Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

/// Lower is better.
int rank_of(const GidDescription& gid) {
  const int reach = is_ipv4(gid.gid) ? 0 : (is_link_local(gid.gid) ? 2 : 1);
  return gid.is_v2 ? reach : reach + 3;
}

VerbsNetwork network_of(const PortDescription& port, const GidDescription& gid) {
  if (!port.ethernet) return VerbsNetwork::infiniband;
  if (!gid.is_v2) return VerbsNetwork::roce_v1;
  return is_ipv4(gid.gid) ? VerbsNetwork::roce_v2_ipv4 : VerbsNetwork::roce_v2_ipv6;
}

std::string name_of(const PortDescription& port) { return port.device + ":" + std::to_string(port.port); }

/// The address of a port; an exception says why it has none.
GidDescription choose_gid(const PortDescription& port, std::optional<std::uint8_t> wanted) {
  if (wanted) {
    const auto found = std::find_if(port.gids.begin(), port.gids.end(), [&](const auto& gid) { return gid.index == *wanted; });
    if (found != port.gids.end() && !is_zero(found->gid)) return *found;
    throw std::runtime_error("port " + name_of(port) + " has no GID of index " + std::to_string(*wanted) + ", SLUICE_VERBS_GID");
  }
  if (!port.ethernet) {
    if (port.lid == 0) throw std::runtime_error("port " + name_of(port) + " has no LID: no subnet manager has seen it");
    return port.gids.empty() ? GidDescription{} : port.gids.front();
  }
  const GidDescription* best = nullptr;
  for (const GidDescription& gid : port.gids) {
    if (!is_zero(gid.gid) && (!best || rank_of(gid) < rank_of(*best))) best = &gid;
  }
  if (!best) throw std::runtime_error("port " + name_of(port) + " has no GID: its interface has no address");
  return *best;
}

std::string why_none(const std::vector<PortDescription>& ports, std::string_view wanted) {
  if (ports.empty()) return "no RDMA adapter was found";
  std::string text = wanted.empty() ? "no port is active" : "SLUICE_VERBS_DEVICE=" + std::string(wanted) + " is not there";
  const char* separator = "; ports: ";
  for (const PortDescription& port : ports) {
    text += separator + name_of(port) + (port.active ? "" : " (not active)");
    separator = ", ";
  }
  return text;
}

}  // namespace

const char* name_of(VerbsNetwork network) {
  switch (network) {
    case VerbsNetwork::infiniband:
      return "InfiniBand";
    case VerbsNetwork::roce_v1:
      return "RoCE v1";
    case VerbsNetwork::roce_v2_ipv4:
      return "RoCE v2 over IPv4";
    case VerbsNetwork::roce_v2_ipv6:
      return "RoCE v2 over IPv6";
    case VerbsNetwork::none:
      break;
  }
  return "none";
}

std::optional<std::uint8_t> gid_index(std::string_view text) {
  std::uint8_t index = 0;
  const bool is_number = std::from_chars(text.data(), text.data() + text.size(), index).ec == std::errc();
  return is_number ? std::optional(index) : std::nullopt;
}

std::string to_string(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = is_ipv4(gid);
  ::inet_ntop(v4 ? AF_INET : AF_INET6, gid.data() + (v4 ? 12 : 0), text.data(), text.size());
  return text.data();
}

PortChoice choose_port(const std::vector<PortDescription>& ports, std::string_view device, std::optional<std::uint8_t> gid) {
  const std::optional<PortName> wanted = device.empty() ? PortName{} : parse(device);
  if (!wanted)
    throw std::runtime_error("SLUICE_VERBS_DEVICE=" + std::string(device) + ": expected a name, or a name, a colon and a port");
  std::string failure;
  bool named = false;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const PortDescription& port = ports[i];
    if (!wanted->device.empty() && (port.device != wanted->device || (wanted->port && port.port != *wanted->port))) continue;
    named = !wanted->device.empty();
    if (!port.active) continue;
    try {
      const GidDescription chosen = choose_gid(port, gid);
      return {i, network_of(port, chosen), chosen};
    } catch (const std::runtime_error& error) {
      if (failure.empty()) failure = error.what();
    }
  }
  if (!failure.empty()) throw std::runtime_error(failure);
  throw std::runtime_error(named ? "port " + std::string(device) + " is not active" : why_none(ports, device));
}

}  // namespace sluice
