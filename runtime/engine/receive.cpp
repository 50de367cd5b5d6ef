// Receiving: posting and completion.

#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/waiting.hpp"

namespace sluice {

Request* Engine::State::new_receive(Context& context, Rank from, Tag tag, CallSite site) {
  Request* receive = pool.take();
  receive->kind = Request::Kind::receive;
  receive->context = &context;
  receive->rank = from;
  receive->tag = tag;
  receive->site = site;
  if (trace::on()) [[unlikely]]
    trace::named(*receive, ++traced_operations);
  ++context.operations;
  ++open_receives;
  return receive;
}

void Engine::State::post(Request* receive) {
  receive->sequence = ++operations;
  if (trace::on()) [[unlikely]]
    trace::posted(*receive);
  if (receive->bytes > job.eager_limit) {
    receive->counted_large = true;
    ++large_receives;
  }
  if (Message* message = receive->context->find_unexpected(receive->rank, receive->tag)) {
    receive->context->remove_unexpected(message);
    consume(receive, message);
    return;
  }
  receive->context->post(receive);
  announce_receive(*receive);
}

void Engine::State::finish(Request* request, std::uint64_t at_ns) {
  leave_announcements(*request);
  if (request->rdma) end_rdma(*request);
  if (request->kind == Request::Kind::receive) {
    ++statistics.receives;
    statistics.bytes_received += request->limit;
    --open_receives;
    if (request->counted_large) --large_receives;
    if (request->counted_shared) --shared_receives;
    const bool was_chosen = request->way != Request::Way::undecided && request->way != Request::Way::rdma;
    if (was_chosen) exchanges = request->sends_too || request->sends_before != large_sends;
    if (request->way != Request::Way::undecided) end_expected_copies(*request);
    if (request->progress_slot != Transport::no_slot) job.transport->close_progress_slot(request->progress_slot);
    request->progress_slot = Transport::no_slot;
    if (request->released) end_release(*request);
  } else {
    if (request->released) end_release(*request);
    --pending_sends;
    if (request->peer == job.self) --sends_to_self;
    if (request->has_left()) --left_sends;
    aside_bytes -= request->aside;
    if (request->detached && request->mode == SendMode::buffered) {
      --buffered_sends;
      --request->context->buffered_sends;
      buffered_bytes -= request->bytes;
    }
  }
  if (trace::on() && !request->shadow) [[unlikely]]
    trace::completed(*request, at_ns);
  if (Context* context = request->context; --context->operations == 0 && context->retired) drop(context);
  const bool is_wanted = !request->detached;
  if (is_wanted) {
    request->complete.store(true, std::memory_order_release);
  } else {
    pool.give_back(request);
  }
  epoch.store(epoch.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (!is_wanted) return;
  sleepers.wake();
}

void Engine::State::drop(Context* context) {
  if (last_context == context) last_context = nullptr;
  while (Message* message = context->find_unexpected(any_source, any_tag)) {
    context->remove_unexpected(message);
    delete message;
  }
  contexts.erase(static_cast<std::uint64_t>(context->id()));
}

Outcome Engine::State::take(Request* request) {
  const Outcome outcome = Engine::peek(*request);
  if (request->complete.load(std::memory_order_relaxed)) {
    pool.give_back(request);
  } else {
    request->detached = true;  // released: goes on behind the guard
  }
  return outcome;
}

// --- the engine's calls ------------------------------------------------------------------------------------------------

Outcome Engine::peek(const Request& request) { return outcome_of(request); }

const std::atomic<bool>& Engine::completion_of(const Request& request) { return request.complete; }

std::uint64_t Engine::completions() const { return state_->epoch.load(std::memory_order_acquire); }

bool Engine::is_complete(const Request& request) { return request.complete.load(std::memory_order_acquire); }

Outcome Engine::take(Request* request) {
  const Lock lock(state_->mutex);
  return state_->take(request);
}

void Engine::give_back(Request* first, Request* last) {
  State& state = *state_;
  const Lock lock = state.job.concurrent_calls ? Lock(state.mutex) : Lock(state.mutex, std::defer_lock);
  state.pool.give_back(first, last);
}

Outcome Engine::receive(Context& context, Rank from, Tag tag, void* data, std::size_t capacity, CallSite site) {
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Request* receive = state_->new_receive(context, from, tag, site);
  receive->data = static_cast<std::byte*>(data);
  receive->bytes = capacity;
  receive->call_waits = true;
  state_->post(receive);
  state_->wait_all(lock, {&receive, 1}, site);
  return state_->take(receive);
}

Outcome Engine::receive(Context& context, Rank from, Tag tag, const UserBuffer& buffer, CallSite site) {
  if (buffer.is_contiguous()) return receive(context, from, tag, buffer.data(), buffer.bytes(), site);
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Request* receive = state_->new_receive(context, from, tag, site);
  receive->describe(buffer);
  receive->call_waits = true;
  state_->post(receive);
  state_->wait_all(lock, {&receive, 1}, site);
  return state_->take(receive);
}

Request* Engine::start_receive(Context& context, Rank from, Tag tag, std::span<std::byte> buffer, CallSite site, Caller caller) {
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Request* receive = state_->new_receive(context, from, tag, site);
  receive->data = buffer.data();
  receive->bytes = buffer.size();
  receive->call_waits = caller == Caller::waits;
  state_->post(receive);
  return receive;
}

Request* Engine::start_receive(Context& context, Rank from, Tag tag, const UserBuffer& buffer, CallSite site, Caller caller) {
  if (buffer.is_contiguous()) return start_receive(context, from, tag, std::span(buffer.data(), buffer.bytes()), site, caller);
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Request* receive = state_->new_receive(context, from, tag, site);
  receive->describe(buffer);
  receive->call_waits = caller == Caller::waits;
  state_->post(receive);
  return receive;
}

Request* Engine::start_receive(Message* message, const UserBuffer& buffer, CallSite site, Caller caller) {
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  Request* receive = state_->new_receive(*message->context, message->source, message->tag, site);
  receive->describe(buffer);
  receive->call_waits = caller == Caller::waits;
  receive->sequence = ++state_->operations;
  if (trace::on()) [[unlikely]]
    trace::posted(*receive);
  if (receive->bytes > state_->job.eager_limit) {
    receive->counted_large = true;
    ++state_->large_receives;
  }
  state_->consume(receive, message);
  return receive;
}

void Engine::cancel(Request& request) {
  Lock lock(state_->mutex);
  Inside inside(*state_, lock);
  if (request.kind == Request::Kind::receive && request.match_link.linked) state_->cancel(request);
}

void Engine::detach(Request* request) {
  const Lock lock(state_->mutex);
  if (request->complete.load(std::memory_order_relaxed)) {
    state_->pool.give_back(request);
  } else {
    request->detached = true;
  }
}

}  // namespace sluice
