// Construction, contexts, and the end.

#include "runtime/engine.hpp"

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/guard/signal.hpp"
#include "runtime/release/early_return.hpp"

namespace sluice {

Engine::State::State(const Parts& parts)
    : job(parts),
      early_return(std::make_unique<EarlyReturn>(*this)),
      blocks(job.arena, memory_users),
      page_waits(progress, early_return->releases, early_return->memory),
      helper_thread({.progress = progress, .releases = early_return->releases, .statistics = statistics}) {
  set_process_name(static_cast<int>(job.self));
  causality.watch(&early_return->releases);
  if (!job.concurrent_calls) mutex.prefer_this_thread();
  if (!job.transport) return;
  if (blocks.usable()) {
    early_return->releases.begin(page_waits);
    memory_users.set_guard(early_return->releases.guard());
  }
  // The application's signals are none of the helper thread's business, but a fault of its own must be reported.
  const sigset_t before = fault_signal::block_for_own_threads();
  helper_thread.start();
  if (parts.arena_is_its_own && blocks.usable()) blocks.start_sweeper([this] { return blocks.sweep(mutex); });
  fault_signal::restore_mask(before);
  progress.begin();
}

Engine::State::~State() {
  blocks.stop_sweeper();
  if (!helper_thread.runs()) return;
  helper_thread.stop();
  memory_users.set_guard(nullptr);
  early_return->releases.end();
}

Engine::Engine(const Parts& parts)
    : state_(std::make_unique<State>(parts)),
      contexts_(state_.get()),
      completion_(state_.get()),
      probes_(state_.get()),
      memory_(state_.get()),
      host_calls_(state_.get()),
      collectives_(state_.get()),
      reports_(state_.get()) {}

Engine::~Engine() = default;

Context* Engine::Contexts::adopt(ContextId id, std::vector<Peer> group, Rank self) {
  const Lock lock(state_->mutex);
  return &state_->matcher.adopt(id, std::move(group), self);
}

void Engine::Contexts::retire(Context* context) {
  const Lock lock(state_->mutex);
  state_->matcher.retire(context);
}

void Engine::Contexts::choose_rendezvous(Context& context, Rendezvous rendezvous) {
  const Lock lock(state_->mutex);
  context.rendezvous = rendezvous;
}

void Engine::Contexts::let_errors_return(Context& context, bool may_return) {
  const Lock lock(state_->mutex);
  context.errors_return = may_return;
}

const EngineStatistics& Engine::statistics() const { return state_->statistics; }

std::vector<ReleasePolicy::Report> Engine::Reports::call_sites() const {
  const Lock lock(state_->mutex);
  return state_->early_return->releases.policy().reports();
}

const PageGuard* Engine::Reports::guard() const { return state_->memory_users.guard(); }

const RegistrationCache* Engine::Reports::registrations() const { return state_->job_registrations.cache().get(); }

void Engine::abandon() {
  if (PageGuard* guard = state_->early_return->releases.guard()) guard->abandon();
  held_signals::let_go();  // the lock is never given back here
  state_->helper_thread.abandon();
  state_->blocks.abandon_sweeper();
  static_cast<void>(state_.release());
}

}  // namespace sluice
