// The nonblocking calls of one communicator that go through lanes: which are open, and what each waits for.
//
// They have a team of their own, as several may be open at a time. They are published in the order in which they begin. Each ends
// by itself. The members learn by the team's `done` up to where all have ended.
//
//     begun ── its slots are free, and those before it are published ──> published ── the parts are there ──> ended
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "runtime/collective/team.hpp"

namespace sluice {

class StartedCalls {
 public:
  /// Stays where it is until it has ended.
  class Call {
   public:
    [[nodiscard]] bool is_published() const { return stage_ != Stage::begun; }

   private:
    friend class StartedCalls;
    enum class Stage : std::uint8_t { begun, published, ended };

    std::uint64_t number_ = 0;
    Stage stage_ = Stage::begun;
    Team::Running running_;  // while the team is at another one
  };

  StartedCalls(std::vector<Team::Member> members, Rank self, std::uint64_t first)
      : team_(std::move(members), self, first, Team::Calls::overlap) {}

  Call& begin(const Description& what);
  /// It is the next one, and has room: the team, at this call, to which its part is to be given. nullptr: not yet.
  Team* to_publish(Call& call);
  /// ... and has been. The team awaits what the call is to wait for.
  void published(Call& call) {
    call.stage_ = Call::Stage::published;
    ++published_;
  }
  /// What it waits for is there: the team, at this call. nullptr: not yet.
  Team* that_is_there(Call& call) { return at(call).is_there() ? &team_ : nullptr; }
  /// It is over, and gone. Whether others were told, who may wait for it.
  bool end(Call& call);
  /// So many are open, or one is not published, that others may come to wait for this rank's slots.
  [[nodiscard]] bool others_may_wait() const { return calls_.size() >= Lane::long_done_interval || published_ != calls_.size(); }

  /// There are no more calls.
  void close();
  /// ... of any member, and each is through with the last one.
  [[nodiscard]] bool is_over() { return calls_.empty() && team_.is_over(); }
  [[nodiscard]] std::uint64_t next() const { return team_.next(); }
  [[nodiscard]] const Team& team() const { return team_; }

 private:
  Team& at(Call& call);

  Team team_;
  std::deque<Call> calls_;
  std::size_t published_ = 0;  // so many of these, from the first on, ended ones among them
  Call* at_ = nullptr;         // the call that the team is at, if it is open
  bool is_closed_ = false;
};

}  // namespace sluice
