// Whom a message is to wake that arrives while no thread of this process is in a call. Pure functions of what is outstanding.
//
// `Outstanding` tells the facts one by one, as each is a look at another object: what decides is asked first, and nothing is
// asked that does not matter any more. Work (work.hpp) is one.
#pragma once

#include <cstdint>

#include "runtime/transport/wake_mask.hpp"

namespace sluice {

/// What a collective call of this rank has to do once something comes.
enum class CollectiveDuties : std::uint8_t { none, by_messages, in_lanes };

/// For what others may wait that this process does when a message comes, small as it may be, or a member goes on in lanes.
struct Awaited {
  bool by_origins_of_windows = false;
  CollectiveDuties in_calls = CollectiveDuties::none;
};

/// The helper thread takes the processor from somebody, so it is woken only for what it can do something about. What finds no
/// receive has to wait for a call anyhow, and so has the end of a transfer unless it opens pages, or the peer waits for an
/// answer.
///
/// `host_call`: the application may be blocked in a call of the host's. A peer whose ring to this process is full, or whose small
/// synchronous message has its receive posted, is stuck meanwhile.
template <class Outstanding>
[[nodiscard]] WakeMask needed_wake_mask(const Outstanding& now, bool host_call) {
  if (now.holds_back()) return WakeMask::everything;  // even a small message may be the one that lets them go
  // Others may wait for what this process does next in a collective call; and while they do, the host may have the application.
  // Where processes share processors and it has not, that waits for a call. An origin of a window waits for no call.
  const Awaited awaited = now.awaited();
  const bool is_heard = awaited.by_origins_of_windows || host_call || !now.job().oversubscribed;
  if (is_heard && awaited.in_calls == CollectiveDuties::in_lanes) return WakeMask::everything | EventMask::lane;
  if (is_heard && awaited.in_calls != CollectiveDuties::none) return WakeMask::everything;
  if (awaited.by_origins_of_windows) return WakeMask::everything;
  // An announcement may come at any moment, or be taken back, and who does that waits for the answer.
  if (now.sends_rtrs() || now.has_released() || now.shares_copies()) return WakeMask::rendezvous;
  if (now.large_receives() != 0 || (host_call && now.open_receives() != 0)) return WakeMask::receives;
  if (now.may_get_requests()) return WakeMask::sends;
  return host_call ? WakeMask::room : WakeMask::none;
}

/// What a process that leaves its last call makes of copies that are still to be made.
enum class CopiesLeft : std::uint8_t {
  none,
  made_first,  // before it leaves
  to_helper,   // which is woken
  to_next_call,
};

/// Where processes share processors, a copy costs the application the same in the helper thread, and the wake-up besides. Where
/// each process has one, the helper thread may find that of a peer that only waits; a short copy takes no longer than to wake it.
///
/// But who leaves is often back in a call a moment later, and has its peers begin meanwhile with what else it asks of them. So
/// copies are left to the application's next call; or to the helper thread, once a peer says that it waits (tell_of_waiting). One
/// that is asleep cannot.
template <class Outstanding>
[[nodiscard]] CopiesLeft copies_left(const Outstanding& now) {
  if (!now.has_copies()) return CopiesLeft::none;
  if (now.job().spare_processor) return CopiesLeft::to_helper;
  if (now.job().oversubscribed || (now.next_copy_is_short() && now.next_peer_is_asleep())) return CopiesLeft::made_first;
  if (now.has_released() || now.holds_back() || now.some_peer_is_asleep()) return CopiesLeft::to_helper;
  return CopiesLeft::to_next_call;
}

}  // namespace sluice
