#include "runtime/collective_call.hpp"

#include <utility>

#include "runtime/base/fatal.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {

CollectiveCall::CollectiveCall(const CollectiveCalls::Parts& parts, ScratchPool& memory, CollectiveOrder order,
                               const Start& start)
    : parts_(parts),
      channel_(start.channel),
      site_(start.site),
      waits_(start.waits),
      request_(parts.requests.new_collective(start.channel, start.site)),
      kept_(std::move(order.kept)),
      run_(std::move(order.schedule), std::move(order.buffers), order.reduction, start.tags, *this, memory,
           std::move(order.own_operation)) {
  request_->limit = order.bytes;
}

Request* CollectiveCall::receive(const Part& part) {
  Request* receive = parts_.requests.new_receive(channel_, part.peer, part.tag, site_);
  receive->describe(part.buffer);
  receive->call_waits = waits_;
  ++parts_.statistics.collective_receives;
  if (trace::on()) [[unlikely]]
    trace::part_begins(*receive, *request_);
  parts_.requests.enter(*receive);
  receive->sequence = request_->sequence;
  if (!parts_.matcher.post(*receive)) parts_.put_receiver.send_rtr(*receive);
  return receive;
}

Request* CollectiveCall::send(const Part& part) {
  Request* send = parts_.requests.new_send(channel_, part.peer, part.tag, SendMode::standard, site_);
  send->describe(part.buffer);
  send->call_waits = waits_;
  send->sequence = request_->sequence;
  ++parts_.statistics.collective_sends;
  parts_.statistics.collective_bytes_sent += send->bytes;
  if (trace::on()) [[unlikely]]
    trace::part_begins(*send, *request_);
  parts_.sender.start(send);
  return send;
}

bool CollectiveCall::is_over(const Request& request) const {
  return request.complete.load(std::memory_order_relaxed) || (request.is_send() && request.has_left());
}

std::optional<std::size_t> CollectiveCall::take(Request* request) {
  const bool is_known = !request->is_send() && request->complete.load(std::memory_order_relaxed) && !request->cancelled;
  const Outcome outcome = parts_.requests.take(request);
  return is_known ? std::optional(outcome.bytes) : std::nullopt;
}

void CollectiveCall::work(Lock& lock) {
  const NodeCopies::Turn turn(parts_.copies, *request_);
  lock.unlock();
  run_.work(parts_.job.chunk_bytes);
  lock.lock();
}

/// A message that no receive waits for has come before its receive, mostly, or is of a later call.
void CollectiveCall::look_for_odd_one() {
  const std::span<Request* const> open = run_.open();
  for (std::size_t i = 0; i < open.size() && !has_failed_; ++i) {
    const Request* const receive = open[i];
    if (!receive || receive->is_send() || receive->matched) continue;
    if (channel_.has_unexpected(receive->rank, [this](Tag tag) { return run_.is_odd(tag); })) fail(receive->rank);
  }
}

/// A message that comes later is looked at by Matcher::keep.
void CollectiveCall::check_released() const {
  for (const Request* const receive : run_.open()) {
    if (!receive || receive->is_send() || !receive->released || receive->matched) continue;
    if (channel_.has_unexpected(receive->rank, [this](Tag tag) { return run_.is_odd(tag); })) {
      fatal("%s, already released: rank %d of the communicator is in another collective call, or in one of another length",
            site_.function(), static_cast<int>(receive->rank));
    }
  }
}

/// What is under way ends by itself. Receives whose messages will not come are taken back.
void CollectiveCall::fail(Rank odd_one) {
  has_failed_ = true;
  run_.note_odd_one(odd_one);
  for (Request* const request : run_.open()) {
    if (request && !request->is_send() && request->match_link.linked) parts_.put_receiver.cancel(*request);
  }
  run_.finish();
}

}  // namespace sluice
