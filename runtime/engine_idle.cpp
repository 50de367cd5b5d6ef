// Calls that poll and find nothing, of which a program that waits in a loop of its own makes many.
//
// A holder of the engine lock that leaves nothing to do leaves the lock at rest (engine/lock.hpp). As long as it is, a poll is a
// look at the transport, which takes no lock: nobody has begun anything since, and what comes is seen by the look.

#include <sched.h>

#include "runtime/engine/waiting.hpp"

namespace sluice {

void Engine::State::idle_call(Lock& lock) {
  const IdleCalls::Turns turns = idle_calls.note(job.host.outstanding && job.host.outstanding());
  if (turns.telling && job.transport) job.transport->tell_of_waiting();
  const bool host_turn = turns.host && job.host.progress;
  if (!host_turn && !job.oversubscribed) return;
  lock.unlock();
  if (host_turn) job.host.progress();
  if (job.oversubscribed) sched_yield();
  lock.lock();
}

/// Where processes share processors every call gives its processor away, and is no look only. Nor is one that peers may ask for:
/// whether a sender is in a call they see by its attention (Transport::is_attentive), which a look leaves as it is.
bool Engine::State::is_at_rest() const {
  const bool waits =
      outbox.queued() != 0 || !stream_way.empty() || rdma_way.has_work() || put_receiver.has_work() || put_sender.has_work();
  const bool works = !node_way.list().empty() || !node_way.helping().empty() || outbox.self_pending() ||
                     !causality.released().empty() || !causality.held().empty();
  const bool is_asked_for = all_requests.counts().pending_sends != 0 && attention != Attention::none;
  return inside == 0 && !job.oversubscribed && !waits && !works && !is_asked_for &&
         (!job.transport || job.transport->is_at_rest());
}

void Engine::progress(Awaits awaits) {
  State& state = *state_;
  const bool is_silent = state.mutex.is_at_rest() && (!state.job.transport || state.job.transport->is_silent());
  if (is_silent && state.idle_calls.note_at_rest()) return;
  Lock lock(state.mutex);
  bool moved = false;
  {
    const Inside inside(state, lock);
    if (awaits == Awaits::several) state.awaits_many = true;
    moved = state.progress(lock);
    if (!moved) state.idle_call(lock);
  }
  if (!moved && state.is_at_rest()) state.mutex.leave_at_rest();
}

}  // namespace sluice
