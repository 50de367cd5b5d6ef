// Construction, contexts, and the end.

#include "runtime/engine.hpp"

#include <algorithm>

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/guard/choice.hpp"
#include "runtime/guard/signal.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// The tail of a synchronous eager message names its request.
constexpr std::size_t eager_trailer = sizeof(RequestId);

std::vector<std::size_t> usable_eager_limits(const Engine::Parts& parts) {
  std::vector<std::size_t> limits(parts.job_size, parts.config.eager_limit);
  for (std::size_t peer = 0; parts.transport && peer < limits.size(); ++peer) {
    const Peer to{static_cast<std::int32_t>(peer)};
    if (to == parts.self) continue;
    const std::size_t own = parts.transport->eager_limit(to);
    limits[peer] = std::min(own != 0 ? own : limits[peer], parts.transport->max_payload(to) - eager_trailer);
  }
  return limits;
}

/// Where processes share processors, whoever announces waits for its receiver's turn: 16 KB scattered to three on two processors
/// 11 µs at once, 17 announced; faces of a stencil, four ranks, 57 and 66.
std::size_t choose_single_copy_bytes(const Engine::Parts& parts) {
  if (parts.config.single_copy != 0) return parts.config.single_copy;
  return parts.processors.oversubscribed() ? shared_copy::never : parts.calibration.single_copy_bytes;
}

}  // namespace

Engine::State::State(const Parts& parts)
    : self(parts.self),
      transport(parts.transport),
      arena(parts.arena),
      host(parts.host),
      config(parts.config),
      chunk_bytes(config.copy_chunk != 0 ? config.copy_chunk : parts.calibration.chunk_bytes),
      calibration(parts.calibration),
      processes_on_node(parts.processors.processes),
      oversubscribed(parts.processors.oversubscribed()),
      crowded(parts.processors.crowded()),
      spare_processor(parts.processors.has_spare()),
      concurrent_calls(parts.concurrent_calls),
      eager_limit(0),
      eager_limits(usable_eager_limits(parts)),
      single_copy_bytes(choose_single_copy_bytes(parts)),
      budgets(eager_limits.size()),
      message_lines({calibration, parts.caches, oversubscribed}, transport, parts.job_size),
      to_self(parts.self),
      outgoing(parts.job_size),
      copies(parts.job_size),
      matching(parts.job_size),
      random_state(static_cast<std::uint64_t>(parts.self)),
      messages_out(parts.job_size),
      messages_in(parts.job_size) {
  set_process_name(static_cast<int>(self));
  eager_limit = *std::min_element(eager_limits.begin(), eager_limits.end());
  if (!concurrent_calls) mutex.prefer_this_thread();
  if (!transport) return;
  for (std::size_t peer = 0; peer < parts.job_size; ++peer) {
    const Peer other{static_cast<std::int32_t>(peer)};
    uses_sockets = uses_sockets || (other != self && transport->streams_directly(other));
  }
  if (arena && arena->usable() && reaches_by_rdma()) {
    if (config.frequent_sends != FrequentChoice::off)
      frequent = std::make_unique<FrequentSends>(static_cast<unsigned>(config.frequent_share));
  }
  if (arena && arena->usable()) make_guard();
  // The application's signals are none of the helper thread's business, but a fault of its own must be reported.
  const sigset_t before = fault_signal::block_for_own_threads();
  helper_thread = std::thread([this] { helper(); });
  if (parts.arena_is_its_own && arena && arena->usable()) sweeper = std::make_unique<Sweeper>([this] { return sweep(); });
  fault_signal::restore_mask(before);
  // A peer may have something to ask before this process calls anything.
  if (const Attention level = needed_attention(); level != Attention::none) set_attention(level);
}

/// Also where nothing is released: whoever writes to a range that just becomes a block waits in the guard's handler.
void Engine::State::make_guard() {
  if (config.release == ReleaseMode::off) {
    guard = std::make_unique<PageGuard>(*this, arena);
    return;
  }
  const GuardChoice choice = choose_guard(config.guard);
  if (!choice.warning.empty() && self == Peer{0}) report("warning: %s", choice.warning.c_str());
  guard = std::make_unique<PageGuard>(*this, arena, choice.engine);
  register_user_memory(guard.get(), arena);
  const ReleasePolicy::Cost cost = ReleasePolicy::measure_cost();
  policy.set_cost(guard->engine() == GuardEngine::userfaultfd ? ReleasePolicy::with_userfaultfd(cost) : cost);
}

bool Engine::State::releases() const { return guard && config.release != ReleaseMode::off && arena->usable(); }

Engine::State::~State() {
  sweeper.reset();
  if (arena) arena->watch_registrations(nullptr);
  if (!helper_thread.joinable()) return;
  stopping.store(true, std::memory_order_release);
  transport->wake_helper();
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
  if (state_->sweeper) state_->sweeper->abandon();
  static_cast<void>(state_.release());
}

}  // namespace sluice
