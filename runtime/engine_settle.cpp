// Waiting for what is under guard: until memory can be used again, messages are known, or nothing is left, as before a fork and
// at the end (page-guard rules 1, 3, 6, 8, 9, 11, 12).

#include <sched.h>

#include "runtime/engine/trace_events.hpp"
#include "runtime/engine_impl.hpp"
#include "runtime/process/stall_clock.hpp"

namespace sluice {

// --- the engine's calls ------------------------------------------------------------------------------------------------

namespace {

/// The host itself calls functions of the C library, and must not be called from inside itself. What is under guard then needs
/// nothing of it: it is matched, or was released by a function of the program's that the host has called.
Waiter::Who who_waits() { return Progress::is_callback() ? Waiter::Who::fault_handler : Waiter::Who::application; }

/// Until no release keeps the program from this access.
void settle(Engine::Impl& impl, ByteRange bytes, Access access, Waiter& waiter, Lock& lock, trace::Settling& traced) {
  const ReleasedMemory& memory = impl.released_memory;
  memory.note_need(bytes, access);
  memory.tell(traced, bytes, access);
  const Stall stall;
  while (memory.keeps_from(bytes, access)) {
    if (!impl.progress.round(lock)) waiter.step(lock);
  }
}

/// Where peers or adapters may write to, or read from, a block on behalf of an operation that is not over. Where the host may, or
/// where a transfer has outlived its operation, that is not known.
ForkedBlocks::InUse memory_in_use(const Engine::Impl& impl) {
  ForkedBlocks::InUse in_use;
  const HostHooks& host = impl.job.host;
  in_use.all =
      impl.rdma_transfers.outlive_requests() || impl.put_receiver.withdrawals() != 0 || (host.outstanding && host.outstanding());
  impl.all_requests.for_each_in_use([&](const Request& request) {
    const bool ended = request.complete.load(std::memory_order_relaxed) || request.owned;
    if (!ended) in_use.pages.add(PageRange::covering(request.range()));
  });
  return in_use;
}

}  // namespace

bool Engine::Memory::anything_released() { return PageGuard::active() != 0; }

bool Engine::Memory::released_by_this_thread() { return Releases::this_thread_released(); }

bool Engine::Memory::this_thread_is_inside() { return detail::engine_depth != 0; }

void Engine::Memory::settle_all(trace::SettleCause cause) {
  trace::Settling traced(cause);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Waiter waiter(impl_->progress, who_waits());
  impl_->released_memory.tell(traced, [](const Request&) { return true; });
  const Stall stall;
  while (!impl_->causality.released().empty()) {
    if (!impl_->progress.round(lock)) waiter.step(lock);
  }
}

void Engine::Memory::settle_for_host(const HostNeeds& needs) {
  trace::Settling traced(trace::SettleCause::host_call);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Waiter waiter(impl_->progress, who_waits());
  const ReleasedMemory& memory = impl_->released_memory;
  for (const HostNeeds::Buffer& buffer : needs.buffers()) memory.note_need(buffer.bytes, buffer.access);
  memory.tell(traced, needs);
  {
    const Stall stall;
    while (memory.keeps_from(needs)) {
      if (!impl_->progress.round(lock)) waiter.step(lock);
    }
  }
  if (!impl_->causality.released().empty()) ++impl_->statistics.host_calls_beside_releases;
}

void Engine::Memory::settle(ByteRange bytes, Access access) {
  trace::Settling traced(trace::SettleCause::operation);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Waiter waiter(impl_->progress, who_waits());
  sluice::settle(*impl_, bytes, access, waiter, lock, traced);
}

void Engine::Memory::settle_without_host(ByteRange bytes) {
  trace::Settling traced(trace::SettleCause::allocator);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Waiter waiter(impl_->progress, Waiter::Who::fault_handler);
  sluice::settle(*impl_, bytes, Access::write, waiter, lock, traced);
}

void Engine::Memory::settle_unknown() {
  trace::Settling traced(trace::SettleCause::output);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Waiter waiter(impl_->progress, who_waits());
  impl_->released_memory.tell(traced, [](const Request& request) { return request.unknown; });
  const Stall stall;
  while (impl_->causality.unmatched() != 0) {
    if (!impl_->progress.round(lock)) waiter.step(lock);
  }
}

void Engine::Memory::make_private(ByteRange bytes) {
  settle_without_host(bytes);
  const Lock lock(impl_->mutex);
  impl_->blocks.privatize(bytes);
}

void Engine::Memory::leave_address_space() {
  settle_all();
  Lock lock(impl_->mutex);
  while (impl_->node_way.copies().busy() != 0) {
    lock.unlock();
    __builtin_ia32_pause();
    lock.lock();
  }
  if (impl_->job.transport) impl_->job.transport->leave_address_space();  // what is mapped of peers' memory is never needed
  impl_->blocks.let_end();
  impl_->progress.end_blocks();
}

void Engine::Memory::discard(ByteRange bytes) {
  const Lock lock(impl_->mutex);
  impl_->blocks.discard(bytes);
}

std::size_t Engine::Memory::resolve(std::uint64_t lazy_token) {
  trace::Settling traced(trace::SettleCause::count);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Waiter waiter(impl_->progress, Waiter::Who::application);
  const auto is_asked_for = [&](const Request& request) { return request.unknown && request.lazy_token == lazy_token; };
  impl_->released_memory.tell(traced, is_asked_for);
  const Stall stall;
  for (;;) {
    if (const auto bytes = impl_->releases.lazy_counts().find(lazy_token)) return *bytes;
    if (!impl_->progress.round(lock)) waiter.step(lock);
  }
}

/// A thread that waits for a page may hold a lock that fork takes next: that of the arena in whose memory malloc has touched the
/// page. So none may have to wait for the engine lock in turn, which is held until fork is done. Nothing is closed by then, and
/// those that have waited leave first; who comes later sees `forking`.
void Engine::Memory::prepare_fork() {
  for (;;) {
    settle_all(trace::SettleCause::fork);
    impl_->mutex.lock();
    if (impl_->causality.released().empty() && impl_->node_way.copies().busy() == 0 && !impl_->page_waits.any()) break;
    impl_->sleepers.wake();
    impl_->mutex.unlock();
    sched_yield();
  }
  impl_->page_waits.begin_fork();
  impl_->blocks.prepare_fork(impl_->memory_users.guard() && PageGuard::hears_this_thread(), memory_in_use(*impl_));
}

void Engine::Memory::after_fork() {
  impl_->blocks.parent_after_fork();
  impl_->page_waits.end_fork();
  impl_->mutex.unlock();
}

void Engine::drain() {
  memory_.settle_all(trace::SettleCause::finalize);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Waiter waiter(impl_->progress, Waiter::Who::application);
  const Transport* transport = impl_->job.transport;
  for (;;) {
    if (impl_->progress.round(lock)) continue;
    // What this process has sent to itself and not received when nothing moves any more, nobody will receive.
    if (impl_->all_requests.counts().pending_sends == impl_->all_requests.counts().sends_to_self && impl_->outbox.queued() == 0 &&
        impl_->put_receiver.withdrawals() == 0 && !(transport && transport->holds_output()))
      break;
    waiter.step(lock);
  }
  impl_->helper_thread.let_peers_vanish();
}

}  // namespace sluice
