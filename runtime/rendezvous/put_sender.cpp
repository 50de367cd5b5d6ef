#include "runtime/rendezvous/put_sender.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/fatal.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t ns_per_us = 1000;

}  // namespace

const char* ready_fault(const ReadyToReceive& ready, std::uint64_t sent, std::size_t kept) {
  const bool wraps = ready.address + ready.capacity < ready.address;
  if (ready.capacity == 0 || wraps) return "announces memory that no address space has";
  if (ready.seen > sent) return "has seen more messages than were sent to it";
  return kept >= max_open_rtrs ? "announces more receives than a process may" : nullptr;
}

PutSender::PutSender(Host& host, const Parts& parts)
    : waits_for_receivers_(receiver_initiated(parts.job.config.rendezvous) && parts.job.config.rtr_wait != 0),
      parts_(parts),
      host_(host),
      receivers_(parts.numbers.size()) {
  parts.way.set_writer(*this);
}

void PutSender::transmit(Request& send) {
  const Peer peer = send.peer;
  Receiver& to = receivers_[index(peer)];
  if (to.send_queue.empty() && transmit_in_turn(send)) return note_kept(peer);
  if (send.queued_at == 0) send.queued_at = now_ns();
  if (trace::on()) [[unlikely]]
    trace::posted(send);
  if (std::find(waiting_queues_.begin(), waiting_queues_.end(), peer) == waiting_queues_.end()) waiting_queues_.push_back(peer);
  to.send_queue.push_back(&send);
  note_kept(peer);
}

/// False: it is first in its queue, as it waits for its receiver, or has begun to be written. The request may be gone otherwise.
bool PutSender::transmit_in_turn(Request& send) {
  Receiver& to = receivers_[index(send.peer)];
  const auto accepts = [&send](const OpenReceive& open) { return open.context == send.context->id() && open.tag == send.tag; };
  const auto found = std::find_if(to.open.begin(), to.open.end(), accepts);
  if (found != to.open.end()) {
    const OpenReceive receive = *found;
    to.open.erase(found);
    if (begin_put(send, receive)) return send.rdma->all_posted();
  } else if (waits_for_receiver(send)) {
    return false;
  }
  host_.send_in_turn(send);
  return true;
}

bool PutSender::may_be_written(const Request& send) const {
  return !is_eager(parts_.job, send) && !send.has_gaps() && !send.owned && parts_.way.adapter_for(send.peer);
}

/// PS1. False: it has to go another way, and will match that receive when it arrives.
bool PutSender::begin_put(Request& send, const OpenReceive& receive) {
  if (!may_be_written(send) || send.bytes > receive.capacity) return false;
  if (!parts_.way.register_buffer(send, send.bytes, *parts_.way.adapter_for(send.peer))) return false;
  send.remote_request = receive.request;
  send.offset = 0;
  send.limit = send.bytes;
  const bool covers_last = send.bytes == receive.capacity;
  const bool equal = covers_last && *send.rdma->local(send.bytes - 1) == receive.last_byte;
  parts_.statistics.last_bytes_equal += equal ? 1 : 0;
  send.tells_end = equal || !covers_last || !receive.polled;
  parts_.way.write_by(rdma_protocols::putnr(), send, receive.memory);  // put's sender does the same
  if (trace::on()) [[unlikely]]
    trace::put_began(send, receive.number);
  return true;
}

bool PutSender::waits_for_receiver(Request& send) {
  if (!waits_for_receivers_ || !may_be_written(send)) return false;
  Receiver& to = receivers_[index(send.peer)];
  if (!to.sends_rtrs) return false;
  if (send.queued_at == 0) send.queued_at = now_ns();
  if (!waited_enough(send)) return true;
  to.sends_rtrs = false;
  return false;
}

bool PutSender::waited_enough(const Request& send) const {
  return now_ns() - send.queued_at >= parts_.job.config.rtr_wait * ns_per_us;
}

void PutSender::advance_queue(Peer peer) {
  Receiver& to = receivers_[index(peer)];
  while (to.waits()) {
    Request* const first = to.send_queue.front();
    to.send_queue.pop_front();
    if (transmit_in_turn(*first)) continue;
    to.send_queue.push_front(first);
    return;
  }
}

/// Queues that are empty are forgotten.
bool PutSender::advance_lines() {
  bool moved = false;
  for (const Peer peer : waiting_queues_) {
    const Receiver& to = receivers_[index(peer)];
    if (!to.waits() || !waited_enough(*to.send_queue.front())) continue;
    advance_queue(peer);
    note_kept(peer);
    moved = true;
  }
  std::erase_if(waiting_queues_, [this](Peer peer) { return receivers_[index(peer)].send_queue.empty(); });
  return moved;
}

void PutSender::posted(Request& send) {
  const Peer peer = send.peer;
  Receiver& to = receivers_[index(peer)];
  if (to.send_queue.empty() || to.send_queue.front() != &send) return;
  to.send_queue.pop_front();
  for (const std::uint64_t subject : std::exchange(to.withdrawals, {})) send_withdrawn(peer, subject);
  advance_queue(peer);
  note_kept(peer);
}

/// The sender's part of rule 2.
void PutSender::on_ready_to_receive(Peer from, const WireHeader& header, const ReadyToReceive& ready) {
  Receiver& to = receivers_[index(from)];
  PeerNumbers& numbers = parts_.numbers[index(from)];
  parts_.matcher.context_for(from, header);
  if (const char* fault = ready_fault(ready, numbers.sent, to.open.size())) {
    fatal("message of rank %d (rtr) %s", static_cast<int>(from), fault);
  }
  ++numbers.rtrs;
  to.sends_rtrs = true;
  if (ready.seen != numbers.sent) return;
  to.open.push_back({.context = static_cast<ContextId>(header.subject),
                     .tag = header.tag,
                     .request = ready.receiver_request,
                     .memory = {ready.address, ready.key},
                     .capacity = ready.capacity,
                     .last_byte = std::byte{ready.last_byte},
                     .polled = ready.polled != 0,
                     .number = numbers.rtrs});
  advance_queue(from);
  note_kept(from);
}

void PutSender::send_withdrawn(Peer to, std::uint64_t subject) {
  parts_.outbox.send_control(to, MessageKind::withdrawn, subject);
  if (trace::on()) [[unlikely]]
    trace::control(trace::Kind::message_out, to, MessageKind::withdrawn, 0);
}

/// The answer comes behind what is written to those receives.
void PutSender::on_withdraw(Peer from, std::uint64_t subject) {
  Receiver& to = receivers_[index(from)];
  std::erase_if(to.open, [subject](const OpenReceive& open) { return subject == every_receive || open.request == subject; });
  if (subject == every_receive) to.sends_rtrs = false;
  if (to.is_writing()) {
    to.withdrawals.push_back(subject);
  } else {
    send_withdrawn(from, subject);
    advance_queue(from);
  }
  note_kept(from);
}

bool PutSender::needs_looks() const {
  return std::any_of(waiting_queues_.begin(), waiting_queues_.end(),
                     [this](Peer peer) { return receivers_[index(peer)].waits(); });
}

void PutSender::note_kept(Peer peer) {
  const Receiver& to = receivers_[index(peer)];
  parts_.numbers[index(peer)].keeps = !to.send_queue.empty() || !to.open.empty();
}

}  // namespace sluice
