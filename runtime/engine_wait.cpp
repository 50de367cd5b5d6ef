// The engine's calls that wait, and polls. request_waits.hpp says how they wait for operations, waiter.hpp how a thread gives its
// processor away and sleeps.

#include <sched.h>

#include "runtime/engine_impl.hpp"

namespace sluice {

void Engine::progress(Awaits awaits, Host host) {
  if (!impl_->progress.look()) impl_->progress.poll(awaits == Awaits::several, host == Host::is_called);
}

void Engine::wait_all(std::span<Request* const> requests, CallSite site) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  impl_->request_waits.all(lock, requests, site);
}

void Engine::Completion::wait_any(std::span<Request* const> requests) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  impl_->request_waits.any(lock, requests);
}

Engine::Pause::Pause(Engine& engine)
    : impl_(*engine.impl_), waiter_(std::make_unique<Waiter>(impl_.progress, Waiter::Who::application)) {
  const Lock lock(impl_.mutex);
  impl_.progress.enter();
}

Engine::Pause::~Pause() {
  Lock lock(impl_.mutex);
  impl_.progress.leave(lock);
}

void Engine::Pause::step() {
  Lock lock(impl_.mutex);
  waiter_->step(lock);
}

void Engine::HostCalls::prepare() {
  Lock lock(impl_->mutex);
  impl_->progress.prepare_for_host_call(lock);
}

void Engine::HostCalls::wait_for_moves() {
  while (MemoryMoves::any()) sched_yield();
}

void Engine::announce_end() {
  impl_->helper_thread.let_peers_vanish();
  if (Memory::this_thread_is_inside() || !impl_->job.transport) return;
  const Lock lock(impl_->mutex);
  impl_->job.transport->say_goodbye();
}

}  // namespace sluice
