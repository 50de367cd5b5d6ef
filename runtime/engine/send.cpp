// Sending: eager messages, announcements of large ones, and what waits for room.
//
// Order: a message to a peer goes out directly only when nothing is queued for that peer and nothing is held back; so messages of
// one process to one peer enter the transport in the order of the calls (MPI's non-overtaking rule).

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/base/clock.hpp"
#include "runtime/engine/eager.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// Below, one more copy costs less than a system call with several pieces.
constexpr std::size_t least_direct_bytes = 4096;

/// A detached request with the message copied aside, for buffered mode and for small messages that are held back.
Request* copy_aside(Engine::State& state, Request& send) {
  Request* shadow = state.all_requests.new_send(*send.context, send.rank, send.tag, SendMode::standard, send.site);
  shadow->owned = std::make_unique_for_overwrite<std::byte[]>(send.bytes);
  pack(send, {shadow->owned.get(), send.bytes});
  shadow->data = shadow->owned.get();
  shadow->bytes = send.bytes;
  shadow->detached = true;
  shadow->traced = send.traced;
  shadow->traced_site = send.traced_site;
  shadow->told = shadow->shadow = true;
  return shadow;
}

}  // namespace

bool Engine::State::is_for_one_copy(Peer to, const std::byte* data, std::size_t bytes) {
  if (bytes < job.single_copy_bytes || to == job.self || !job.transport->can_read_blocks(to)) return false;
  const std::byte* source = unguarded_address(const_cast<std::byte*>(data), bytes);
  return source && unchanged_sends.sends_again(data, {source, bytes});
}

/// Who asks whether it is for one copy is told of its last sending once: asked again, it would be the same as it was just now.
Engine::State::AtOnce Engine::State::send_at_once(const Context& context, Rank to, Tag tag, const std::byte* data,
                                                  std::size_t bytes) {
  const Peer peer = context.peer(to);
  const auto index = static_cast<std::size_t>(peer);
  if (bytes > job.eager_limits[index] || causality.unmatched() != 0 || !outbox.is_free(peer)) return AtOnce::not_tried;
  if (!matching[index].plain()) return AtOnce::not_tried;
  if (is_for_one_copy(peer, data, bytes)) return AtOnce::is_for_one_copy;
  const MessageHeader header = plain_eager_header(context, tag, matching[index].rtrs, static_cast<std::uint32_t>(bytes));
  if (bytes < least_direct_bytes || !outbox.send_directly(peer, header, {}, data, bytes)) {
    std::byte* room = outbox.reserve(peer, bytes);
    if (!room) return AtOnce::had_no_room;
    copy_from_user(room, data, bytes);
    outbox.commit(peer, header);
  }
  ++matching[index].sent;
  ++statistics.eager_sends;
  statistics.bytes_sent += bytes;
  if (trace::on()) [[unlikely]]
    trace::posted_at_once({peer, tag, context.id()}, {data, bytes}, outbox.traced_number(peer));
  return AtOnce::has_left;
}

void Engine::State::start_send(Request* send, AtOnce tried) {
  statistics.bytes_sent += send->bytes;
  // What leaves at once is told of afterwards (note_departure).
  if (trace::on() && (send->mode == SendMode::buffered || causality.unmatched() != 0)) [[unlikely]]
    trace::posted(*send);
  if (send->mode == SendMode::buffered) {
    Request* shadow = copy_aside(*this, *send);
    shadow->mode = SendMode::buffered;
    all_requests.note_buffered(*shadow);
    all_requests.finish(send);
    send = shadow;
  }
  const bool may_be_announced = causality.unmatched() == 0 && is_eager(*send) && !send->has_gaps();
  const bool is_asked = tried == AtOnce::had_no_room || tried == AtOnce::is_for_one_copy;
  const bool one_copy =
      may_be_announced && (is_asked ? tried == AtOnce::is_for_one_copy : is_for_one_copy(send->peer, send->data, send->bytes));
  send->single_copy = one_copy && offers_block(*send);
  ++(is_eager(*send) ? statistics.eager_sends : statistics.rendezvous_sends);
  if (causality.unmatched() == 0) {
    transmit(send);
    return;
  }
  ++statistics.held_sends;
  if (send->mode == SendMode::standard && is_eager(*send)) {
    Request* shadow = copy_aside(*this, *send);
    all_requests.finish(send);
    send = shadow;
  }
  causality.hold({.what = HeldBack::What::send,
                  .operation = all_requests.next_operation(),
                  .request = send,
                  .peer = send->peer,
                  .traced = send->traced});
}

/// An eager message or an announcement has entered the transport, or the queue in front of it, which keeps the order.
void Engine::State::note_departure(Request& send, MessageKind kind, std::size_t payload_bytes) {
  if (!trace::on()) [[likely]]
    return;
  trace::posted(send);
  trace::message_left(send, kind, payload_bytes, outbox.traced_number(send.peer));
}

void Engine::State::number(MessageHeader& header, Peer to) {
  PeerNumbers& peer = matching[static_cast<std::size_t>(to)];
  header.rtrs = peer.rtrs;
  ++peer.sent;
}

/// It is the next one to its peer.
void Engine::State::send_in_turn(Request* send) {
  if (!is_eager(*send)) {
    all_requests.note_large_send(*send);
    MessageHeader header = matching_header(*send, MessageKind::rts);
    number(header, send->peer);
    ReadyToSend rts{.message_bytes = send->bytes, .sender_request = static_cast<std::uint64_t>(send->id)};
    if (send->call_waits) header.flags |= flag_sender_waits;
    if (send->owned && !send->call_waits) header.flags |= flag_buffered;
    const std::byte* address = nullptr;
    if (rdma_for(send->peer)) {
      rdma_way.offer(*send, header, rts);
    } else if (offers_block(*send)) {
      send->offered = true;
      header.flags |= flag_block;
      job.transport->mark_lines();
      if (message_lines.are_overwritten(*send)) header.flags |= flag_overwritten;
      address = send->data;
      offer_to_adapter(*send, header, rts);
    } else if (!send->has_gaps() && (send->peer == job.self || !memory_users.kernel_waits(blocks))) {
      address = unguarded_address(send->data, send->bytes);
    }
    if (address) {
      header.flags |= flag_contiguous;
      rts.sender_address = reinterpret_cast<std::uint64_t>(address);
    }
    const std::size_t payload_bytes = announce(*send, header, rts);
    send->expects = Request::Expects::clearance;
    note_departure(*send, MessageKind::rts, payload_bytes);
    return;
  }
  MessageHeader header = eager_header(*send);
  number(header, send->peer);
  if (send->frequent && outbox.is_free(send->peer) && frequent_sender.send(*send, header)) {
    note_departure(*send, MessageKind::eager, header.payload_bytes);
    return;
  }
  const bool has_left = outbox.send_eager(*send, header);
  note_departure(*send, MessageKind::eager, header.payload_bytes);
  if (has_left) eager_sent(send);
}

void Engine::State::eager_sent(Request* send) {
  if (send->mode == SendMode::synchronous) {
    send->expects = Request::Expects::acknowledgement;
  } else {
    all_requests.finish(send);
  }
}

std::size_t Engine::State::announce(Request& send, MessageHeader header, const ReadyToSend& rts) {
  const auto to = static_cast<std::size_t>(send.peer);
  const bool by_chunks =
      (header.flags & flag_rdma) != 0 && (header.flags & flag_registered) != 0 && rdma_way.prefers_chunks(send.bytes);
  const bool is_streamed = !by_chunks && send.peer != job.self && job.transport->streams_directly(send.peer);
  std::size_t first = 0;
  if ((by_chunks || is_streamed) && outbox.is_free(send.peer)) {
    const std::size_t most = job.transport->max_payload(send.peer) - sizeof rts;
    if (by_chunks) first = std::min({send.bytes, job.config.rdrp_chunk, most});
    if (is_streamed) first = budgets[to].share_of(send.bytes, most);
  }
  header.payload_bytes = static_cast<std::uint32_t>(sizeof rts + first);
  const auto prefix = std::as_bytes(std::span(&rts, 1));
  if (first == 0 || send.has_gaps() || !outbox.send_directly(send.peer, header, prefix, send.data, first)) {
    std::byte* room = first != 0 ? outbox.reserve(send.peer, sizeof rts + first) : nullptr;
    if (!room) {
      outbox.send_or_queue(send.peer, header, prefix);
      return sizeof rts;
    }
    std::memcpy(room, &rts, sizeof rts);
    pack(send, {room + sizeof rts, first});
    outbox.commit(send.peer, header);
  }
  if (is_streamed) {
    send.brought = send.offset = first;
    send.announced_at = now_ns();
    budgets[to].announced(first);
    if (send.has_left()) all_requests.note_left();
  }
  return header.payload_bytes;
}

void Engine::State::on_room(Peer peer) {
  stream_way.on_room();
  rdma_way.on_room();
  outbox.on_room(peer);
}

// --- the engine's calls ------------------------------------------------------------------------------------------------

void Engine::send(Context& context, Rank to, Tag tag, const void* data, std::size_t bytes, SendMode mode, CallSite site) {
  Lock lock(state_->mutex);
  const auto* start = static_cast<const std::byte*>(data);
  const bool frequent = mode == SendMode::standard && state_->job.config.frequent_sends == FrequentChoice::all &&
                        state_->is_frequent(context, to, start, bytes);
  auto tried = State::AtOnce::not_tried;
  if (mode == SendMode::standard && !frequent) tried = state_->send_at_once(context, to, tag, start, bytes);
  if (tried == State::AtOnce::has_left) return;
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->data = const_cast<std::byte*>(start);
  send->bytes = bytes;
  send->call_waits = true;
  send->frequent = frequent;
  state_->start_send(send, tried);
  state_->wait_all(lock, {&send, 1}, site);
  state_->all_requests.take(send);
}

void Engine::send(Context& context, Rank to, Tag tag, const UserBuffer& buffer, SendMode mode, CallSite site) {
  if (buffer.is_contiguous()) return send(context, to, tag, buffer.data(), buffer.bytes(), mode, site);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->describe(buffer);
  send->call_waits = true;
  state_->start_send(send);
  state_->wait_all(lock, {&send, 1}, site);
  state_->all_requests.take(send);
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, std::span<const std::byte> data, SendMode mode, CallSite site,
                            Caller caller) {
  Lock lock(state_->mutex);
  const bool frequent = mode == SendMode::standard && state_->is_frequent(context, to, data.data(), data.size());
  auto tried = State::AtOnce::not_tried;
  if (mode == SendMode::standard && !frequent) tried = state_->send_at_once(context, to, tag, data.data(), data.size());
  if (tried == State::AtOnce::has_left) return nullptr;
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->data = const_cast<std::byte*>(data.data());
  send->bytes = data.size();
  send->call_waits = caller == Caller::waits;
  send->frequent = frequent;
  state_->start_send(send, tried);
  return send;
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, const UserBuffer& buffer, SendMode mode, CallSite site,
                            Caller caller) {
  if (buffer.is_contiguous()) return start_send(context, to, tag, std::span(buffer.data(), buffer.bytes()), mode, site, caller);
  Lock lock(state_->mutex);
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->describe(buffer);
  send->call_waits = caller == Caller::waits;
  state_->start_send(send);
  return send;
}

Request* Engine::start_send(Context& context, Rank to, Tag tag, std::unique_ptr<std::byte[]> copy, std::size_t bytes,
                            CallSite site, Caller caller, SendMode mode) {
  Lock lock(state_->mutex);
  auto tried = State::AtOnce::not_tried;
  if (mode == SendMode::standard) tried = state_->send_at_once(context, to, tag, copy.get(), bytes);
  if (tried == State::AtOnce::has_left) return nullptr;
  Inside inside(state_->progress, lock);
  Request* send = state_->all_requests.new_send(context, to, tag, mode, site);
  send->data = copy.get();
  send->owned = std::move(copy);
  send->bytes = bytes;
  send->call_waits = caller == Caller::waits;
  state_->start_send(send, tried);
  return send;
}

std::size_t Engine::buffered_bytes(std::size_t overhead) {
  const Lock lock(state_->mutex);
  return state_->all_requests.counts().buffered_bytes + state_->all_requests.counts().buffered_sends * overhead;
}

void Engine::State::wait_until_none(const std::size_t& sends) {
  Lock lock(mutex);
  Inside entered(progress, lock);
  Waiter waiter(progress, Waiter::Who::application);
  while (sends != 0) {
    if (!progress.round(lock)) waiter.step(lock);
  }
}

void Engine::wait_buffered() { state_->wait_until_none(state_->all_requests.counts().buffered_sends); }

void Engine::wait_buffered(const Context& context) { state_->wait_until_none(context.buffered_sends); }

}  // namespace sluice
