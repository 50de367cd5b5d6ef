// One collective call through lanes, from its entry to its return (collective/team.hpp has its steps).
//
// A call tells others that this process has come so far. So with a receive released whose message is not known it first
// progresses until that is (page-guard rule 1), and only then publishes anything. While it waits it progresses everything, as
// every call does: receives under guard move on, and nothing is settled.
//
// Threading: lives on the stack of the calling thread, and holds the engine lock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/engine/collective_trace.hpp"
#include "runtime/engine_impl.hpp"

namespace sluice {

/// Rule 1.
[[gnu::noinline]] inline void wait_for_matches(Engine::Impl& impl, Lock& lock) {
  const Inside inside(impl.progress, lock);
  Waiter waiter(impl.progress, Waiter::Who::application);
  do {
    if (impl.progress.round(lock)) continue;
    waiter.step(lock);
    waiter.let_cancellation_act(lock);
  } while (impl.causality.unmatched() != 0);
  impl.statistics.waited_ns += waiter.waited_ns();
}

/// It enters the engine (Inside) only if it has to wait, as small sends do.
class TeamCall {
 public:
  TeamCall(Engine::Impl& impl, Team& team, const Description& call) : TeamCall(impl, team, call, call.bytes) {}
  /// `moved_bytes`: for the trace.
  TeamCall(Engine::Impl& impl, Team& team, const Description& call, std::uint64_t moved_bytes)
      : impl_(impl), team_(team), lock_(impl.mutex) {
    if (trace::on()) [[unlikely]]
      tell_of_entry(call, moved_bytes);
    if (impl_.causality.unmatched() != 0) [[unlikely]]
      wait_for_matches(impl_, lock_);
    team_.begin(call);
    team_.await_room();
    wait();
  }

  void publish(Team::Readers readers, Rank reader = Rank{}) {
    team_.publish(readers, reader);
    if (readers == Team::Readers::one) wake(team_.members()[static_cast<std::size_t>(reader)]);
    if (readers == Team::Readers::all) wake_all();
  }

  void publish(std::span<const Rank> readers) {
    team_.publish(readers);
    for (const Rank reader : readers) wake(team_.members()[static_cast<std::size_t>(reader)]);
  }

  /// Until what the team awaits is there.
  void wait() {
    if (!is_there(first_looks)) wait_in_turns();
  }

  void finish() {
    ++impl_.statistics.collective_calls;
    if (team_.finish()) wake_all();
    if (traced_) [[unlikely]]
      traced_->end(team_.mismatch().has_value());
  }

 private:
  /// Looks at lanes before anything else is done, and for each look at messages, where nobody else waits for the processor. The
  /// first are for members that come at the same time: so long a line takes to go there and back a few times.
  static constexpr unsigned first_looks = 100;
  static constexpr unsigned looks = 16;

  /// Other threads of this process see to it that the one that waits is woken.
  class Waiting {
   public:
    Waiting(Teams& teams, Team& team, Lock& lock) : teams_(teams), team_(team), lock_(lock) { teams_.waits(team_); }
    ~Waiting() {
      if (!lock_.owns_lock()) lock_.lock();
      teams_.waits_no_more(team_);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Teams& teams_;
    Team& team_;
    Lock& lock_;
  };

  [[nodiscard]] bool is_there(unsigned times) {
    if (impl_.job.oversubscribed) return team_.is_there();
    for (unsigned look = 0; look < times; ++look) {
      if (team_.is_there()) return true;
    }
    return false;
  }

  [[gnu::noinline]] void wait_in_turns() {
    const Inside inside(impl_.progress, lock_);
    const Waiting waiting(impl_.teams, team_, lock_);
    std::optional<Rank> last = team_.missing();
    progress_until([&] {
      const bool there = is_there(looks);
      if (!there) last = team_.missing();
      return there;
    });
    if (traced_ && last) traced_->came(team_.members()[static_cast<std::size_t>(*last)].peer);
  }

  [[gnu::noinline, gnu::cold]] void tell_of_entry(const Description& call, std::uint64_t moved_bytes) {
    traced_.emplace(
        impl_.all_requests.next_traced(),
        trace::CollectiveTrace::Call{.kind = call.kind,
                                     .communicator = team_.communicator,
                                     .first = team_.members().front().peer,
                                     .number = team_.next(),
                                     .bytes = moved_bytes,
                                     .root = call.has_root() ? team_.members()[call.root].peer : trace::CollectiveTrace::no_peer,
                                     .ranks = static_cast<std::uint32_t>(team_.size()),
                                     .how = trace::collective_lanes});
  }

  template <typename Condition>
  void progress_until(Condition condition) {
    const std::uint64_t since = traced_ ? trace::now() : 0;
    Waiter waiter(impl_.progress, Waiter::Who::application);
    do {
      if (impl_.progress.round(lock_)) continue;
      waiter.step(lock_);
      waiter.let_cancellation_act(lock_);
    } while (!condition());
    impl_.statistics.waited_ns += waiter.waited_ns();
    if (traced_) traced_->waited_since(since);
  }

  void wake(const Team::Member& member) {
    if (member.peer != impl_.job.self && Team::is_asleep(member)) [[unlikely]]
      impl_.job.transport->wake_for_lane(member.peer);
  }
  void wake_all() {
    for (const Team::Member& member : team_.members()) wake(member);
  }

  Engine::Impl& impl_;
  Team& team_;
  Lock lock_;
  std::optional<trace::CollectiveTrace> traced_;
};

}  // namespace sluice
