// Of what arrives, whom must it wake: sets that both sides of a connection understand.
#pragma once

#include <cstdint>

#include "runtime/transport/message.hpp"

namespace sluice {

/// What arrived, as far as it matters whom it must wake. Values may be joined.
enum class EventMask : std::uint32_t {
  none = 0,
  eager = 1,     // a message that needs no answer
  end = 2,       // fin, ack: the other side has done its part; or does all of it unless this side comes
  match = 4,     // rts, or a small message whose sender waits for its match
  request = 8,   // any other message: it has this side do something
  room = 16,     // no message: a peer finds no room for its next one, or gives room
  waiting = 32,  // no message: a peer has nothing to do but wait for what this side has left undone
  lane = 64,     // no message: something was published in a lane, for which only a thread in a call may wait
};

[[nodiscard]] constexpr EventMask operator|(EventMask a, EventMask b) {
  return static_cast<EventMask>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

[[nodiscard]] constexpr EventMask events_of(const WireHeader& header) {
  switch (header.kind) {
    case MessageKind::eager:
      return (header.flags & flag_synchronous) != 0 ? EventMask::match : EventMask::eager;
    case MessageKind::fin:
    case MessageKind::ack:
      return EventMask::end;
    case MessageKind::rts:
      return EventMask::match;
    case MessageKind::cts:
      return (header.flags & flag_if_idle) != 0 ? EventMask::end : EventMask::request;
    default:
      return EventMask::request;
  }
}

/// Of what arrives while nobody polls, somebody must be told: a set of events, and whom.
enum class WakeMask : std::uint32_t {
  none = 0,  // somebody polls, or nothing that could arrive is worth waking anybody for
  // Wake the helper thread:
  room = static_cast<std::uint32_t>(EventMask::room),
  sends = static_cast<std::uint32_t>(EventMask::room | EventMask::request),                        // that are under way
  receives = static_cast<std::uint32_t>(EventMask::room | EventMask::request | EventMask::match),  // ... and sends
  rendezvous = static_cast<std::uint32_t>(EventMask::room | EventMask::request | EventMask::match | EventMask::end),
  everything =
      static_cast<std::uint32_t>(EventMask::room | EventMask::request | EventMask::match | EventMask::end | EventMask::eager),
  // An application thread sleeps in `sleep`: wake that, for everything.
  sleeper = everything | static_cast<std::uint32_t>(EventMask::lane),
};

/// ... and for that, too.
[[nodiscard]] constexpr WakeMask operator|(WakeMask wake_mask, EventMask events) {
  return static_cast<WakeMask>(static_cast<std::uint32_t>(wake_mask) | static_cast<std::uint32_t>(events));
}

/// Whether somebody is to be woken for one of these.
[[nodiscard]] constexpr bool asks_for(WakeMask wake_mask, EventMask events) {
  return (static_cast<std::uint32_t>(wake_mask) & static_cast<std::uint32_t>(events)) != 0;
}

/// Whether that is the helper thread.
[[nodiscard]] constexpr bool asks_helper_for(WakeMask wake_mask, EventMask events) {
  return wake_mask != WakeMask::sleeper && asks_for(wake_mask, events);
}

}  // namespace sluice
