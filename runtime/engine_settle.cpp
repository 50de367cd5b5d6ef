// Waiting for what is under guard: until memory can be used again, messages are known, or nothing is left, as before a fork and
// at the end (page-guard rules 1, 3, 6, 8, 9, 11, 12).

#include <sched.h>

#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/process/stall_clock.hpp"
#include "runtime/release/early_return.hpp"

namespace sluice {

// --- the engine's calls ------------------------------------------------------------------------------------------------

namespace {

/// Until no release keeps the program from this access.
void settle(Engine::State& state, ByteRange bytes, Access access, Waiter& waiter, Lock& lock, trace::Settling& traced) {
  const ReleasedMemory& memory = state.early_return->memory;
  memory.note_need(bytes, access);
  memory.tell(traced, bytes, access);
  const Stall stall;
  while (memory.keeps_from(bytes, access)) {
    if (!state.progress.round(lock)) waiter.step(lock);
  }
}

}  // namespace

bool Engine::Memory::anything_released() { return PageGuard::active() != 0; }

bool Engine::Memory::released_by_this_thread() { return Releases::this_thread_released(); }

bool Engine::Memory::this_thread_is_inside() { return detail::engine_depth != 0; }

void Engine::Memory::settle_all(trace::SettleCause cause) {
  trace::Settling traced(cause);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Waiter waiter(state_->progress, Waiter::Who::application);
  state_->early_return->memory.tell(traced, [](const Request&) { return true; });
  const Stall stall;
  while (!state_->causality.released().empty()) {
    if (!state_->progress.round(lock)) waiter.step(lock);
  }
}

void Engine::Memory::settle_for_host(const HostNeeds& needs) {
  trace::Settling traced(trace::SettleCause::host_call);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Waiter waiter(state_->progress, Waiter::Who::application);
  const EarlyReturn& early_return = *state_->early_return;
  for (const HostNeeds::Buffer& buffer : needs.buffers()) early_return.memory.note_need(buffer.bytes, buffer.access);
  early_return.memory.tell(traced, needs);
  {
    const Stall stall;
    while (early_return.memory.keeps_from(needs)) {
      if (!state_->progress.round(lock)) waiter.step(lock);
    }
  }
  if (!state_->causality.released().empty()) ++state_->statistics.host_calls_beside_releases;
}

void Engine::Memory::settle(ByteRange bytes, Access access) {
  trace::Settling traced(trace::SettleCause::operation);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Waiter waiter(state_->progress, Waiter::Who::application);
  sluice::settle(*state_, bytes, access, waiter, lock, traced);
}

void Engine::Memory::settle_without_host(ByteRange bytes) {
  trace::Settling traced(trace::SettleCause::allocator);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Waiter waiter(state_->progress, Waiter::Who::fault_handler);
  sluice::settle(*state_, bytes, Access::write, waiter, lock, traced);
}

void Engine::Memory::settle_unknown() {
  trace::Settling traced(trace::SettleCause::output);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Waiter waiter(state_->progress, Waiter::Who::application);
  state_->early_return->memory.tell(traced, [](const Request& request) { return request.unknown; });
  const Stall stall;
  while (state_->causality.unmatched() != 0) {
    if (!state_->progress.round(lock)) waiter.step(lock);
  }
}

void Engine::Memory::make_private(ByteRange bytes) {
  settle_without_host(bytes);
  const Lock lock(state_->mutex);
  state_->blocks.privatize(bytes);
}

void Engine::Memory::leave_address_space() {
  settle_all();
  Lock lock(state_->mutex);
  while (state_->node_way.copies().busy() != 0) {
    lock.unlock();
    __builtin_ia32_pause();
    lock.lock();
  }
  if (state_->job.transport) state_->job.transport->leave_address_space();  // what is mapped of peers' memory is never needed
  state_->blocks.let_end();
  state_->progress.end_blocks();
}

void Engine::Memory::discard(ByteRange bytes) {
  const Lock lock(state_->mutex);
  state_->blocks.discard(bytes);
}

std::size_t Engine::Memory::resolve(std::uint64_t lazy_token) {
  trace::Settling traced(trace::SettleCause::count);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Waiter waiter(state_->progress, Waiter::Who::application);
  const auto is_asked_for = [&](const Request& request) { return request.unknown && request.lazy_token == lazy_token; };
  state_->early_return->memory.tell(traced, is_asked_for);
  const Stall stall;
  for (;;) {
    if (const auto bytes = state_->early_return->releases.lazy_counts().find(lazy_token)) return *bytes;
    if (!state_->progress.round(lock)) waiter.step(lock);
  }
}

/// Where peers or adapters may write to, or read from, a block on behalf of an operation that is not over. Where the host may, or
/// where a transfer has outlived its operation, that is not known.
ForkedBlocks::InUse Engine::State::memory_in_use() const {
  ForkedBlocks::InUse in_use;
  in_use.all =
      rdma_transfers.outlive_requests() || put_receiver.withdrawals() != 0 || (job.host.outstanding && job.host.outstanding());
  all_requests.for_each_in_use([&](const Request& request) {
    const bool ended = request.complete.load(std::memory_order_relaxed) || request.owned;
    if (!ended) in_use.pages.add(PageRange::covering(request.range()));
  });
  return in_use;
}

/// A thread that waits for a page may hold a lock that fork takes next: that of the arena in whose memory malloc has touched the
/// page. So none may have to wait for the engine lock in turn, which is held until fork is done. Nothing is closed by then, and
/// those that have waited leave first; who comes later sees `forking`.
void Engine::Memory::prepare_fork() {
  for (;;) {
    settle_all(trace::SettleCause::fork);
    state_->mutex.lock();
    if (state_->causality.released().empty() && state_->node_way.copies().busy() == 0 && !state_->page_waits.any()) break;
    state_->sleepers.wake();
    state_->mutex.unlock();
    sched_yield();
  }
  state_->page_waits.begin_fork();
  state_->blocks.prepare_fork(state_->memory_users.guard() && PageGuard::hears_this_thread(), state_->memory_in_use());
}

void Engine::Memory::after_fork() {
  state_->blocks.parent_after_fork();
  state_->page_waits.end_fork();
  state_->mutex.unlock();
}

void Engine::drain() {
  memory_.settle_all(trace::SettleCause::finalize);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Waiter waiter(state_->progress, Waiter::Who::application);
  const Transport* transport = state_->job.transport;
  for (;;) {
    if (state_->progress.round(lock)) continue;
    // What this process has sent to itself and not received when nothing moves any more, nobody will receive.
    if (state_->all_requests.counts().pending_sends == state_->all_requests.counts().sends_to_self &&
        state_->outbox.queued() == 0 && state_->put_receiver.withdrawals() == 0 && !(transport && transport->holds_output()))
      return;
    waiter.step(lock);
  }
}

}  // namespace sluice
