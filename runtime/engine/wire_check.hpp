// Whether what a peer sends fits what this process and the peer have agreed on so far. A transport checks that a message is well
// formed; here is checked that the values of messages that take part in matching mean something, and in
// rendezvous/reply_check.hpp those of replies. Every value of the wire that becomes an index, an address or a length passes there
// or through `RequestPool::find` first, so that a peer that is broken, or not what it says, ends in one clear error and never in
// a wild access.
//
// Each check answers nullptr when all is well, otherwise what is wrong. All of them belong to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/base/fatal.hpp"
#include "runtime/base/types.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

/// eager, rts. A context that has no group yet knows its members only as `job_size`.
[[nodiscard]] inline const char* matching_fault(const Context& context, Peer from, const WireHeader& header,
                                                std::size_t job_size) {
  if (static_cast<std::int32_t>(header.tag) < 0) return "has a negative tag";
  if (header.source < Rank{0} || static_cast<std::size_t>(header.source) >= job_size) return "is of a rank that nobody has";
  if (!context.accepts(from, header.source)) return "is of a rank that its sender does not have";
  return nullptr;
}

/// What an announcement says of its message.
[[nodiscard]] const char* rts_fault(std::uint8_t flags, const ReadyToSend& rts);

/// No address space has such memory.
[[nodiscard]] constexpr bool wraps(std::uint64_t address, std::uint64_t bytes) { return address + bytes < address; }

/// Ends the job: `fault` is wrong with a message of this peer.
[[noreturn]] inline void damaged(Peer from, MessageKind kind, const char* fault) {
  fatal("message of rank %d (kind %d) %s", static_cast<int>(from), static_cast<int>(kind), fault);
}

/// The payload as what it has to be; ends the job when it has another size.
template <class T>
T from_wire(Peer from, std::span<const std::byte> payload) {
  T value;
  if (payload.size() != sizeof value) {
    fatal("message of rank %d has %zu bytes where %zu belong", static_cast<int>(from), payload.size(), sizeof value);
  }
  std::memcpy(&value, payload.data(), sizeof value);
  return value;
}

}  // namespace sluice
