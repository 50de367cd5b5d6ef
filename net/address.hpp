// Network addresses of either family, as plain bytes: they are compared, sent to other processes and handed to the kernel.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace sluice {

/// An address of an interface. The same on every machine of a job but for `scope`, which only means something on the machine
/// that the interface is on.
struct Address {
  enum class Family : std::uint8_t { none = 0, v4 = 4, v6 = 6 };
  enum class Reach : std::uint8_t { loopback, link_local, site, global };  // site: private networks (10/8, fc00::/7, ...)

  Family family = Family::none;
  std::uint8_t prefix = 0;  // bits that the addresses of its subnet have in common
  std::uint16_t unused = 0;
  std::uint32_t scope = 0;               // IPv6 link-local: index of the interface
  std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 has the first four

  bool operator==(const Address&) const = default;
  [[nodiscard]] unsigned bits() const { return family == Family::v4 ? 32 : 128; }
  [[nodiscard]] Reach reach() const;
  [[nodiscard]] bool same_host(const Address& other) const { return family == other.family && bytes == other.bytes; }
  /// The first `count` bits are equal.
  [[nodiscard]] bool shares(const Address& other, unsigned count) const;
};
static_assert(sizeof(Address) == 24 && std::is_trivially_copyable_v<Address>);

/// IPv4 and IPv6 socket addresses; nothing for others. The prefix is the whole address.
[[nodiscard]] std::optional<Address> from_sockaddr(const sockaddr& address);
/// Number of leading one bits of a netmask; nothing for a mask with holes.
[[nodiscard]] std::optional<std::uint8_t> prefix_of(const sockaddr& mask);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
[[nodiscard]] SocketAddress to_sockaddr(const Address& address, std::uint16_t port);

/// "10.1.2.3", "fd00::1" or "10.0.0.0/8"; without a length the prefix is the whole address. Nothing for anything else.
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);

/// "10.1.2.3", "fe80::1%2". Without the prefix.
[[nodiscard]] std::string to_string(const Address& address);

}  // namespace sluice
