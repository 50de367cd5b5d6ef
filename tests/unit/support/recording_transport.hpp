// A transport that writes down what leaves, with room for all of it unless it is said to have none.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "tests/unit/support/minimal_transport.hpp"

namespace sluice {

class RecordingTransport : public MinimalTransport {
 public:
  struct Sent {
    Peer to{};
    WireHeader header;
    std::vector<std::byte> payload;

    template <class T>
    [[nodiscard]] T as() const {
      T value;
      std::memcpy(&value, payload.data(), sizeof value);
      return value;
    }
  };

  [[nodiscard]] std::size_t max_payload(Peer) const override { return std::size_t{16} << 10; }
  std::byte* reserve(Peer, std::size_t payload_bytes) override {
    room_.resize(payload_bytes + 1);  // an empty one has an address, too
    return is_full ? nullptr : room_.data();
  }
  void commit(Peer to, const WireHeader& header) override {
    sent.push_back({to, header, {room_.begin(), room_.begin() + header.payload_bytes}});
    if (on_sent) on_sent(sent.back());
  }
  void poke() override {
    if (on_poke) on_poke();
  }

  bool is_full = false;
  std::vector<Sent> sent;
  std::function<void(const Sent&)> on_sent;
  std::function<void()> on_poke;

 private:
  std::vector<std::byte> room_;
};

}  // namespace sluice
