// Where no protocol is asked for: what get and put are taken for (policy/waited_sites.hpp), and which peers have been told that
// they may get announcements. A peer is told with the fin of a message that it has sent, before the first announcement: until
// then nobody wakes it for one while it computes (receiver_initiated.hpp).
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/policy/waited_sites.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

class Unasked {
 public:
  explicit Unasked(std::size_t peers) : told_(peers) {}

  [[nodiscard]] WaitedSites& sites() { return sites_; }
  [[nodiscard]] const WaitedSites& sites() const { return sites_; }

  /// Of a receive that is posted ahead of its message: whether to announce it. Counts.
  [[nodiscard]] bool announces(CallSite site, Peer sender) {
    if (!sites_.waits(site)) return false;
    Told& told = told_[static_cast<std::size_t>(sender)];
    if (told == Told::nothing) told = Told::when_next;
    return told == Told::now && sites_.announces(site);
  }
  /// A message of that peer's has been read. What its fin tells.
  [[nodiscard]] std::uint8_t end_of_read(CallSite site, Peer sender, bool released) {
    sites_.note_end(site, released);
    Told& told = told_[static_cast<std::size_t>(sender)];
    if (told == Told::when_next) told = Told::now;
    return told == Told::now ? flag_announces : std::uint8_t{0};
  }

 private:
  enum class Told : std::uint8_t { nothing, when_next, now };

  WaitedSites sites_;
  std::vector<Told> told_;  // by peer
};

}  // namespace sluice
