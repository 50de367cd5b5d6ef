// Verbs transports of several processes inside this one, over a real adapter, for tests. Where there is none, `why_none` says so.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verbs/transport.hpp"

namespace sluice {

class VerbsHosts {
 public:
  /// Empty where an adapter can be had.
  static std::string why_none() {
    try {
      const VerbsDevice device(VerbsLibrary::get(), "", {});
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }

  enum class Peers { network, node };

  explicit VerbsHosts(std::size_t size, VerbsTransport::Options options = {}, Peers peers = Peers::network) {
    options.retry_seconds = 1;
    const std::vector<Address> loopback{*parse_address("127.0.0.1")};
    std::vector<Listener> listeners(size);
    std::vector<std::unique_ptr<VerbsQueues>> queues;
    VerbsTransport::Job job;
    job.on_this_host.resize(size, true);
    const bool on_node = peers == Peers::node;
    if (on_node) job.shares_memory = job.on_this_host;
    for (Listener& listener : listeners) {
      listener = Listener(loopback);
      job.endpoints.push_back(listener.endpoint());
      queues.push_back(std::make_unique<VerbsQueues>(VerbsDevice(VerbsLibrary::get(), "", {}), on_node ? 0 : size - 1,
                                                     on_node ? size - 1 : 0));
      job.addresses.push_back(queues.back()->device().address());
    }
    for (std::size_t i = 0; i < size; ++i) {
      options.self = Peer{static_cast<std::int32_t>(i)};
      transports.push_back(std::make_unique<VerbsTransport>(options, std::move(queues[i]), std::move(listeners[i]), job));
    }
  }

  VerbsTransport& operator[](std::size_t index) { return *transports[index]; }

  /// Everybody polls until `done` or a long time has passed (the adapter of an emulated machine is slow); `done` then says which.
  bool poll_until(const std::vector<MessageSink*>& sinks, const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      for (std::size_t i = 0; i < transports.size(); ++i) {
        if (!transports[i]) continue;
        if (transports[i]->take_helper_events()) transports[i]->attend();
        transports[i]->poll(*sinks[i]);
      }
    }
    return true;
  }

  std::vector<std::unique_ptr<VerbsTransport>> transports;
};

}  // namespace sluice
