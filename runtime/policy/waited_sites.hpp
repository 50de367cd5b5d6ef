// Call sites whose large receives over RDMA are waited for, and what that allows where no protocol is asked for (RV section 3).
//
// A receive that is released early is none of these: nobody looks at its last byte, and one that is announced must be taken back
// first. So a site is known by the last message that was read for it: its call waited to the end, or it had returned. Until then
// its messages are read as before.
//
//   get    for a site that waits: the thread that waits sees the last byte a notification before the completion.
//   put    besides, for a receive that is posted ahead of its message: it is announced, and the sender writes. That saves the
//          sender's announcement where it is there before the sender's call; otherwise it is a message for nothing. So a site is
//          tried, and goes on with all its receives only where three in four are written to; otherwise ever more rarely.
//
// The receiver decides, alone. A sender writes to what was announced when its call comes, and announces its message otherwise; it
// waits for nobody. So both sides agree, whatever this table says (rendezvous/receiver_initiated.hpp).
//
// Pure. [one thread at a time]
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/base/call_site.hpp"
#include "runtime/base/table_slot.hpp"

namespace sluice {

class WaitedSites {
 public:
  /// What one announcement in vain costs, in announcements that were used: the wire carries a message more, and the exchange that
  /// it belongs to gets out of step with the others (docs/results/rendezvous-model.md).
  static constexpr unsigned makes_up = 3;
  /// Receives that are let pass between two announcements double with each step.
  static constexpr unsigned most_steps = 6;

  /// Its last message was waited for to the end.
  [[nodiscard]] bool waits(CallSite site) const {
    const Site& known = sites_[slot_of(site)];
    return known.address == site.return_address() && known.waits;
  }
  /// Of a receive that is posted before its message has come: whether to announce it. Counts.
  [[nodiscard]] bool announces(CallSite site) {
    if (!waits(site)) return false;
    Site& known = sites_[slot_of(site)];
    if (known.to_let_pass == 0) return true;
    --known.to_let_pass;
    return false;
  }

  /// A message of the site is there. `released`: its call had returned.
  void note_end(CallSite site, bool released) { known(site).waits = !released; }
  /// What became of an announcement: the message was written, or came by itself.
  void note_announced(CallSite site, bool written) {
    Site& of = known(site);
    of.steps = written ? of.steps - std::min(of.steps, 1U) : std::min(of.steps + makes_up, most_steps);
    of.to_let_pass = (1U << of.steps) - 1;
  }

 private:
  struct Site {
    std::uintptr_t address = 0;
    bool waits = false;
    unsigned steps = 0;
    unsigned to_let_pass = 0;
  };

  /// Calls that follow each other closely are told apart.
  static std::size_t slot_of(CallSite site) { return slot_in_table(std::uint64_t{site.return_address()} << 6); }
  Site& known(CallSite site) {
    Site& found = sites_[slot_of(site)];
    if (found.address != site.return_address()) found = {site.return_address()};
    return found;
  }

  std::array<Site, table_slots> sites_{};  // each at the place that follows from its address; a later one takes it over
};

}  // namespace sluice
