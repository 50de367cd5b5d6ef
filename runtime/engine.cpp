// Construction, contexts, and the end.

#include "runtime/engine.hpp"

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/guard/choice.hpp"
#include "runtime/guard/signal.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {

Engine::State::State(const Parts& parts)
    : job(parts),
      budgets(job.size),
      message_lines({job.calibration, job.caches, job.oversubscribed}, job.transport, job.size),
      to_self(job.self),
      outgoing(job.size),
      matching(job.size),
      blocks(job.arena, *this),
      messages_out(job.size),
      messages_in(job.size) {
  set_process_name(static_cast<int>(self));
  if (!job.concurrent_calls) mutex.prefer_this_thread();
  if (!job.transport) return;
  if (blocks.usable() && reaches_by_rdma()) {
    if (job.config.frequent_sends != FrequentChoice::off)
      frequent = std::make_unique<FrequentSends>(static_cast<unsigned>(job.config.frequent_share));
  }
  if (blocks.usable()) make_guard();
  // The application's signals are none of the helper thread's business, but a fault of its own must be reported.
  const sigset_t before = fault_signal::block_for_own_threads();
  helper_thread = std::thread([this] { helper(); });
  if (parts.arena_is_its_own && blocks.usable()) blocks.start_sweeper([this] { return blocks.sweep(mutex); });
  fault_signal::restore_mask(before);
  // A peer may have something to ask before this process calls anything.
  if (const Attention level = needed_attention(); level != Attention::none) set_attention(level);
}

/// Also where nothing is released: whoever writes to a range that just becomes a block waits in the guard's handler.
void Engine::State::make_guard() {
  if (job.config.release == ReleaseMode::off) {
    guard = std::make_unique<PageGuard>(*this, job.arena);
    return;
  }
  const GuardChoice choice = choose_guard(job.config.guard);
  if (!choice.warning.empty() && job.self == Peer{0}) report("warning: %s", choice.warning.c_str());
  guard = std::make_unique<PageGuard>(*this, arena, choice.engine);
  register_user_memory(guard.get(), job.arena);
  const ReleasePolicy::Cost cost = ReleasePolicy::measure_cost();
  policy.set_cost(guard->engine() == GuardEngine::userfaultfd ? ReleasePolicy::with_userfaultfd(cost) : cost);
}

bool Engine::State::releases() const { return guard && job.config.release != ReleaseMode::off && job.arena->usable(); }

Engine::State::~State() {
  blocks.stop_sweeper();
  if (job.arena) job.arena->watch_registrations(nullptr);
  if (!helper_thread.joinable()) return;
  stopping.store(true, std::memory_order_release);
  job.transport->wake_helper();
  helper_thread.join();
  if (guard) register_user_memory(nullptr, nullptr);
  guard.reset();  // its threads use the rest of the engine
}

Engine::Engine(const Parts& parts) : state_(std::make_unique<State>(parts)) {}

Engine::~Engine() = default;

Context* Engine::adopt(ContextId id, std::vector<Peer> group, Rank self) {
  const Lock lock(state_->mutex);
  Context& context = state_->context_of(id);
  context.become(std::move(group), self);
  if (const Message* message = context.find_stranger()) {
    fatal("message of rank %d is for a communicator that it is not in", static_cast<int>(message->from));
  }
  return &context;
}

void Engine::retire(Context* context) {
  const Lock lock(state_->mutex);
  context->retired = true;
  if (context->operations == 0) state_->drop(context);
}

void Engine::choose_rendezvous(Context& context, Rendezvous rendezvous) {
  const Lock lock(state_->mutex);
  context.rendezvous = rendezvous;
}

void Engine::let_errors_return(Context& context, bool may_return) {
  const Lock lock(state_->mutex);
  context.errors_return = may_return;
}

const EngineStatistics& Engine::statistics() const { return state_->statistics; }

std::vector<ReleasePolicy::Report> Engine::call_sites() const {
  const Lock lock(state_->mutex);
  return state_->policy.reports();
}

const PageGuard* Engine::guard() const { return state_->guard.get(); }

void Engine::abandon() {
  if (state_->guard) state_->guard->abandon();
  held_signals::let_go();  // the lock is never given back here
  // The thread object names a thread that exists in the parent only.
  if (state_->helper_thread.joinable()) state_->helper_thread.detach();
  state_->blocks.abandon_sweeper();
  static_cast<void>(state_.release());
}

}  // namespace sluice
