// All teams of this process: which of its lanes they have, and which of them a thread waits for.
//
// Owns the teams. A lane is given out again when all members of its last communicator are through with that one's last call; the
// numbers of calls go on where it stood.
//
// Belongs to the engine lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/collective/started_calls.hpp"
#include "runtime/collective/team.hpp"

namespace sluice {

/// What a rank brings into a communicator. Plain bytes, to be gathered by any means.
struct LaneOffer {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint64_t next = 0;     // the least number that a call may have
  std::uint32_t lane = none;  // none: this rank has none left, or wants none
  std::uint32_t unused = 0;
};

class Teams {
 public:
  /// So many ranks look at each other's lines in one step.
  static constexpr std::size_t most_members = 32;

  explicit Teams(std::uint32_t lanes = LaneMemory::lanes_of_a_process) : lanes_(lanes) {}

  LaneOffer offer();
  /// Nothing came of it.
  void take_back(const LaneOffer& offer);
  /// `memory`: nullptr where there is none. nullptr: somebody has no lane, on all members alike.
  Team* make(const LaneMemory* memory, std::span<const Peer> members, Rank self, std::span<const LaneOffer> offers);
  /// Its communicator has been freed.
  void retire(Team& team);

  /// A thread of this process waits for what the team awaits.
  void waits(Team& team) { waiting_.push_back(&team); }
  void waits_no_more(Team& team) { waiting_.remove(&team); }
  /// For some of them it is there.
  [[nodiscard]] bool any_is_there() const {
    for (Team* team = waiting_.first(); team; team = Waiting::next(team)) {
      if (team->is_there()) return true;
    }
    return false;
  }

 private:
  using Waiting = IntrusiveList<Team, &Team::waiting_link>;
  struct Used {
    std::unique_ptr<StartedCalls> started;  // its team's
    std::unique_ptr<Team> team;
    LaneOffer offer;

    [[nodiscard]] bool is_over() const { return team->is_over() && started->is_over(); }
    /// The least number that a call of either may have.
    [[nodiscard]] std::uint64_t next() const { return std::max(team->next(), started->next()); }
  };

  const std::uint32_t lanes_;
  std::uint32_t fresh_ = 0;  // the first lane that was never given out
  std::vector<LaneOffer> free_;
  std::vector<Used> teams_;
  std::deque<Used> retired_;
  Waiting waiting_;
};

}  // namespace sluice
