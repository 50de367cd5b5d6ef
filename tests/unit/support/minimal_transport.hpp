// A transport that has no more than every transport must.
#pragma once

#include "runtime/transport/transport.hpp"

namespace sluice {

class MinimalTransport : public Transport {
 public:
  [[nodiscard]] std::size_t max_payload(Peer) const override { return 0; }
  std::byte* reserve(Peer, std::size_t) override { return nullptr; }
  void commit(Peer, const WireHeader&) override {}
  int poll(MessageSink&) override { return 0; }
  [[nodiscard]] bool pending() const override { return false; }
  [[nodiscard]] Peer vanished() const override { return Peer{-1}; }
  void flush_wakeups() override { ++flushed; }
  void set_wake_mask(WakeMask) override {}
  void sleep(std::chrono::microseconds) override {}
  void poke() override {}
  void sleep_helper() override {}
  void wake_helper() override {}

  int flushed = 0;
};

}  // namespace sluice
