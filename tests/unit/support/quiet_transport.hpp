// A transport on which nothing comes and nothing leaves, for classes that only ask what it can.
#pragma once

#include "runtime/transport/transport.hpp"

namespace sluice {

class QuietTransport final : public Transport {
 public:
  [[nodiscard]] std::size_t max_payload(Peer) const override { return 16384; }
  std::byte* reserve(Peer, std::size_t) override { return nullptr; }
  void commit(Peer, const MessageHeader&) override {}
  [[nodiscard]] bool streams_directly(Peer) const override { return streams; }
  int poll(MessageSink&) override { return 0; }
  [[nodiscard]] bool pending() const override { return false; }
  [[nodiscard]] Peer vanished() const override { return Peer{-1}; }
  [[nodiscard]] bool can_write(Peer) const override { return writes; }
  [[nodiscard]] std::uint64_t progress(std::uint32_t) const override { return in_place; }
  void flush_alerts() override {}
  void set_attention(Attention) override {}
  void sleep(std::chrono::microseconds) override {}
  void poke() override {}
  void sleep_helper() override {}
  void wake_helper() override {}

  bool streams = false;
  bool writes = false;
  std::uint64_t in_place = 0;  // of every progress slot
};

}  // namespace sluice
