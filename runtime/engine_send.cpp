// The engine's calls that send.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "runtime/engine/state.hpp"

namespace sluice {
namespace {

/// [lock not held] `sends`: a count that belongs to the lock.
void wait_until_none(Engine::State& state, const std::size_t& sends) {
  Lock lock(state.mutex);
  Inside entered(state.progress, lock);
  Waiter waiter(state.progress, Waiter::Who::application);
  while (sends != 0) {
    if (!state.progress.round(lock)) waiter.step(lock);
  }
}

}  // namespace

void Engine::send(Context& context, Rank to, Tag tag, const void* data, std::size_t bytes, SendMode mode, CallSite site) {
  Lock lock(state_->mutex);
  const auto* start = static_cast<const std::byte*>(data);
  const bool frequent = mode == SendMode::standard && state_->job.config.frequent_sends == FrequentChoice::all &&
                        state_->frequent_sender.is_frequent(context.peer(to), start, bytes);
  auto tried = SmallSends::AtOnce::not_tried;
  if (mode == SendMode::standard && !frequent) tried = state_->small_sends.send(context, to, tag, start, bytes);
  if (tried == SmallSends::AtOnce::has_left) return;
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->data = const_cast<std::byte*>(start);
  send->bytes = bytes;
  send->call_waits = true;
  send->frequent = frequent;
  state_->sender.start(send, tried);
  state_->wait_all(lock, {&send, 1}, site);
  state_->all_requests.take(send);
}

void Engine::send(Context& context, Rank to, Tag tag, const UserBuffer& buffer, SendMode mode, CallSite site) {
  if (buffer.is_contiguous()) return send(context, to, tag, buffer.data(), buffer.bytes(), mode, site);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->describe(buffer);
  send->call_waits = true;
  state_->sender.start(send);
  state_->wait_all(lock, {&send, 1}, site);
  state_->all_requests.take(send);
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, std::span<const std::byte> data, SendMode mode, CallSite site,
                            Caller caller) {
  Lock lock(state_->mutex);
  const bool frequent =
      mode == SendMode::standard && state_->frequent_sender.is_frequent(context.peer(to), data.data(), data.size());
  auto tried = SmallSends::AtOnce::not_tried;
  if (mode == SendMode::standard && !frequent) tried = state_->small_sends.send(context, to, tag, data.data(), data.size());
  if (tried == SmallSends::AtOnce::has_left) return nullptr;
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->data = const_cast<std::byte*>(data.data());
  send->bytes = data.size();
  send->call_waits = caller == Caller::waits;
  send->frequent = frequent;
  state_->sender.start(send, tried);
  return send;
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, const UserBuffer& buffer, SendMode mode, CallSite site,
                            Caller caller) {
  if (buffer.is_contiguous()) return start_send(context, to, tag, std::span(buffer.data(), buffer.bytes()), mode, site, caller);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->describe(buffer);
  send->call_waits = caller == Caller::waits;
  state_->sender.start(send);
  return send;
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, std::unique_ptr<std::byte[]> copy, std::size_t bytes,
                            CallSite site, Caller caller, SendMode mode) {
  Lock lock(state_->mutex);
  auto tried = SmallSends::AtOnce::not_tried;
  if (mode == SendMode::standard) tried = state_->small_sends.send(context, to, tag, copy.get(), bytes);
  if (tried == SmallSends::AtOnce::has_left) return nullptr;
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->data = copy.get();
  send->owned = std::move(copy);
  send->bytes = bytes;
  send->call_waits = caller == Caller::waits;
  state_->sender.start(send, tried);
  return send;
}

std::size_t Engine::Completion::buffered_bytes(std::size_t overhead) {
  const Lock lock(state_->mutex);
  return state_->all_requests.counts().buffered_bytes + state_->all_requests.counts().buffered_sends * overhead;
}

void Engine::Completion::wait_buffered() { wait_until_none(*state_, state_->all_requests.counts().buffered_sends); }

void Engine::Completion::wait_buffered(const Context& context) { wait_until_none(*state_, context.buffered_sends); }

}  // namespace sluice
