// What a number of rendezvous took, as it was counted where the messages are sent: one line of output for each protocol, of which
// tests/testbed/softroce/check makes the table.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>

#include "runtime/config/config.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

struct RendezvousCounts {
  const char* where = "";  // model or verbs
  Rendezvous protocol{};
  const char* data = "";  // what is particular about the messages
  std::uint64_t rendezvous = 0;
  std::array<std::uint64_t, message_kinds> sent{};  // by MessageKind
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  std::uint64_t last_bytes_seen = 0;  // ended by a look at the last byte

  void add(const std::array<std::uint64_t, message_kinds>& messages) {
    for (std::size_t kind = 0; kind < message_kinds; ++kind) sent[kind] += messages[kind];
  }
  /// What came after `before`.
  void forget(const RendezvousCounts& before) {
    for (std::size_t kind = 0; kind < message_kinds; ++kind) sent[kind] -= before.sent[kind];
    rendezvous -= before.rendezvous;
    writes -= before.writes;
    reads -= before.reads;
    last_bytes_seen -= before.last_bytes_seen;
  }
  [[nodiscard]] std::uint64_t of(MessageKind kind) const { return sent[static_cast<std::size_t>(kind)]; }
  /// All that is neither a message by itself nor a part of one.
  [[nodiscard]] std::uint64_t control() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : sent) sum += count;
    return sum - of(MessageKind::eager) - of(MessageKind::data) - of(MessageKind::ack);
  }
  void print() const {
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "COUNTED %s %s %s rendezvous=%llu control=%llu rts=%llu rtr=%llu cts=%llu fin=%llu writes=%llu reads=%llu "
        "last_byte=%llu\n",
        name_of(protocol).c_str(), where, data, number(rendezvous), number(control()), number(of(MessageKind::rts)),
        number(of(MessageKind::rtr)), number(of(MessageKind::cts)), number(of(MessageKind::fin)), number(writes), number(reads),
        number(last_bytes_seen));
  }
};

}  // namespace sluice
