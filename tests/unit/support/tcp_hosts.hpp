// TCP transports of several processes inside this one, joined over loopback, for tests.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "tcp/transport.hpp"

namespace sluice {

class TcpHosts {
 public:
  explicit TcpHosts(std::size_t size, const TcpTransport::Options& base = {}) {
    const std::vector<Address> loopback{*parse_address("127.0.0.1")};
    std::vector<Listener> listeners(size);
    for (Listener& listener : listeners) {
      listener = Listener(loopback);
      endpoints.push_back(listener.endpoint());
    }
    for (std::size_t i = 0; i < size; ++i) {
      TcpTransport::Options options = base;
      options.self = Peer{static_cast<std::int32_t>(i)};
      transports.push_back(
          std::make_unique<TcpTransport>(options, std::move(listeners[i]), endpoints, std::vector<bool>(size, true)));
    }
  }

  TcpTransport& operator[](std::size_t index) { return *transports[index]; }

  /// What the helper thread of a process does, once.
  void attend(std::size_t index) {
    if (transports[index]->take_helper_events()) transports[index]->attend();
  }

  /// Everybody polls until `done` or ten seconds have passed; `done` then says which.
  bool poll_until(const std::vector<MessageSink*>& sinks, const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      for (std::size_t i = 0; i < transports.size(); ++i) {
        if (!transports[i]) continue;
        attend(i);
        transports[i]->poll(*sinks[i]);
      }
    }
    return true;
  }

  std::vector<TcpEndpoint> endpoints;
  std::vector<std::unique_ptr<TcpTransport>> transports;
};

}  // namespace sluice
