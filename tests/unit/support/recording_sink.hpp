// A sink that remembers what it was given, and the sending of one message, for the tests of transports.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "runtime/transport/transport.hpp"

namespace sluice {

class RecordingSink : public MessageSink {
 public:
  struct Message {
    Peer from{};
    WireHeader header;
    std::string payload;
  };

  virtual ~RecordingSink() = default;

  void on_message(Peer from, const WireHeader& header, std::span<const std::byte> payload) override {
    messages.push_back({from, header, std::string(reinterpret_cast<const char*>(payload.data()), payload.size())});
  }
  void on_room(Peer peer) override { room_at.push_back(peer); }

  std::vector<Message> messages;
  std::vector<Peer> room_at;
};

/// False when there is no room.
inline bool send(Transport& by, Peer to, const std::string& payload, MessageKind kind = MessageKind::eager,
                 std::uint64_t subject = 0) {
  std::byte* room = by.reserve(to, payload.size());
  if (!room) return false;
  std::memcpy(room, payload.data(), payload.size());
  WireHeader header;
  header.kind = kind;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.subject = subject;
  by.commit(to, header);
  return true;
}

}  // namespace sluice
