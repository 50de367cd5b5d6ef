// The engine's calls that receive, and those that take what is complete.

#include <cstddef>
#include <span>

#include "runtime/engine_impl.hpp"

namespace sluice {
namespace {

void post(Engine::Impl& impl, Request& receive) {
  impl.all_requests.enter(receive);
  if (!impl.matcher.post(receive)) impl.put_receiver.send_rtr(receive);
}

}  // namespace

Outcome Engine::Completion::peek(const Request& request) { return outcome_of(request); }

const std::atomic<bool>& Engine::Completion::completion_of(const Request& request) { return request.complete; }

std::uint64_t Engine::Completion::completions() const { return impl_->all_requests.completions(); }

bool Engine::is_complete(const Request& request) { return request.complete.load(std::memory_order_acquire); }

Outcome Engine::take(Request* request) {
  const Lock lock(impl_->mutex);
  return impl_->all_requests.take(request);
}

void Engine::Completion::give_back(Request* first, Request* last) {
  Impl& impl = *impl_;
  const Lock lock = impl.job.concurrent_calls ? Lock(impl.mutex) : Lock(impl.mutex, std::defer_lock);
  impl.all_requests.give_back(first, last);
}

Outcome Engine::receive(Context& context, Rank from, Tag tag, void* data, std::size_t capacity, CallSite site) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Request* receive = impl_->all_requests.new_receive(context, from, tag, site);
  receive->data = static_cast<std::byte*>(data);
  receive->bytes = capacity;
  receive->call_waits = true;
  post(*impl_, *receive);
  impl_->request_waits.all(lock, {&receive, 1}, site);
  return impl_->all_requests.take(receive);
}

Outcome Engine::receive(Context& context, Rank from, Tag tag, const UserBuffer& buffer, CallSite site) {
  if (buffer.is_contiguous()) return receive(context, from, tag, buffer.data(), buffer.bytes(), site);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Request* receive = impl_->all_requests.new_receive(context, from, tag, site);
  receive->describe(buffer);
  receive->call_waits = true;
  post(*impl_, *receive);
  impl_->request_waits.all(lock, {&receive, 1}, site);
  return impl_->all_requests.take(receive);
}

Request* Engine::start_receive(Context& context, Rank from, Tag tag, std::span<std::byte> buffer, CallSite site, Caller caller) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Request* receive = impl_->all_requests.new_receive(context, from, tag, site);
  receive->data = buffer.data();
  receive->bytes = buffer.size();
  receive->call_waits = caller == Caller::waits;
  post(*impl_, *receive);
  return receive;
}

Request* Engine::start_receive(Context& context, Rank from, Tag tag, const UserBuffer& buffer, CallSite site, Caller caller) {
  if (buffer.is_contiguous()) return start_receive(context, from, tag, std::span(buffer.data(), buffer.bytes()), site, caller);
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Request* receive = impl_->all_requests.new_receive(context, from, tag, site);
  receive->describe(buffer);
  receive->call_waits = caller == Caller::waits;
  post(*impl_, *receive);
  return receive;
}

Request* Engine::start_receive(Unexpected* message, const UserBuffer& buffer, CallSite site, Caller caller) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  Request* receive = impl_->all_requests.new_receive(*message->context, message->source, message->tag, site);
  receive->describe(buffer);
  receive->call_waits = caller == Caller::waits;
  impl_->all_requests.enter(*receive);
  impl_->matcher.consume(*receive, message);
  return receive;
}

void Engine::Completion::cancel(Request& request) {
  Lock lock(impl_->mutex);
  Inside inside(impl_->progress, lock);
  if (request.kind == Request::Kind::receive && request.match_link.linked) impl_->put_receiver.cancel(request);
}

void Engine::Completion::detach(Request* request) {
  const Lock lock(impl_->mutex);
  impl_->all_requests.detach(request);
}

}  // namespace sluice
