// Packets on their way, and queues of them.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/bench/dragonfly/settings.hpp"

namespace sluice::dragonfly {

struct Packet {
  std::uint32_t next = 0;  // in a queue
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  Tick injected = 0;
  Tick arrived = 0;          // its head, where it is now
  std::uint16_t via = 0;     // the router of another group by which it goes
  std::uint16_t read = 0;    // of the receiver's, which it answers
  std::uint8_t channel = 0;  // virtual, of the link that it came by
  std::uint8_t global_hops = 0;
  std::uint8_t source_hops = 0;  // inside the source's group
  bool detour = false;
  bool reached_via = false;
  bool forward_marked = false;
  bool backward_marked = false;
};

class Packets {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint32_t make() {
    ++alive_;
    if (free_ == none) {
      all_.emplace_back();
      return static_cast<std::uint32_t>(all_.size() - 1);
    }
    const std::uint32_t packet = free_;
    free_ = all_[packet].next;
    all_[packet] = {};
    return packet;
  }
  void drop(std::uint32_t packet) {
    --alive_;
    all_[packet].next = free_;
    free_ = packet;
  }
  Packet& operator[](std::uint32_t packet) { return all_[packet]; }
  [[nodiscard]] std::uint64_t alive() const { return alive_; }

 private:
  std::vector<Packet> all_;
  std::uint32_t free_ = none;
  std::uint64_t alive_ = 0;
};

struct PacketQueue {
  std::uint32_t first = Packets::none;
  std::uint32_t last = Packets::none;

  [[nodiscard]] bool empty() const { return first == Packets::none; }
  void push(Packets& packets, std::uint32_t packet) {
    packets[packet].next = Packets::none;
    if (empty()) {
      first = packet;
    } else {
      packets[last].next = packet;
    }
    last = packet;
  }
  std::uint32_t pop(Packets& packets) {
    const std::uint32_t packet = first;
    first = packets[packet].next;
    return packet;
  }
};

}  // namespace sluice::dragonfly
