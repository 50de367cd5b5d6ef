// The engine's calls that send.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "runtime/engine_impl.hpp"

namespace sluice {
namespace {

/// [lock not held] `sends`: a count that belongs to the lock.
void wait_until_none(Progress& progress, const std::size_t& sends) {
  Lock lock(progress.lock());
  Inside entered(progress, lock);
  Waiter waiter(progress, Waiter::Who::application);
  while (sends != 0) {
    if (!progress.round(lock)) waiter.step(lock);
  }
}

}  // namespace

void Engine::send(Context& context, Rank to, Tag tag, const void* data, std::size_t bytes, SendMode mode, CallSite site) {
  Lock lock(impl_->mutex);
  const auto* start = static_cast<const std::byte*>(data);
  const bool frequent = mode == SendMode::standard && impl_->job.config.frequent_sends == FrequentChoice::all &&
                        impl_->frequent_sender.is_frequent(context.peer(to), start, bytes);
  auto tried = SmallSends::AtOnce::not_tried;
  if (mode == SendMode::standard && !frequent) tried = impl_->small_sends.send(context, to, tag, start, bytes);
  if (tried == SmallSends::AtOnce::has_left) return;
  Inside inside(impl_->progress, lock);
  Request* send = impl_->all_requests.new_send(context, to, tag, mode, site);
  send->data = const_cast<std::byte*>(start);
  send->bytes = bytes;
  send->call_waits = true;
  send->frequent = frequent;
  impl_->sender.start(send, tried);
  impl_->request_waits.all(lock, {&send, 1}, site);
  impl_->all_requests.take(send);
}

void Engine::send(Context& context, Rank to, Tag tag, const UserBuffer& buffer, SendMode mode, CallSite site) {
  if (buffer.is_contiguous()) return send(context, to, tag, buffer.data(), buffer.bytes(), mode, site);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Request* send = impl_->all_requests.new_send(context, to, tag, mode, site);
  send->describe(buffer);
  send->call_waits = true;
  impl_->sender.start(send);
  impl_->request_waits.all(lock, {&send, 1}, site);
  impl_->all_requests.take(send);
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, std::span<const std::byte> data, SendMode mode, CallSite site,
                            Caller caller) {
  Lock lock(impl_->mutex);
  const bool frequent =
      mode == SendMode::standard && impl_->frequent_sender.is_frequent(context.peer(to), data.data(), data.size());
  auto tried = SmallSends::AtOnce::not_tried;
  if (mode == SendMode::standard && !frequent) tried = impl_->small_sends.send(context, to, tag, data.data(), data.size());
  if (tried == SmallSends::AtOnce::has_left) return nullptr;
  Inside inside(impl_->progress, lock);
  Request* send = impl_->all_requests.new_send(context, to, tag, mode, site);
  send->data = const_cast<std::byte*>(data.data());
  send->bytes = data.size();
  send->call_waits = caller == Caller::waits;
  send->frequent = frequent;
  impl_->sender.start(send, tried);
  return send;
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, const UserBuffer& buffer, SendMode mode, CallSite site,
                            Caller caller) {
  if (buffer.is_contiguous()) return start_send(context, to, tag, std::span(buffer.data(), buffer.bytes()), mode, site, caller);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Request* send = impl_->all_requests.new_send(context, to, tag, mode, site);
  send->describe(buffer);
  send->call_waits = caller == Caller::waits;
  impl_->sender.start(send);
  return send;
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, std::unique_ptr<std::byte[]> copy, std::size_t bytes,
                            CallSite site, Caller caller, SendMode mode) {
  Lock lock(impl_->mutex);
  auto tried = SmallSends::AtOnce::not_tried;
  if (mode == SendMode::standard) tried = impl_->small_sends.send(context, to, tag, copy.get(), bytes);
  if (tried == SmallSends::AtOnce::has_left) return nullptr;
  Inside inside(impl_->progress, lock);
  Request* send = impl_->all_requests.new_send(context, to, tag, mode, site);
  send->data = copy.get();
  send->owned = std::move(copy);
  send->bytes = bytes;
  send->call_waits = caller == Caller::waits;
  impl_->sender.start(send, tried);
  return send;
}

std::size_t Engine::Completion::buffered_bytes(std::size_t overhead) {
  const Lock lock(impl_->mutex);
  return impl_->all_requests.counts().buffered_bytes + impl_->all_requests.counts().buffered_sends * overhead;
}

void Engine::Completion::wait_buffered() { wait_until_none(impl_->progress, impl_->all_requests.counts().buffered_sends); }

void Engine::Completion::wait_buffered(const Context& context) { wait_until_none(impl_->progress, context.buffered_sends); }

}  // namespace sluice
