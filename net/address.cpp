#include "net/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sluice {
namespace {

template <class Native>
Native native(const sockaddr& address) {
  Native copy;
  std::memcpy(&copy, &address, sizeof copy);
  return copy;
}

struct Network {
  Address::Reach reach;
  Address::Family family;
  unsigned bits;
  std::array<std::uint8_t, 4> begin;
};

constexpr std::array<Network, 9> special_networks{{
    {Address::Reach::loopback, Address::Family::v4, 8, {127}},
    {Address::Reach::link_local, Address::Family::v4, 16, {169, 254}},
    {Address::Reach::site, Address::Family::v4, 8, {10}},
    {Address::Reach::site, Address::Family::v4, 12, {172, 16}},
    {Address::Reach::site, Address::Family::v4, 16, {192, 168}},
    {Address::Reach::site, Address::Family::v4, 10, {100, 64}},  // shared address space, RFC 6598
    {Address::Reach::link_local, Address::Family::v6, 10, {0xfe, 0x80}},
    {Address::Reach::site, Address::Family::v6, 7, {0xfc}},
    {Address::Reach::site, Address::Family::v6, 10, {0xfe, 0xc0}},
}};

bool is_loopback_v6(const Address& address) {
  return address.bytes.back() == 1 &&
         std::all_of(address.bytes.begin(), address.bytes.end() - 1, [](auto byte) { return byte == 0; });
}

}  // namespace

Address::Reach Address::reach() const {
  if (family == Family::v6 && is_loopback_v6(*this)) return Reach::loopback;
  for (const Network& network : special_networks) {
    Address begin{.family = network.family};
    std::copy(network.begin.begin(), network.begin.end(), begin.bytes.begin());
    if (shares(begin, network.bits)) return network.reach;
  }
  return Reach::global;
}

bool Address::shares(const Address& other, unsigned count) const {
  if (family != other.family || count > bits()) return false;
  const std::size_t whole = count / 8;
  if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(whole), other.bytes.begin())) return false;
  const unsigned rest = count % 8;
  return rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - rest) == 0;
}

std::optional<Address> from_sockaddr(const sockaddr& address) {
  Address made;
  if (address.sa_family == AF_INET) {
    const auto v4 = native<sockaddr_in>(address);
    made.family = Address::Family::v4;
    std::memcpy(made.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
  } else if (address.sa_family == AF_INET6) {
    const auto v6 = native<sockaddr_in6>(address);
    made.family = Address::Family::v6;
    std::memcpy(made.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    if (made.reach() == Address::Reach::link_local) made.scope = v6.sin6_scope_id;
  } else {
    return std::nullopt;
  }
  made.prefix = static_cast<std::uint8_t>(made.bits());
  return made;
}

std::optional<std::uint8_t> prefix_of(const sockaddr& mask) {
  const auto address = from_sockaddr(mask);
  if (!address) return std::nullopt;
  Address ones{.family = address->family};
  ones.bytes.fill(0xff);
  unsigned count = 0;
  while (count < address->bits() && address->shares(ones, count + 1)) ++count;
  for (unsigned bit = count; bit < address->bits(); ++bit) {
    if ((address->bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
  }
  return static_cast<std::uint8_t>(count);
}

SocketAddress to_sockaddr(const Address& address, std::uint16_t port) {
  SocketAddress made;
  if (address.family == Address::Family::v4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data(), sizeof v4.sin_addr);
    made.bytes = sizeof v4;
    std::memcpy(&made.storage, &v4, sizeof v4);
  } else if (address.family == Address::Family::v6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_scope_id = address.scope;
    std::memcpy(&v6.sin6_addr, address.bytes.data(), sizeof v6.sin6_addr);
    made.bytes = sizeof v6;
    std::memcpy(&made.storage, &v6, sizeof v6);
  }
  return made;
}

std::optional<Address> parse_address(std::string_view text) {
  const auto slash = text.find('/');
  const std::string host(text.substr(0, slash));
  Address made;
  if (::inet_pton(AF_INET, host.c_str(), made.bytes.data()) == 1) {
    made.family = Address::Family::v4;
  } else if (::inet_pton(AF_INET6, host.c_str(), made.bytes.data()) == 1) {
    made.family = Address::Family::v6;
  } else {
    return std::nullopt;
  }
  unsigned bits = made.bits();
  if (slash != std::string_view::npos) {
    const std::string_view length = text.substr(slash + 1);
    const auto [stopped, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
    if (error != std::errc() || stopped != length.data() + length.size() || bits > made.bits()) return std::nullopt;
  }
  made.prefix = static_cast<std::uint8_t>(bits);
  return made;
}

std::string to_string(const Address& address) {
  if (address.family == Address::Family::none) return "no address";
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(address.family == Address::Family::v4 ? AF_INET : AF_INET6, address.bytes.data(), text.data(), text.size());
  std::string shown(text.data());
  if (address.scope != 0) shown.append("%").append(std::to_string(address.scope));
  return shown;
}

}  // namespace sluice
