// Which of this machine's addresses a process offers to its peers, and in which order it tries those of a peer.
//
// SLUICE_TCP_INTERFACES is a comma-separated list of interface names (eth0), networks (10.0.0.0/8, fd00::/8) and addresses
// (10.1.2.3), of which an interface's address must match one; behind a `^` it must match none. Without it, and behind `^`:
//
//   * the interface is up and running (a bridge without members, such as docker0 on most machines, is not);
//   * not loopback, unless all processes of the job are on this machine (then nothing else: nobody outside has anything to
//     reach there), or there is nothing else;
//   * no bridge of containers and virtual machines, told by its name, unless there is nothing else: many machines have the same
//     address there.
//
// IPv4 comes before IPv6, global and private addresses before link-local ones; otherwise the order of the list, or the system's.
//
// Pure functions; any thread. They allocate, and are for MPI_Init.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.hpp"

namespace sluice {

/// One address of one interface, as the system lists them.
struct InterfaceAddress {
  std::string name;
  Address address;
  bool running = false;  // up, and with a carrier
  bool loopback = false;
};

/// IPv4 and IPv6 addresses of this machine, in the system's order. Throws std::system_error when it does not tell.
[[nodiscard]] std::vector<InterfaceAddress> read_interfaces();

/// What is wrong with a value of SLUICE_TCP_INTERFACES, naming the bad item; nothing for a good one. An empty value is good.
[[nodiscard]] std::optional<std::string> error_of_interfaces(std::string_view wanted);

/// Best first. `wanted`: a good value of SLUICE_TCP_INTERFACES. Empty when none can be had: `why_no_address` says why.
[[nodiscard]] std::vector<Address> choose_addresses(std::span<const InterfaceAddress> interfaces, std::string_view wanted,
                                                    bool all_on_this_host);
[[nodiscard]] std::string why_no_address(std::span<const InterfaceAddress> interfaces, std::string_view wanted);

/// The addresses of a peer in the order in which they are to be tried, from a process that offers `own`:
///   same subnet; then both public or both private; then the rest of a family that this process has itself; then link-local.
/// Within each, IPv4 first, then the peer's own order. Left out are those that cannot be the peer: loopback on another host,
/// addresses that are this host's own as well, other families. A link-local address comes once for every interface of this host
/// that it may be on, with that interface as scope.
[[nodiscard]] std::vector<Address> order_candidates(std::span<const Address> peers, std::span<const Address> own,
                                                    bool peer_on_this_host);

}  // namespace sluice
