#include "net/listener.hpp"

#include <netinet/in.h>

#include <exception>

#include "net/system.hpp"

namespace sluice {
namespace {

/// All ranks of a large job may call at once.
constexpr int backlog = 1024;

std::uint16_t port_of(const Descriptor& socket) {
  SocketAddress name;
  name.bytes = sizeof name.storage;
  checked(system::name_of(socket.get(), reinterpret_cast<sockaddr*>(&name.storage), &name.bytes), "getsockname");
  const bool v6 = name.storage.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<const sockaddr_in6*>(&name.storage)->sin6_port
                  : reinterpret_cast<const sockaddr_in*>(&name.storage)->sin_port);
}

Descriptor listen_on(const Address& address) {
  const SocketAddress where = to_sockaddr(address, 0);
  Descriptor socket(checked(system::socket(where.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC), "socket"));
  if (where.storage.ss_family == AF_INET6) system::set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (system::bind(socket.get(), where.get(), where.bytes) != 0) throw_errno("bind to " + to_string(address));
  if (system::listen(socket.get(), backlog) != 0) throw_errno("listen on " + to_string(address));
  return socket;
}

}  // namespace

Listener::Listener(std::span<const Address> addresses) {
  std::exception_ptr failure;
  for (const Address& address : addresses) {
    if (endpoint_.count == TcpEndpoint::max_addresses) break;
    try {
      sockets_.push_back(listen_on(address));
      endpoint_.addresses[endpoint_.count] = address;
      endpoint_.ports[endpoint_.count] = port_of(sockets_.back());
      ++endpoint_.count;
    } catch (const std::system_error&) {
      // An IPv6 address whose uniqueness is still being checked, for instance.
      if (!failure) failure = std::current_exception();
    }
  }
  if (sockets_.empty() && failure) std::rethrow_exception(failure);
}

}  // namespace sluice
