// Waiting for what is under guard: until memory can be used again, messages are known, or nothing is left (page-guard rules 1, 3,
// 6, 8, 9, 11, 12).

#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/waiting.hpp"
#include "runtime/process/stall_clock.hpp"

namespace sluice {
namespace {

bool keeps_from(const Request& released, ByteRange bytes, Access access) {
  return (access == Access::write || !released.is_send()) && released.range().overlaps(bytes);
}

}  // namespace

bool Engine::State::released_overlaps(ByteRange bytes, Access access) const {
  for (const Request* request = released.first(); request; request = decltype(released)::next(request)) {
    if (keeps_from(*request, bytes, access)) return true;
  }
  return false;
}

/// A send whose buffer the program needs now has hidden no more than until now.
void Engine::State::settle(ByteRange bytes, Access access, Waiter& waiter, Lock& lock, trace::Settling& traced) {
  for (Request* send = access == Access::write ? released.first() : nullptr; send; send = decltype(released)::next(send)) {
    if (send->is_send() && send->range().overlaps(bytes)) PageGuard::note_touch(*send->guarded);
  }
  note_settling(traced, [&](const Request& request) { return keeps_from(request, bytes, access); });
  const Stall stall;
  while (released_overlaps(bytes, access)) {
    if (!progress(lock)) waiter.step(lock);
  }
}

template <class Concerned>
void Engine::State::note_settling(trace::Settling& traced, Concerned concerned) const {
  for (const Request* request = traced.wants_releases() ? released.first() : nullptr; request;
       request = decltype(released)::next(request)) {
    if (concerned(*request)) traced.add(*request);
  }
}

bool Engine::State::data_is_moving() const {
  for (const Request* request = released.first(); request; request = decltype(released)::next(request)) {
    if (!request->is_send() && !request->unknown) return true;
  }
  return false;
}

/// As soon as no message is in or out of a block: what cannot be now, `leave` tries again.
void Engine::State::leave_address_space() {
  const bool is_moving = busy_copies != 0 || !released.empty() || large_receives != 0;
  if (is_moving || pending_sends != 0 || queued != 0 || rdma_transfers.outlive_requests()) return;
  if (!holds_writers_up()) return;
  if (transport) transport->leave_address_space();
  blocks.end();
}

// --- the engine's calls ------------------------------------------------------------------------------------------------

bool Engine::anything_released() { return PageGuard::active() != 0; }

bool Engine::this_thread_is_inside() { return detail::engine_depth != 0; }

void Engine::settle_all(trace::SettleCause cause) {
  trace::Settling traced(cause);
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Waiter waiter(*state_, Waiter::Who::application);
  state_->note_settling(traced, [](const Request&) { return true; });
  const Stall stall;
  while (!state_->released.empty()) {
    if (!state_->progress(lock)) waiter.step(lock);
  }
}

void Engine::settle(ByteRange bytes, Access access) {
  trace::Settling traced(trace::SettleCause::operation);
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Waiter waiter(*state_, Waiter::Who::application);
  state_->settle(bytes, access, waiter, lock, traced);
}

void Engine::settle_without_host(ByteRange bytes) {
  trace::Settling traced(trace::SettleCause::allocator);
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Waiter waiter(*state_, Waiter::Who::fault_handler);
  state_->settle(bytes, Access::write, waiter, lock, traced);
}

void Engine::settle_unknown() {
  trace::Settling traced(trace::SettleCause::output);
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Waiter waiter(*state_, Waiter::Who::application);
  state_->note_settling(traced, [](const Request& request) { return request.unknown; });
  const Stall stall;
  while (state_->unmatched_releases != 0) {
    if (!state_->progress(lock)) waiter.step(lock);
  }
}

void Engine::make_private(ByteRange bytes) {
  settle_without_host(bytes);
  const Lock lock(state_->mutex);
  state_->blocks.privatize(bytes);
}

void Engine::leave_address_space() {
  settle_all();
  Lock lock(state_->mutex);
  while (state_->busy_copies != 0) {
    lock.unlock();
    __builtin_ia32_pause();
    lock.lock();
  }
  if (state_->transport) state_->transport->leave_address_space();  // what is mapped of peers' memory is never needed
  state_->blocks.let_end();
  state_->leave_address_space();
}

void Engine::discard(ByteRange bytes) {
  const Lock lock(state_->mutex);
  state_->blocks.discard(bytes);
}

std::size_t Engine::resolve(std::uint64_t lazy_token) {
  trace::Settling traced(trace::SettleCause::count);
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Waiter waiter(*state_, Waiter::Who::application);
  const auto is_asked_for = [&](const Request& request) { return request.unknown && request.lazy_token == lazy_token; };
  state_->note_settling(traced, is_asked_for);
  const Stall stall;
  for (;;) {
    if (const auto bytes = state_->lazy_counts.find(lazy_token)) return *bytes;
    if (!state_->progress(lock)) waiter.step(lock);
  }
}

}  // namespace sluice
