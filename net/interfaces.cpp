#include "net/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <tuple>

namespace sluice {
namespace {

using Reach = Address::Reach;
using Family = Address::Family;

/// SLUICE_TCP_INTERFACES taken apart.
struct Wanted {
  struct Item {
    std::string_view text;
    std::optional<Address> network;  // otherwise the text is a name
  };
  std::vector<Item> items;
  bool excludes = false;
  std::string error;
};

bool is_name(std::string_view text) {
  const auto odd = [](char letter) { return letter <= ' ' || letter == '/' || letter == '^' || letter == 127; };
  const auto dotted = [](char letter) { return letter == '.' || (letter >= '0' && letter <= '9'); };
  return !text.empty() && text.size() < IF_NAMESIZE && std::none_of(text.begin(), text.end(), odd) &&
         !std::all_of(text.begin(), text.end(), dotted);  // a part of an address
}

Wanted parse(std::string_view value) {
  Wanted wanted;
  if (value.empty()) return wanted;
  wanted.excludes = value.front() == '^';
  if (wanted.excludes) value.remove_prefix(1);
  for (bool last = false; !last;) {
    const auto comma = value.find(',');
    const std::string_view text = value.substr(0, comma);
    Wanted::Item item{text, parse_address(text)};
    if (!item.network && !is_name(text)) {
      wanted.error.append(1, '"').append(text).append("\" is neither the name of an interface nor an address nor a network");
      return wanted;
    }
    wanted.items.push_back(item);
    last = comma == std::string_view::npos;
    if (!last) value.remove_prefix(comma + 1);
  }
  return wanted;
}

bool matches(const Wanted::Item& item, const InterfaceAddress& interface) {
  return item.network ? item.network->shares(interface.address, item.network->prefix) : item.text == interface.name;
}

/// Position of the first item that matches; the number of items if none does.
std::size_t place_in(const Wanted& wanted, const InterfaceAddress& interface) {
  const auto found =
      std::find_if(wanted.items.begin(), wanted.items.end(), [&](const auto& item) { return matches(item, interface); });
  return static_cast<std::size_t>(found - wanted.items.begin());
}

bool is_virtual_bridge(std::string_view name) {
  constexpr std::array<std::string_view, 7> prefixes{"docker", "br-", "virbr", "lxcbr", "lxdbr", "cni", "podman"};
  return std::any_of(prefixes.begin(), prefixes.end(), [name](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Classes of addresses that are taken without being asked for; only the first class that has any is.
enum class Class { usual, bridge, loopback, never };

Class class_of(const InterfaceAddress& interface, bool all_on_this_host) {
  if (!interface.running) return Class::never;
  if (interface.loopback) return all_on_this_host ? Class::usual : Class::loopback;
  if (all_on_this_host) return Class::bridge;
  return is_virtual_bridge(interface.name) ? Class::bridge : Class::usual;
}

struct Ranked {
  std::tuple<std::size_t, bool, bool> order;  // place in the list, link-local, IPv6
  Address address;
};

Ranked ranked(const InterfaceAddress& interface, std::size_t place) {
  return {{place, interface.address.reach() == Reach::link_local, interface.address.family == Family::v6}, interface.address};
}

std::vector<Ranked> take_listed(std::span<const InterfaceAddress> interfaces, const Wanted& wanted) {
  std::vector<Ranked> taken;
  for (const InterfaceAddress& interface : interfaces) {
    const std::size_t place = place_in(wanted, interface);
    if (interface.running && place < wanted.items.size()) taken.push_back(ranked(interface, place));
  }
  return taken;
}

std::vector<Ranked> take_usual(std::span<const InterfaceAddress> interfaces, const Wanted& wanted, bool all_on_this_host) {
  std::vector<Ranked> taken;
  for (const Class best : {Class::usual, Class::bridge, Class::loopback}) {
    for (const InterfaceAddress& interface : interfaces) {
      const bool excluded = place_in(wanted, interface) < wanted.items.size();
      if (!excluded && class_of(interface, all_on_this_host) == best) taken.push_back(ranked(interface, 0));
    }
    if (!taken.empty()) break;
  }
  return taken;
}

/// How well a peer's address suits this process; smaller is better.
enum class Suits { same_subnet, same_reach, same_family, link_local, not_at_all };

Suits suitability(const Address& peer, std::span<const Address> own, bool peer_on_this_host) {
  if (peer.family == Family::none) return Suits::not_at_all;
  Suits best = Suits::not_at_all;
  for (const Address& mine : own) {
    if (mine.family != peer.family) continue;
    if (mine.same_host(peer) && !peer_on_this_host) return Suits::not_at_all;
    if ((mine.reach() == Reach::loopback) != (peer.reach() == Reach::loopback)) continue;
    if (peer.reach() == Reach::loopback && !peer_on_this_host) continue;
    if (peer.family == Family::v6 && peer.reach() == Reach::link_local) {
      if (mine.reach() == Reach::link_local) best = std::min(best, Suits::link_local);
      continue;
    }
    const bool same_subnet = mine.prefix == peer.prefix && mine.shares(peer, mine.prefix) && mine.prefix != 0;
    const Suits suits = same_subnet                         ? Suits::same_subnet
                        : mine.reach() == peer.reach()      ? Suits::same_reach
                        : peer.reach() == Reach::link_local ? Suits::link_local
                                                            : Suits::same_family;
    best = std::min(best, suits);
  }
  return best;
}

/// A link-local address with every scope that it may have here; any other as it is.
std::vector<Address> as_seen_here(const Address& peer, std::span<const Address> own) {
  if (peer.family != Family::v6 || peer.reach() != Reach::link_local) return {peer};
  std::vector<Address> seen;
  for (const Address& mine : own) {
    if (mine.family != Family::v6 || mine.reach() != Reach::link_local) continue;
    Address scoped = peer;
    scoped.scope = mine.scope;
    if (std::find(seen.begin(), seen.end(), scoped) == seen.end()) seen.push_back(scoped);
  }
  return seen;
}

}  // namespace

std::vector<InterfaceAddress> read_interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw std::system_error(errno, std::generic_category(), "getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<InterfaceAddress> interfaces;
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr) continue;
    auto address = from_sockaddr(*entry->ifa_addr);
    if (!address) continue;
    if (const auto prefix = entry->ifa_netmask ? prefix_of(*entry->ifa_netmask) : std::nullopt) address->prefix = *prefix;
    constexpr unsigned alive = IFF_UP | IFF_RUNNING;
    interfaces.push_back(
        {entry->ifa_name, *address, (entry->ifa_flags & alive) == alive, (entry->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return interfaces;
}

std::optional<std::string> error_of_interfaces(std::string_view wanted) {
  std::string error = parse(wanted).error;
  return error.empty() ? std::nullopt : std::optional(std::move(error));
}

std::vector<Address> choose_addresses(std::span<const InterfaceAddress> interfaces, std::string_view wanted,
                                      bool all_on_this_host) {
  const Wanted list = parse(wanted);
  const bool listed = !list.items.empty() && !list.excludes;
  std::vector<Ranked> taken = listed ? take_listed(interfaces, list) : take_usual(interfaces, list, all_on_this_host);
  std::stable_sort(taken.begin(), taken.end(), [](const Ranked& a, const Ranked& b) { return a.order < b.order; });
  std::vector<Address> addresses;
  for (const Ranked& each : taken) {
    if (std::find(addresses.begin(), addresses.end(), each.address) == addresses.end()) addresses.push_back(each.address);
  }
  return addresses;
}

std::string why_no_address(std::span<const InterfaceAddress> interfaces, std::string_view wanted) {
  std::string text =
      wanted.empty() ? "no interface is up" : "SLUICE_TCP_INTERFACES=" + std::string(wanted) + ": no address matches";
  if (interfaces.empty()) return text + "; this host has no addresses";
  text += "; there are";
  for (const InterfaceAddress& each : interfaces) {
    text.append(&each == interfaces.data() ? " " : ", ").append(each.name).append(" ").append(to_string(each.address));
    text.append("/").append(std::to_string(each.address.prefix)).append(each.running ? "" : " (down)");
  }
  return text;
}

std::vector<Address> order_candidates(std::span<const Address> peers, std::span<const Address> own, bool peer_on_this_host) {
  struct Candidate {
    std::tuple<Suits, bool> order;
    Address address;
  };
  std::vector<Candidate> candidates;
  for (const Address& peer : peers) {
    const Suits suits = suitability(peer, own, peer_on_this_host);
    if (suits == Suits::not_at_all) continue;
    for (const Address& seen : as_seen_here(peer, own)) candidates.push_back({{suits, peer.family == Family::v6}, seen});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
  std::vector<Address> addresses;
  addresses.reserve(candidates.size());
  for (const Candidate& candidate : candidates) addresses.push_back(candidate.address);
  return addresses;
}

}  // namespace sluice
