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

/// A message of standard mode, unless its buffer is frequent: then an adapter is to gather it.
SmallSends::AtOnce Engine::Impl::send_at_once(Context& context, Rank to, Tag tag, std::span<const std::byte> data, Caller caller,
                                              FrequentSender::Counted& counted) {
  const auto call = caller == Caller::waits ? FrequentSender::Call::waits : FrequentSender::Call::goes_on;
  counted = frequent_sender.count(context.peer(to), data.data(), data.size(), call);
  if (counted.frequent != 0) return SmallSends::AtOnce::not_tried;
  if (counted.timed_from == 0) return small_sends.send(context, to, tag, data.data(), data.size());
  std::uint64_t copy_ns = 0;
  const auto tried = small_sends.send(context, to, tag, data.data(), data.size(), &copy_ns);
  if (tried == SmallSends::AtOnce::has_left) frequent_sender.note_copied(counted, data.size(), copy_ns);
  return tried;
}

void Engine::send(Context& context, Rank to, Tag tag, const void* data, std::size_t bytes, SendMode mode, CallSite site) {
  Lock lock(impl_->mutex);
  const auto* start = static_cast<const std::byte*>(data);
  FrequentSender::Counted counted;
  auto tried = SmallSends::AtOnce::not_tried;
  if (mode == SendMode::standard) tried = impl_->send_at_once(context, to, tag, {start, bytes}, Caller::waits, counted);
  if (tried == SmallSends::AtOnce::has_left) return;
  Inside inside(impl_->progress, lock);
  Request* send = impl_->all_requests.new_send(context, to, tag, mode, site);
  send->data = const_cast<std::byte*>(start);
  send->bytes = bytes;
  send->call_waits = true;
  send->frequent = counted.frequent;
  impl_->sender.start(send, tried);
  const bool is_timed = counted.timed_from != 0 && counted.frequent != 0 && send->rdma;
  impl_->request_waits.all(lock, {&send, 1}, site);
  impl_->all_requests.take(send);
  if (is_timed) [[unlikely]]
    impl_->frequent_sender.note_gathered(counted, FrequentSender::Call::waits);
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
  FrequentSender::Counted counted;
  auto tried = SmallSends::AtOnce::not_tried;
  if (mode == SendMode::standard) tried = impl_->send_at_once(context, to, tag, data, caller, counted);
  if (tried == SmallSends::AtOnce::has_left) return nullptr;
  Inside inside(impl_->progress, lock);
  Request* send = impl_->all_requests.new_send(context, to, tag, mode, site);
  send->data = const_cast<std::byte*>(data.data());
  send->bytes = data.size();
  send->call_waits = caller == Caller::waits;
  send->frequent = counted.frequent;
  impl_->sender.start(send, tried);
  if (counted.timed_from != 0 && counted.frequent != 0 && send->rdma && caller == Caller::goes_on) [[unlikely]]
    impl_->frequent_sender.note_gathered(counted, FrequentSender::Call::goes_on);
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
