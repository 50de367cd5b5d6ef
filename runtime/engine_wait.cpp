// Waiting in a call: for all of some operations, which may be released meanwhile, for any of them, or for a mixture with the
// host's. How a thread polls, gives its processor away and sleeps, engine_progress.cpp says.

#include <algorithm>

#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/waiting.hpp"
#include "runtime/release/early_return.hpp"
#include "runtime/trace/call.hpp"

namespace sluice {
namespace {

/// How long a receive is waited for before it is released where the wait gives the processor to another process of the job: such
/// a release hides nothing unless the job as a whole is short of work.
constexpr std::uint64_t patience_ns = 200'000;

}  // namespace

/// Many receives: their messages come as fast as they can be copied. One: the next one is asked for when it is there.
void Engine::State::note_awaited(std::span<Request* const> requests) {
  const auto receives =
      std::count_if(requests.begin(), requests.end(), [](const Request* request) { return request && !request->is_send(); });
  if (receives != 0) awaits_many = receives > 1;
}

void Engine::State::wait_all(Lock& lock, std::span<Request* const> requests, CallSite site) {
  const auto open = [](const Request* request) { return request && !request->may_return(); };
  trace::Wait traced(requests);
  note_awaited(requests);
  const Counted counted(waiting, lock);
  Waiter waiter(*this, Waiter::Who::application);
  constexpr std::uint64_t never = ~std::uint64_t{0};
  Releases& releases = early_return->releases;
  const std::uint64_t cost_ns = releases.policy().cost_ns(0);
  std::uint64_t next_try = job.oversubscribed ? std::max(patience_ns, cost_ns) : cost_ns;
  if (job.config.release == ReleaseMode::off) next_try = never;
  std::size_t first_open = 0;
  bool asked = false;  // of the call site, once a call
  for (;;) {
    while (first_open < requests.size() && !open(requests[first_open])) ++first_open;
    if (first_open == requests.size()) break;
    if (progress(lock)) continue;
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
  }
  statistics.waited_ns += waiter.waited_ns();
}

// --- the engine's calls ------------------------------------------------------------------------------------------------

void Engine::wait_all(std::span<Request* const> requests, CallSite site) {
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  state_->wait_all(lock, requests, site);
}

void Engine::wait_any(std::span<Request* const> requests) {
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Waiter waiter(*state_, Waiter::Who::application);
  const trace::Wait traced(requests);
  state_->note_awaited(requests);
  const auto complete = [](const Request* request) { return request && request->complete.load(std::memory_order_relaxed); };
  while (std::none_of(requests.begin(), requests.end(), complete)) {
    if (state_->progress(lock)) continue;
    waiter.step(lock);
    waiter.let_cancellation_act(lock);
  }
}

Engine::Pause::Pause(Engine& engine)
    : state_(*engine.state_), waiter_(std::make_unique<Waiter>(state_, Waiter::Who::application)) {
  const Lock lock(state_.mutex);
  state_.enter();
}

Engine::Pause::~Pause() {
  Lock lock(state_.mutex);
  state_.leave(lock);
}

void Engine::Pause::step() {
  Lock lock(state_.mutex);
  waiter_->step(lock);
}

}  // namespace sluice
