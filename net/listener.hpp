// Where this process can be reached: a listening socket on each address that it offers, on a port that the system chooses.
//
// Errors: std::system_error naming address and cause. Threading: one thread, at the start.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/address.hpp"
#include "runtime/base/posix.hpp"

namespace sluice {

/// What a process tells all others. Plain bytes, to be gathered by any means.
struct TcpEndpoint {
  static constexpr std::size_t max_addresses = 8;

  std::uint32_t count = 0;  // 0: it cannot be reached
  std::uint32_t unused = 0;
  std::array<std::uint16_t, max_addresses> ports{};
  std::array<Address, max_addresses> addresses{};
};

class Listener {
 public:
  Listener() = default;
  /// The first `TcpEndpoint::max_addresses` of `addresses` that can be listened on are offered; throws when none can.
  explicit Listener(std::span<const Address> addresses);

  [[nodiscard]] const TcpEndpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] std::span<const Descriptor> sockets() const { return sockets_; }

 private:
  TcpEndpoint endpoint_;
  std::vector<Descriptor> sockets_;
};

}  // namespace sluice
