// Progress, being woken, and falling asleep.
//
// A thread that waits in a call polls under the engine lock, which it gives up as soon as somebody else wants it. It spins while
// that is cheaper than a wake-up (over sockets with a yield now and then), yields when there are more processes than processors,
// and then sleeps in the transport with attention `sleeper`. A thread that leaves its call while something is outstanding sets
// the attention at which the helper thread is to be woken. Both follow the same pattern against lost wake-ups: set the attention
// (sequentially consistent), then look once more whether something is pending; the sender publishes its message first and looks
// at the attention second.

#include <sched.h>

#include <algorithm>
#include <functional>

#include "runtime/base/clock.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/waiting.hpp"
#include "runtime/release/early_return.hpp"
#include "runtime/trace/call.hpp"

namespace sluice {
namespace {

using std::chrono::microseconds;

/// Polls between two chunks of a copy, a message or so of every peer each; they take about as long as a chunk.
constexpr int most_taken_before_a_chunk = 64;
/// About as long as the helper thread takes to be woken, on a machine where a process has a processor: 10 µs.
constexpr std::size_t least_worth_waking = std::size_t{128} << 10;
/// How often a process that waits says so (engine/waiting.cpp), in rounds of a thread that touched a missing page, and in tests
/// that found nothing.
constexpr unsigned telling_rounds = 64;
/// A small message may be seen that much later than its sender has looked whom to wake (shmem/attention.hpp). In this time a
/// store has left its processor many times over.
constexpr microseconds second_look{100};
/// Rounds of a thread that touched a missing page before it sleeps, and for how long when its data is on the way or not.
constexpr unsigned fault_rounds = 20'000;
constexpr microseconds fault_sleep_moving{50};
constexpr microseconds fault_sleep_unknown{10'000};

bool is_worth_waking(const Request& copy) { return (copy.is_send() ? copy.limit : copy.stop) - copy.offset > least_worth_waking; }

}  // namespace

namespace detail {
std::atomic<bool> host_call_prepared{false};
constinit thread_local const void* in_host_call = nullptr;
}  // namespace detail

// Most polls find that nothing of this is there, and should not pay for calls.
bool Engine::State::has_work_besides() const {
  return outbox.self_pending() || !stream_way.empty() || rdma_way.has_work() || put_receiver.has_work() || put_sender.has_work();
}

bool Engine::State::work_besides() {
  bool moved = false;
  put_receiver.announce_again();
  if (outbox.self_pending()) moved |= outbox.poll_self(*this) > 0;
  if (!stream_way.empty()) moved |= stream_way.work();
  moved |= rdma_way.work();
  moved |= put_receiver.work();
  moved |= put_sender.work();
  return moved;
}

bool Engine::State::take_messages() {
  bool moved = job.transport && job.transport->poll(*this) > 0;
  if (has_work_besides()) [[unlikely]]
    moved |= work_besides();
  return moved;
}

bool Engine::State::progress(Lock& lock) {
  const std::uint64_t completions = all_requests.completions();
  bool moved = take_messages();
  // All that is there is taken before a chunk, though not without end: what is behind the announcements of many long messages
  // would wait for a chunk of each otherwise.
  bool more = moved && (!node_way.list().empty() || !node_way.helping().empty());
  for (int taken = 1; more && all_requests.completions() == completions && taken < most_taken_before_a_chunk; ++taken)
    more = take_messages();
  // What is complete now may be what a thread waits for, and should not wait for another chunk (COOP-chunked, CO section II-C).
  // Copies are not put off for ever: only so many operations can be completed as have been posted.
  if (all_requests.completions() != completions) return true;
  if (!node_way.list().empty()) {
    node_way.work(lock);
    moved = true;
  }
  // Only who waits in a call takes part in the peer's copy: the helper thread would take the processor from the application.
  if (!node_way.helping().empty() && inside != 0) {
    node_way.delivery().help(lock);
    moved = true;
  }
  return moved;
}

void Engine::State::set_attention(Attention level) {
  attention = level;
  if (job.transport) job.transport->set_attention(level);
}

/// The helper thread takes the processor from somebody, so it is woken only for what it can do something about. What finds no
/// receive has to wait for a call anyhow, and so has the end of a transfer unless it opens pages, or the peer waits for an
/// answer.
Attention Engine::State::needed_attention() const {
  if (!causality.held().empty()) return Attention::everything;  // even a small message may be the one that lets them go
  // An announcement may come at any moment, or be taken back, and who does that waits for the answer.
  const bool announces = job.transport && receiver_initiated(job.config.rendezvous);
  if (announces || !causality.released().empty() || node_way.shared_receives() != 0) return Attention::rendezvous;
  if (all_requests.counts().large_receives != 0 || (host_call && all_requests.counts().open_receives != 0))
    return Attention::receives;
  if (all_requests.sends_not_left() != frequent_sender.under_way() || outbox.queued() != 0 ||
      (job.transport && job.transport->holds_output()))
    return Attention::sends;
  return host_call ? Attention::room : Attention::none;
}

// A peer whose ring to this process is full, or whose small synchronous message has its receive posted, is stuck while the host
// has this thread. With several threads in calls nobody can say when the last one is back from the host.
void Engine::State::set_host_call(bool now) {
  host_call = now;
  detail::host_call_prepared.store(now, std::memory_order_relaxed);
}

/// The host has called back, and goes on when the program returns. One that was left by a jump is above on the stack.
bool Engine::State::is_callback() { return std::less<>()(__builtin_frame_address(0), detail::in_host_call); }

void Engine::State::enter() {
  ++inside;
  if (host_call && !job.concurrent_calls) set_host_call(false);
  if (attention != Attention::none) set_attention(Attention::none);
}

void Engine::State::leave(Lock& lock) {
  --inside;
  if (inside == 0) {
    if (is_callback()) set_host_call(true);
    if (blocks.are_to_end()) [[unlikely]]
      leave_address_space();
    arm(lock);
    if (job.transport) job.transport->leave_alerts();
  } else if (inside == sleepers.count) {
    set_attention(Attention::sleeper);
    if (job.transport && (job.transport->pending() || !node_way.list().empty())) job.transport->poke();
  }
}

/// Where processes share processors, a copy costs the application the same in the helper thread, and the wake-up besides. Where
/// each process has one, the helper thread may find that of a peer that only waits; a short copy takes no longer than to wake it.
bool Engine::State::copies_before_leaving() const {
  const Request* const next = node_way.list().first();
  if (!next || job.spare_processor) return false;
  return job.oversubscribed || (!is_worth_waking(*next) && job.transport->is_asleep(next->peer));
}

/// ... But who leaves is often back in a call a moment later, and has its peers begin meanwhile with what else it asks of them.
/// So copies are left to the application's next call; or to the helper thread, once a peer says that it waits (tell_of_waiting).
/// One that is asleep cannot.
bool Engine::State::leaves_copies() const {
  if (job.spare_processor || job.oversubscribed || !causality.released().empty() || !causality.held().empty()) return false;
  const std::span<const Peer> waiting_peers = node_way.list().peers();
  return std::none_of(waiting_peers.begin(), waiting_peers.end(), [this](Peer peer) { return job.transport->is_asleep(peer); });
}

void Engine::State::arm(Lock& lock) {
  constexpr int attempts = 8;
  bool looked = false;  // there was nothing more; for what comes now its sender wakes whom the attention says
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const Attention level = needed_attention();
    if (level == Attention::none || !job.transport) return;
    set_attention(!node_way.list().empty() && leaves_copies() ? level | News::waiting : level);
    const bool copies_first = copies_before_leaving();
    looked = !copies_first && !job.transport->pending();
    if (looked) break;
    set_attention(Attention::none);  // for this thread polls once more: who gets its answer had better not wake anybody meanwhile
    if (copies_first) {
      progress(lock);
    } else {
      take_messages();
    }
    if (inside != 0) return;  // another thread came in while a copy ran outside the lock
  }
  const bool pushes = stream_way.may_move() || rdma_way.has_room();
  if ((!node_way.list().empty() && !leaves_copies()) || pushes || put_sender.needs_looks() || !looked)
    job.transport->wake_helper();
}

void Engine::State::sleep(Lock& lock, microseconds limit) {
  if (!sleepers.any() && job.transport) job.transport->forget_pokes();
  const Counted asleep(sleepers.count, lock);
  set_attention(Attention::sleeper);
  const auto something = [this] {
    return (job.transport && job.transport->pending()) || outbox.self_pending() || !node_way.list().empty() ||
           !node_way.helping().empty();
  };
  if (!something()) {
    if (job.transport) {
      job.transport->tell_of_waiting();  // after the attention: who leaves something undone from now on sees that nobody looks
      job.transport->flush_alerts();
    }
    const std::uint64_t completions =
        all_requests.completions();  // another thread may complete what this one waits for, and poke it in between
    sleep_unlocked(lock, std::min(limit, second_look));
    if (limit > second_look && all_requests.completions() == completions && !something()) sleep_unlocked(lock, limit);
  }
  set_attention(Attention::none);
}

/// Returns at once when the attention has been taken meanwhile.
void Engine::State::sleep_unlocked(Lock& lock, microseconds limit) {
  lock.unlock();
  {
    const held_signals::Window window;
    const trace::Span traced(trace::Kind::sleep);
    job.transport ? job.transport->sleep(limit) : static_cast<void>(sched_yield());
  }
  lock.lock();
}

void Engine::State::wait_a_little(unsigned attempt) {
  if (!mutex.lock_unless(forking)) {
    sched_yield();
    return;  // nothing is closed any more: the caller sees that
  }
  Lock lock(mutex, std::adopt_lock);
  ++waits_for_pages;
  wait_a_little(lock, attempt);
  --waits_for_pages;
}

void Engine::State::wait_a_little(Lock& lock, unsigned attempt) {
  Inside inside_here(*this, lock);
  const bool moved = progress(lock);
  early_return->releases.advance();
  if (attempt % telling_rounds == telling_rounds - 1 && job.transport) job.transport->tell_of_waiting();
  if (moved || attempt < fault_rounds) {
    if (job.oversubscribed && !moved) {
      lock.unlock();
      sched_yield();
      lock.lock();
    }
    return;
  }
  sleep(lock, early_return->memory.data_is_moving() ? fault_sleep_moving : fault_sleep_unknown);
}

/// As soon as no message is in or out of a block: what cannot be now, `leave` tries again.
void Engine::State::leave_address_space() {
  const bool is_moving =
      node_way.copies().busy() != 0 || !causality.released().empty() || all_requests.counts().large_receives != 0;
  if (is_moving || all_requests.counts().pending_sends != 0 || outbox.queued() != 0 || rdma_transfers.outlive_requests()) return;
  if (!memory_users.holds_writers_up()) return;
  if (job.transport) job.transport->leave_address_space();
  blocks.end();
}

// --- the engine's calls ------------------------------------------------------------------------------------------------

void Engine::prepare_for_host_call() {
  Lock lock(state_->mutex);
  state_->set_host_call(true);
  if (state_->inside == 0) state_->arm(lock);
}

void Engine::wait_for_moves() {
  while (MemoryMoves::any()) sched_yield();
}

}  // namespace sluice
