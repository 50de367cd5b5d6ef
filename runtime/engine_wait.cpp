// Waiting in a call: for all of some operations, which may be released meanwhile, for any of them, or for a mixture with the
// host's; and polls. How a thread progresses, gives its processor away and sleeps, progress.hpp and waiter.hpp say.

#include <sched.h>

#include <algorithm>

#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/release/early_return.hpp"
#include "runtime/trace/call.hpp"

namespace sluice {
namespace {

/// How long a receive is waited for before it is released where the wait gives the processor to another process of the job: such
/// a release hides nothing unless the job as a whole is short of work.
constexpr std::uint64_t patience_ns = 200'000;

}  // namespace

void Engine::State::wait_all(Lock& lock, std::span<Request* const> requests, CallSite site) {
  std::size_t first_open = 0;
  const auto all_may_return = [&] {
    const auto open = [](const Request* request) { return request && !request->may_return(); };
    while (first_open < requests.size() && !open(requests[first_open])) ++first_open;
    return first_open == requests.size();
  };
  progress.note_awaited(requests);
  if (all_may_return()) return;
  trace::Wait traced(requests);
  const Counted counted(progress.waiting(), lock);
  Waiter waiter(progress, Waiter::Who::application);
  constexpr std::uint64_t never = ~std::uint64_t{0};
  Releases& releases = early_return->releases;
  const std::uint64_t cost_ns = releases.policy().cost_ns(0);
  std::uint64_t next_try = job.oversubscribed ? std::max(patience_ns, cost_ns) : cost_ns;
  if (job.config.release == ReleaseMode::off) next_try = never;
  bool asked = false;  // of the call site, once a call
  do {
    if (progress.round(lock)) continue;
    waiter.step(lock, next_try);
    waiter.let_cancellation_act(lock);
    traced.lasts(waiter.waited_ns());
    if (waiter.waited_ns() < next_try) continue;
    next_try = 2 * waiter.waited_ns();
    if (!asked && !releases.policy().allows(site)) {
      releases.refuse(requests.subspan(first_open), Fallback::call_site_never_pays, waiter.waited_ns());
      next_try = never;
      continue;
    }
    asked = true;
    early_return->aside.set_aside(lock, requests.subspan(first_open), waiter.waited_ns());
    if (releases.try_release(lock, requests.subspan(first_open), site, waiter.waited_ns())) break;
  } while (!all_may_return());
  statistics.waited_ns += waiter.waited_ns();
}

// --- the engine's calls ------------------------------------------------------------------------------------------------

void Engine::progress(Awaits awaits) {
  if (!state_->progress.look()) state_->progress.poll(awaits == Awaits::several);
}

void Engine::wait_all(std::span<Request* const> requests, CallSite site) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  state_->wait_all(lock, requests, site);
}

void Engine::Completion::wait_any(std::span<Request* const> requests) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Waiter waiter(state_->progress, Waiter::Who::application);
  const trace::Wait traced(requests);
  state_->progress.note_awaited(requests);
  const auto complete = [](const Request* request) { return request && request->complete.load(std::memory_order_relaxed); };
  while (std::none_of(requests.begin(), requests.end(), complete)) {
    if (state_->progress.round(lock)) continue;
    waiter.step(lock);
    waiter.let_cancellation_act(lock);
  }
}

Engine::Pause::Pause(Engine& engine)
    : state_(*engine.state_), waiter_(std::make_unique<Waiter>(state_.progress, Waiter::Who::application)) {
  const Lock lock(state_.mutex);
  state_.progress.enter();
}

Engine::Pause::~Pause() {
  Lock lock(state_.mutex);
  state_.progress.leave(lock);
}

void Engine::Pause::step() {
  Lock lock(state_.mutex);
  waiter_->step(lock);
}

void Engine::HostCalls::prepare() {
  Lock lock(state_->mutex);
  state_->progress.prepare_for_host_call(lock);
}

void Engine::HostCalls::wait_for_moves() {
  while (MemoryMoves::any()) sched_yield();
}

void Engine::announce_end() {
  state_->helper_thread.let_peers_vanish();
  if (Memory::this_thread_is_inside() || !state_->job.transport) return;
  const Lock lock(state_->mutex);
  state_->job.transport->say_goodbye();
}

}  // namespace sluice
