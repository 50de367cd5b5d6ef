// Of what arrives, whom must it wake: sets that both sides of a connection understand.
#pragma once

#include <cstdint>

#include "runtime/transport/message.hpp"

namespace sluice {

/// What arrived, as far as it matters whom it must wake. Values may be joined.
enum class News : std::uint32_t {
  none = 0,
  eager = 1,     // a message that needs no answer
  end = 2,       // fin, ack: the other side has done its part; or does all of it unless this side comes
  match = 4,     // rts, or a small message whose sender waits for its match
  request = 8,   // any other message: it has this side do something
  room = 16,     // no message: a peer finds no room for its next one, or gives room
  waiting = 32,  // no message: a peer has nothing to do but wait for what this side has left undone
  lane = 64,     // no message: something was published in a lane, for which only a thread in a call may wait
};

[[nodiscard]] constexpr News operator|(News a, News b) {
  return static_cast<News>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

[[nodiscard]] constexpr News news_of(const MessageHeader& header) {
  switch (header.kind) {
    case MessageKind::eager:
      return (header.flags & flag_synchronous) != 0 ? News::match : News::eager;
    case MessageKind::fin:
    case MessageKind::ack:
      return News::end;
    case MessageKind::rts:
      return News::match;
    case MessageKind::cts:
      return (header.flags & flag_if_idle) != 0 ? News::end : News::request;
    default:
      return News::request;
  }
}

/// Of what arrives while nobody polls, somebody must be told: a set of news, and whom.
enum class Attention : std::uint32_t {
  none = 0,  // somebody polls, or nothing that could arrive is worth waking anybody for
  // Wake the helper thread:
  room = static_cast<std::uint32_t>(News::room),
  sends = static_cast<std::uint32_t>(News::room | News::request),                   // that are under way
  receives = static_cast<std::uint32_t>(News::room | News::request | News::match),  // ... and sends
  rendezvous = static_cast<std::uint32_t>(News::room | News::request | News::match | News::end),
  everything = static_cast<std::uint32_t>(News::room | News::request | News::match | News::end | News::eager),
  // An application thread sleeps in `sleep`: wake that, for everything.
  sleeper = everything | static_cast<std::uint32_t>(News::lane),
};

/// ... and for that, too.
[[nodiscard]] constexpr Attention operator|(Attention attention, News news) {
  return static_cast<Attention>(static_cast<std::uint32_t>(attention) | static_cast<std::uint32_t>(news));
}

/// Whether somebody is to be woken for one of these.
[[nodiscard]] constexpr bool asks_for(Attention attention, News news) {
  return (static_cast<std::uint32_t>(attention) & static_cast<std::uint32_t>(news)) != 0;
}

/// Whether that is the helper thread.
[[nodiscard]] constexpr bool asks_helper_for(Attention attention, News news) {
  return attention != Attention::sleeper && asks_for(attention, news);
}

}  // namespace sluice
