#include "runtime/rendezvous/put_receiver.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/base/fatal.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

constexpr std::size_t no_receive = ~std::size_t{0};

const RdmaProtocol& protocol_of(Rendezvous rendezvous) {
  return rendezvous == Rendezvous::putnr ? rdma_protocols::putnr() : rdma_protocols::put();
}

/// All with putnr and put, of which the sender's limit decides. Unasked only those that no process sends at once.
std::size_t least_announced(const Config& config) {
  if (receiver_initiated(config.rendezvous)) return 0;
  return over_rdma(config.rendezvous) == Rendezvous::automatic ? config.eager_limit : no_receive;
}

/// Number `a` is later than `b`, of numbers that wrap around.
bool is_later(std::uint16_t a, std::uint16_t b) { return static_cast<std::int16_t>(a - b) > 0; }

void restore_last_byte(const Request& receive) {
  copy_to_user(receive.rdma->local(receive.bytes - 1), &receive.last_byte_before, 1);
}

/// What the adapter has put there; the loads of what lies before it may not be moved in front of this one. A last page that is
/// not looked at through its alias may have come under guard, for a receive that shares it: then nothing is seen yet.
bool last_byte_changed(const Request& receive) {
  std::byte* const registered = receive.rdma->local(receive.bytes - 1);
  std::byte* const last = receive.rdma->in_block ? registered : unguarded_address(registered, 1);
  return last && std::atomic_ref(*last).load(std::memory_order_acquire) != receive.last_byte_preset;
}

}  // namespace

PutReceiver::PutReceiver(const Parts& parts)
    : is_asked_(receiver_initiated(parts.job.config.rendezvous)),
      announced_above_(parts.job.transport ? least_announced(parts.job.config) : no_receive),
      parts_(parts),
      senders_(parts.numbers.size()) {}

bool PutReceiver::may_send_rtr(const Request& receive) const {
  if (receive.rank == any_source || receive.tag == any_tag) return false;
  if (receive.has_gaps() || parts_.causality.unmatched() != 0 || open_rtr_count_ == max_open_rtrs) return false;
  if (receive.rtrs_sent == max_rtrs_each) return false;
  const Peer sender = receive.context->peer(receive.rank);
  if (senders_[index(sender)].withdrawing || shares_memory(receive)) return false;
  return parts_.way.adapter_for(sender) && receive.bytes > parts_.job.eager_limit_of(sender) &&
         !receive.context->may_be_preceded(receive);
}

/// Unasked: the end is seen here, the message is short enough to be moved at once, and its site is known to wait for such.
bool PutReceiver::is_worth_rtr(const Request& receive) {
  const Peer sender = receive.context->peer(receive.rank);
  return parts_.way.adapter_for(sender)->places_in_order() && !parts_.way.prefers_chunks(receive.bytes) &&
         !parts_.way.reads().on() && parts_.way.parts().unasked.announces(receive.site, sender);
}

/// MPI does not allow it, but programs that measure bandwidth do it. One message's last byte would end the receives of others, to
/// which adapters still write.
bool PutReceiver::shares_memory(const Request& receive) const {
  const ByteRange range = receive.range();
  for (const Request* other = open_rtrs_.first(); other; other = List::next(other)) {
    if (range.overlaps(other->range())) return true;
  }
  return false;
}

void PutReceiver::begin(Request& receive) {
  const Peer sender = receive.context->peer(receive.rank);
  if (!parts_.way.register_buffer(receive, receive.bytes, *parts_.way.adapter_for(sender))) return;
  receive.peer = sender;
  receive.rtr_open = true;
  ++receive.rtrs_sent;
  open_rtrs_.push_back(&receive);
  ++open_rtr_count_;
  ++parts_.statistics.rtrs_sent;
  receive.rdma->protocol = &protocol_of(parts_.job.config.rendezvous);
  receive.rdma->protocol->begin(parts_.way, receive);
  send_ready_to_receive(receive);
}

void PutReceiver::send_ready_to_receive(Request& receive) {
  receive.rtr_number = ++senders_[index(receive.peer)].rtrs_sent;
  const RemoteMemory here = receive.rdma->memory.remote();
  const ReadyToReceive ready{.receiver_request = static_cast<std::uint64_t>(receive.id),
                             .address = here.address,
                             .capacity = receive.bytes,
                             .seen = parts_.numbers[index(receive.peer)].arrived,
                             .key = here.key,
                             .last_byte = std::to_integer<std::uint8_t>(receive.last_byte_preset),
                             .polled = receive.rdma->adapter->places_in_order() ? std::uint8_t{1} : std::uint8_t{0}};
  WireHeader header;
  header.kind = MessageKind::rtr;
  header.subject = static_cast<std::uint64_t>(receive.context->id());
  header.source = receive.context->self();
  header.tag = receive.tag;
  parts_.outbox.send_or_queue(receive.peer, header, std::as_bytes(std::span(&ready, 1)));
  if (trace::on()) [[unlikely]]
    trace::message_left(receive, header.kind, sizeof ready, receive.rtr_number);
}

/// Unasked once is enough: the message that crossed is most likely the receive's.
void PutReceiver::resend_all_rtrs() {
  while (Request* receive = to_resend_.pop_front()) {
    if (is_asked_) send_rtr(*receive);
  }
}

void PutReceiver::remove(Request& receive) {
  open_rtrs_.remove(&receive);
  --open_rtr_count_;
  receive.rtr_open = false;
}

/// The sender will not write to it (any more): MPI changes nothing of a buffer beyond the message.
void PutReceiver::close_rtr(Request& receive) {
  remove(receive);
  parts_.way.parts().unasked.sites().note_announced(receive.site, false);
  restore_last_byte(receive);
  parts_.transfers.end(receive);
}

void PutReceiver::leave_list(Request& receive) {
  if (receive.rtr_open) {
    close_rtr(receive);
  } else {
    to_resend_.remove(&receive);
  }
}

/// PR2: the message is in place. `seen`: by its last byte.
void PutReceiver::conclude(Request& receive, std::size_t bytes, bool seen) {
  ++parts_.statistics.rdma[static_cast<std::size_t>(receive.rdma->protocol->kind())];
  parts_.statistics.last_bytes_seen += seen ? 1 : 0;
  remove(receive);
  parts_.way.parts().unasked.sites().note_announced(receive.site, true);
  if (bytes < receive.bytes) restore_last_byte(receive);
  receive.context->unpost(&receive);
  receive.matched = true;
  receive.message_bytes = receive.limit = receive.stop = bytes;
  if (trace::on()) [[unlikely]] {
    trace::matched_put(receive, receive.rtr_number);
    const bool is_put = receive.rdma->protocol->kind() == Rendezvous::put;
    parts_.matches.chosen(receive, is_put ? trace::Protocol::put : trace::Protocol::putnr, trace::Reason::posted_ahead);
  }
  receive.offset = bytes;
  parts_.causality.matched(receive);
  parts_.requests.finish(&receive);
}

bool PutReceiver::poll() {
  bool moved = false;
  Request* next = nullptr;
  for (Request* receive = open_rtrs_.first(); receive; receive = next) {
    next = List::next(receive);
    if (!receive->rdma->adapter->places_in_order() || !last_byte_changed(*receive)) continue;
    conclude(*receive, receive->bytes, true);
    moved = true;
  }
  return moved;
}

void PutReceiver::on_put_end(Request& receive, const PutEnd& end) {
  if (end.message_bytes > receive.bytes) {
    fatal("rank %d says that it has written %zu bytes to a receive of %zu", static_cast<int>(receive.peer),
          static_cast<std::size_t>(end.message_bytes), receive.bytes);
  }
  conclude(receive, end.message_bytes, false);
}

/// Of the receives announced to that peer, those that will not be written to any more. How many.
template <class Which>
std::size_t PutReceiver::take_back(Peer from, Which which) {
  std::size_t count = 0;
  Request* next = nullptr;
  for (Request* receive = open_rtrs_.first(); receive; receive = next) {
    next = List::next(receive);
    if (receive->peer != from || !which(*receive)) continue;
    ++count;
    close_rtr(*receive);
    if (receive->cancel_wanted) {
      end_cancelled(*receive);
    } else {
      to_resend_.push_back(receive);
    }
  }
  return count;
}

/// Receives of which the sender of a message did not know yet when it sent it will not be written to for that announcement
/// (rules 2 and 3).
void PutReceiver::take_back_crossed(Peer from, std::uint16_t known) {
  poll();
  parts_.statistics.rtrs_crossed +=
      take_back(from, [known](const Request& receive) { return is_later(receive.rtr_number, known); });
}

void PutReceiver::end_cancelled(Request& receive) {
  receive.context->unpost(&receive);
  receive.cancelled = true;
  parts_.requests.finish(&receive);
}

void PutReceiver::cancel(Request& receive) {
  if (!receive.rtr_open) return end_cancelled(receive);
  if (std::exchange(receive.cancel_wanted, true)) return;
  ++withdrawals_;
  parts_.outbox.send_control(receive.peer, MessageKind::withdraw, static_cast<std::uint64_t>(receive.id));
  if (trace::on()) [[unlikely]]
    trace::message_left(receive, MessageKind::withdraw, 0);
}

void PutReceiver::withdraw(Request& receive) {
  receive.rtrs_sent = max_rtrs_each;
  if (std::exchange(senders_[index(receive.peer)].withdrawing, true)) return;
  ++withdrawals_;
  parts_.outbox.send_control(receive.peer, MessageKind::withdraw, every_receive);
  if (trace::on()) [[unlikely]]
    trace::message_left(receive, MessageKind::withdraw, 0);
}

/// A receive may be over: then its message came before this, or was on the way when the sender heard of the receive.
void PutReceiver::on_withdrawn(Peer from, std::uint64_t subject) {
  if (withdrawals_ == 0) fatal("rank %d withdraws what it was not asked to", static_cast<int>(from));
  --withdrawals_;
  poll();
  if (subject == every_receive) {
    senders_[index(from)].withdrawing = false;
    take_back(from, [](const Request&) { return true; });
    return;
  }
  take_back(from, [subject](const Request& receive) { return static_cast<std::uint64_t>(receive.id) == subject; });
}

}  // namespace sluice
