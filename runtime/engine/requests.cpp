#include "runtime/engine/requests.hpp"

namespace sluice {

Request* Requests::new_send(Context& context, Rank to, Tag tag, SendMode mode, CallSite site) {
  Request* send = begin(Request::Kind::send, context, site);
  send->mode = mode;
  send->sequence = 0;
  send->rank = to;
  send->peer = context.peer(to);
  send->tag = tag;
  ++counts_.pending_sends;
  if (send->peer == self_) ++counts_.sends_to_self;
  return send;
}

void Requests::note_buffered(const Request& send) {
  ++counts_.buffered_sends;
  ++send.context->buffered_sends;
  counts_.buffered_bytes += send.bytes;
}

void Requests::count_end_of_receive(const Request& receive) {
  ++statistics_.receives;
  statistics_.bytes_received += receive.limit;
  --counts_.open_receives;
  if (receive.counted_large) --counts_.large_receives;
  const bool was_chosen = receive.way != Request::Way::undecided && receive.way != Request::Way::rdma;
  if (was_chosen) counts_.exchanges = receive.sends_too || receive.sends_before != counts_.large_sends;
}

void Requests::count_end_of_send(const Request& send) {
  --counts_.pending_sends;
  if (send.peer == self_) --counts_.sends_to_self;
  if (send.has_left()) --counts_.left_sends;
  counts_.bounced_bytes -= send.bounced;
  if (send.detached && send.mode == SendMode::buffered) {
    --counts_.buffered_sends;
    --send.context->buffered_sends;
    counts_.buffered_bytes -= send.bytes;
  }
}

void Requests::finish(Request* request, std::uint64_t at_ns) {
  if (holds_something_elsewhere(*request)) host_.end_elsewhere(*request);
  if (request->is_send()) {
    count_end_of_send(*request);
  } else if (request->kind == Request::Kind::collective) [[unlikely]] {
    --open_collectives_;
  } else {
    count_end_of_receive(*request);
  }
  if (trace::on() && !request->detached_copy) [[unlikely]]
    trace::completed(*request, at_ns);
  if (Context* context = request->context; --context->operations == 0 && context->retired) host_.drop(context);
  const bool is_wanted = !request->detached;
  if (is_wanted) {
    request->complete.store(true, std::memory_order_release);
  } else {
    pool_.give_back(request);
  }
  completions_.store(completions_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (is_wanted) sleepers_.wake();
}

}  // namespace sluice
