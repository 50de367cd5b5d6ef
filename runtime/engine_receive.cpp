// The engine's calls that receive, and those that take what is complete.

#include <cstddef>
#include <span>

#include "runtime/engine/state.hpp"

namespace sluice {
namespace {

void post(Engine::State& state, Request& receive) {
  state.all_requests.enter(receive);
  if (!state.matcher.post(receive)) state.put_receiver.announce(receive);
}

}  // namespace

Outcome Engine::Completion::peek(const Request& request) { return outcome_of(request); }

const std::atomic<bool>& Engine::Completion::completion_of(const Request& request) { return request.complete; }

std::uint64_t Engine::Completion::completions() const { return state_->all_requests.completions(); }

bool Engine::is_complete(const Request& request) { return request.complete.load(std::memory_order_acquire); }

Outcome Engine::take(Request* request) {
  const Lock lock(state_->mutex);
  return state_->all_requests.take(request);
}

void Engine::Completion::give_back(Request* first, Request* last) {
  State& state = *state_;
  const Lock lock = state.job.concurrent_calls ? Lock(state.mutex) : Lock(state.mutex, std::defer_lock);
  state.all_requests.give_back(first, last);
}

Outcome Engine::receive(Context& context, Rank from, Tag tag, void* data, std::size_t capacity, CallSite site) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* receive = state_->all_requests.new_receive(context, from, tag, site);
  receive->data = static_cast<std::byte*>(data);
  receive->bytes = capacity;
  receive->call_waits = true;
  post(*state_, *receive);
  state_->wait_all(lock, {&receive, 1}, site);
  return state_->all_requests.take(receive);
}

Outcome Engine::receive(Context& context, Rank from, Tag tag, const UserBuffer& buffer, CallSite site) {
  if (buffer.is_contiguous()) return receive(context, from, tag, buffer.data(), buffer.bytes(), site);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* receive = state_->all_requests.new_receive(context, from, tag, site);
  receive->describe(buffer);
  receive->call_waits = true;
  post(*state_, *receive);
  state_->wait_all(lock, {&receive, 1}, site);
  return state_->all_requests.take(receive);
}

Request* Engine::start_receive(Context& context, Rank from, Tag tag, std::span<std::byte> buffer, CallSite site, Caller caller) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* receive = state_->all_requests.new_receive(context, from, tag, site);
  receive->data = buffer.data();
  receive->bytes = buffer.size();
  receive->call_waits = caller == Caller::waits;
  post(*state_, *receive);
  return receive;
}

Request* Engine::start_receive(Context& context, Rank from, Tag tag, const UserBuffer& buffer, CallSite site, Caller caller) {
  if (buffer.is_contiguous()) return start_receive(context, from, tag, std::span(buffer.data(), buffer.bytes()), site, caller);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* receive = state_->all_requests.new_receive(context, from, tag, site);
  receive->describe(buffer);
  receive->call_waits = caller == Caller::waits;
  post(*state_, *receive);
  return receive;
}

Request* Engine::start_receive(Message* message, const UserBuffer& buffer, CallSite site, Caller caller) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* receive = state_->all_requests.new_receive(*message->context, message->source, message->tag, site);
  receive->describe(buffer);
  receive->call_waits = caller == Caller::waits;
  state_->all_requests.enter(*receive);
  state_->matcher.consume(*receive, message);
  return receive;
}

void Engine::Completion::cancel(Request& request) {
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  if (request.kind == Request::Kind::receive && request.match_link.linked) state_->put_receiver.cancel(request);
}

void Engine::Completion::detach(Request* request) {
  const Lock lock(state_->mutex);
  state_->all_requests.detach(request);
}

}  // namespace sluice
