// Sends to receives that were announced, and sends that wait for that (putnr, put): the sender's side of receiver_initiated.hpp.

#include <algorithm>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"
#include "runtime/rendezvous/rdma_protocol.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t ns_per_us = 1000;

}  // namespace

/// Messages of one process to one other leave in the order of the calls.
void Engine::State::transmit(Request* send) {
  PeerMatching& to = matching[static_cast<std::size_t>(send->peer)];
  if (to.line.empty() && transmit_in_turn(send)) return;
  if (send->queued_at == 0) send->queued_at = now_ns();
  if (trace::on()) [[unlikely]]
    trace::posted(*send);
  if (std::find(waiting_lines.begin(), waiting_lines.end(), send->peer) == waiting_lines.end()) {
    waiting_lines.push_back(send->peer);
  }
  to.line.push_back(send);
}

/// False: it is first in line, as it waits for its receiver, or has begun to be written. The request may be gone otherwise.
bool Engine::State::transmit_in_turn(Request* send) {
  PeerMatching& to = matching[static_cast<std::size_t>(send->peer)];
  const auto accepts = [send](const OpenReceive& open) { return open.context == send->context->id() && open.tag == send->tag; };
  const auto found = std::find_if(to.open.begin(), to.open.end(), accepts);
  if (found != to.open.end()) {
    const OpenReceive receive = *found;
    to.open.erase(found);
    if (begin_put(*send, receive)) return send->rdma->all_posted();
  } else if (waits_for_receiver(*send)) {
    return false;
  }
  send_in_turn(send);
  return true;
}

/// PS1. False: it has to go another way, and will match that receive when it arrives.
bool Engine::State::begin_put(Request& send, const OpenReceive& receive) {
  Rdma* const adapter = rdma_for(send.peer);
  if (!adapter || is_eager(send) || send.has_gaps() || send.owned || send.bytes > receive.capacity) return false;
  if (!register_buffer(send, send.bytes, *adapter)) return false;
  send.remote_request = receive.request;
  send.offset = 0;
  send.limit = send.bytes;
  const bool covers_last = send.bytes == receive.capacity;
  const bool equal = covers_last && *send.rdma->local(send.bytes - 1) == receive.last_byte;
  statistics.last_bytes_equal += equal ? 1 : 0;
  send.tells_end = equal || !covers_last || !receive.polled;
  rdma_way.write_by(rdma_protocols::putnr(), send, receive.memory);  // put's sender does the same
  if (trace::on()) [[unlikely]]
    trace::put_began(send, receive.number);
  return true;
}

bool Engine::State::waits_for_receiver(Request& send) {
  if (!receiver_initiated(config.rendezvous) || is_eager(send) || send.has_gaps() || send.owned || !rdma_for(send.peer)) {
    return false;
  }
  PeerMatching& to = matching[static_cast<std::size_t>(send.peer)];
  if (!to.announces || config.rtr_wait == 0) return false;
  if (send.queued_at == 0) send.queued_at = now_ns();
  if (!waited_enough(send)) return true;
  to.announces = false;
  return false;
}

bool Engine::State::waited_enough(const Request& send) const { return now_ns() - send.queued_at >= config.rtr_wait * ns_per_us; }

void Engine::State::advance_line(Peer peer) {
  std::list<Request*>& line = matching[static_cast<std::size_t>(peer)].line;
  while (!line.empty() && line.front()->way != Request::Way::rdma) {
    Request* const first = line.front();
    line.pop_front();
    if (transmit_in_turn(first)) continue;
    line.push_front(first);
    return;
  }
}

/// What has waited long enough goes; lines that are empty are forgotten.
bool Engine::State::advance_lines() {
  bool moved = false;
  for (const Peer peer : waiting_lines) {
    const std::list<Request*>& line = matching[static_cast<std::size_t>(peer)].line;
    if (line.empty() || line.front()->way == Request::Way::rdma || !waited_enough(*line.front())) continue;
    advance_line(peer);
    moved = true;
  }
  std::erase_if(waiting_lines, [this](Peer peer) { return matching[static_cast<std::size_t>(peer)].line.empty(); });
  return moved;
}

void Engine::State::all_of_put_posted(Request& send) {
  PeerMatching& to = matching[static_cast<std::size_t>(send.peer)];
  if (to.line.empty() || to.line.front() != &send) return;
  to.line.pop_front();
  for (const std::uint64_t subject : std::exchange(to.withdrawals, {})) {
    send_withdrawn(send.peer, subject);
  }
  advance_line(send.peer);
}

/// The sender's part of rule 2.
void Engine::State::on_ready_to_receive(Peer from, const MessageHeader& header, const ReadyToReceive& ready) {
  PeerMatching& to = matching[static_cast<std::size_t>(from)];
  context_for(from, header);
  if (const char* fault = ready_fault(ready, to)) fatal("message of rank %d (rtr) %s", static_cast<int>(from), fault);
  ++to.rtrs;
  to.announces = true;
  if (ready.seen != to.sent) return;
  to.open.push_back({.context = static_cast<ContextId>(header.subject),
                     .tag = header.tag,
                     .request = ready.receiver_request,
                     .memory = {ready.address, ready.key},
                     .capacity = ready.capacity,
                     .last_byte = std::byte{ready.last_byte},
                     .polled = ready.polled != 0,
                     .number = to.rtrs});
  advance_line(from);
}

void Engine::State::send_withdrawn(Peer to, std::uint64_t subject) {
  send_control(to, MessageKind::withdrawn, subject);
  if (trace::on()) [[unlikely]]
    trace::control(trace::Kind::message_out, to, MessageKind::withdrawn, 0);
}

/// The answer comes behind what is written to those receives.
void Engine::State::on_withdraw(Peer from, std::uint64_t subject) {
  PeerMatching& to = matching[static_cast<std::size_t>(from)];
  std::erase_if(to.open, [subject](const OpenReceive& open) { return subject == every_receive || open.request == subject; });
  if (subject == every_receive) to.announces = false;
  if (!to.line.empty() && to.line.front()->way == Request::Way::rdma) {
    to.withdrawals.push_back(subject);
  } else {
    send_withdrawn(from, subject);
    advance_line(from);
  }
}

/// Somebody has to look now and then, as nobody will be told: a send that waits in line has a time to wait.
bool Engine::State::needs_looks() const {
  const auto waits = [this](Peer peer) {
    const std::list<Request*>& line = matching[static_cast<std::size_t>(peer)].line;
    return !line.empty() && line.front()->way != Request::Way::rdma;
  };
  return std::any_of(waiting_lines.begin(), waiting_lines.end(), waits);
}

}  // namespace sluice
