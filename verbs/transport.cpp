#include "verbs/transport.hpp"

#include <cstring>

#include "net/wire.hpp"

namespace sluice {
namespace {

using verbs_slot::What;
using Prefix = std::span<std::byte, verbs_slot::prefix_bytes>;
using SeenPrefix = std::span<const std::byte, verbs_slot::prefix_bytes>;

}  // namespace

VerbsTransport::Statistics VerbsTransport::statistics() const {
  Statistics counts = counts_;
  counts.rejected = connector_.rejected();
  return counts;
}

// --- output ----------------------------------------------------------------------------------------------------------------

/// What was asked for is not possible now; on_room will say when. Always false.
bool VerbsTransport::refuse(Endpoint& endpoint, Endpoint::Want want) {
  if (endpoint.state == Endpoint::State::none) call(endpoint);
  if (endpoint.wants == Endpoint::nothing) waiting_.push_back(&endpoint);
  endpoint.wants = static_cast<std::uint8_t>(endpoint.wants | want);
  return false;
}

std::byte* VerbsTransport::reserve(Peer to, std::size_t /*payload_bytes*/) {
  Endpoint& target = endpoint(to);
  const bool may = target.may_send();
  if (!may || !queues_->slots().any()) {
    const bool no_credit = target.state == Endpoint::State::open && !target.credits.may_send();
    if (no_credit && (target.wants & Endpoint::message_room) == 0) ++counts_.waits_for_credit;
    refuse(target, Endpoint::message_room);
    return nullptr;
  }
  reserved_ = queues_->slots().take();
  return queues_->slots().at(reserved_) + verbs_slot::overhead;
}

/// Writes what stands before every message; how long it is.
std::uint32_t VerbsTransport::begin_slot(Endpoint& endpoint, std::byte* slot, What what) {
  const Prefix prefix(slot, verbs_slot::prefix_bytes);
  wire::put<0>(prefix, endpoint.credits.grant());
  wire::put<2>(prefix, static_cast<std::uint8_t>(what));
  wire::put<3>(prefix, static_cast<std::uint8_t>(endpoint.ring_credits.grant()));
  wire::put<4>(prefix, endpoint.sent++);
  return verbs_slot::prefix_bytes;
}

void VerbsTransport::commit(Peer to, const WireHeader& header) {
  Endpoint& target = endpoint(to);
  const auto bytes = static_cast<std::uint32_t>(verbs_slot::overhead) + header.payload_bytes;
  send_slot(target, header, {.bytes = bytes, .is_inline = bytes <= target.queue_pair->max_inline()});
}

bool VerbsTransport::send_sge(Peer to, const WireHeader& header, std::span<const std::byte> payload, std::uint32_t local_key,
                              std::uint64_t token) {
  if (!reserve(to, payload.size())) return false;
  send_slot(
      endpoint(to), header,
      {.bytes = static_cast<std::uint32_t>(verbs_slot::overhead), .token = token, .sge_payload = payload, .sge_key = local_key});
  return true;
}

/// `message`: how much of it is in the reserved slot, and what else there is of it.
void VerbsTransport::send_slot(Endpoint& endpoint, const WireHeader& header, SendQueue::Request message) {
  ++counts_.messages_sent;
  ++counts_.sent_of_kind[static_cast<std::size_t>(header.kind)];
  counts_.bytes_sent += header.payload_bytes;
  message.slot = std::exchange(reserved_, SendSlots::none);
  message.local_key = queues_->slots().local_key();
  std::byte* const start = queues_->slots().at(message.slot);
  message.start = start;
  const bool by_ring = may_go_by_ring(header) && endpoint.ring_credits.may_send() && endpoint.to_ring.admits(endpoint.sent);
  const std::uint32_t before = begin_slot(endpoint, start, What::message);
  frame::encode(header, std::span<std::byte, frame::header_bytes>(start + before, frame::header_bytes));
  if (by_ring) return write_to_ring(endpoint, message);
  endpoint.credits.note_sent();
  post(endpoint, message);
}

void VerbsTransport::post(Endpoint& endpoint, const SendQueue::Request& request) {
  if (const int error = endpoint.sends.append(request)) lose(endpoint, why_failed("ibv_post_send", error));
  if (!polling_) return flush(endpoint);
  if (!endpoint.to_flush) to_flush_.push_back(&endpoint);
  endpoint.to_flush = true;
}

void VerbsTransport::flush(Endpoint& endpoint) {
  endpoint.to_flush = false;
  if (const int error = endpoint.sends.flush()) lose(endpoint, why_failed("ibv_post_send", error));
}

/// Tells the peer what it may send, by a message of nothing else.
void VerbsTransport::grant_alone(Endpoint& endpoint) {
  const std::uint32_t slot = queues_->slots().take();
  std::byte* const start = queues_->slots().at(slot);
  const std::uint32_t bytes = begin_slot(endpoint, start, What::credits);
  ++counts_.credit_messages;
  post(endpoint, {.start = start,
                  .bytes = bytes,
                  .local_key = queues_->slots().local_key(),
                  .slot = slot,
                  .is_inline = bytes <= endpoint.queue_pair->max_inline()});
}

/// Whoever was not granted anything by a message meanwhile, and may soon have to wait.
void VerbsTransport::grant() {
  std::size_t left = 0;
  for (Endpoint* endpoint : to_grant_) {
    const bool live = endpoint->state == Endpoint::State::proving || endpoint->state == Endpoint::State::open;
    const bool due = live && (endpoint->credits.must_tell() || endpoint->ring_credits.must_tell());
    const bool possible =
        endpoint->state == Endpoint::State::open && endpoint->sends.has_room_for_credits() && queues_->slots().any();
    if (due && possible) grant_alone(*endpoint);
    endpoint->to_grant = due && !possible;
    if (endpoint->to_grant) to_grant_[left++] = endpoint;
  }
  to_grant_.resize(left);
  holds_output_ = left != 0;
}

/// The buffers of consumed messages go back to the adapter, and only then are owed to their senders.
void VerbsTransport::post_receives() {
  const int error = queues_->buffers().flush();
  for (Endpoint* endpoint : consumed_) {
    if (error != 0) lose(*endpoint, why_failed("ibv_post_srq_recv", error));
    endpoint->credits.note_consumed();
    owe(*endpoint);
  }
  consumed_.clear();
}

/// The peer may soon have to be told what it is granted.
void VerbsTransport::owe(Endpoint& endpoint) {
  if (endpoint.to_grant || !(endpoint.credits.must_tell() || endpoint.ring_credits.must_tell())) return;
  endpoint.to_grant = true;
  to_grant_.push_back(&endpoint);
}

bool VerbsTransport::has_room(const Endpoint& endpoint) const {
  return ((endpoint.wants & Endpoint::message_room) != 0 && endpoint.may_send() && queues_->slots().any()) ||
         ((endpoint.wants & Endpoint::write_room) != 0 && endpoint.may_write()) ||
         ((endpoint.wants & Endpoint::read_room) != 0 && endpoint.may_read());
}

int VerbsTransport::tell_room(MessageSink& sink) {
  int told = 0;
  const std::vector<Endpoint*> waiting = std::move(waiting_);
  waiting_.clear();
  for (Endpoint* endpoint : waiting) {
    if (!has_room(*endpoint)) {
      waiting_.push_back(endpoint);
      continue;
    }
    endpoint->wants = Endpoint::nothing;
    sink.on_room(endpoint->peer);
    ++told;
  }
  return told;
}

// --- input -----------------------------------------------------------------------------------------------------------------

bool VerbsTransport::fetch() const {
  if (next_ < fetched_) return true;
  next_ = 0;
  fetched_ = ibv_poll_cq(queues_->completions(), batch, entries_.data());
  if (fetched_ < 0) fetched_ = 0;
  return fetched_ != 0;
}

bool VerbsTransport::pending() const {
  if (rings_pending() || fetch() || !failed_.empty()) return true;
  for (const Endpoint* endpoint : waiting_) {
    if (has_room(*endpoint)) return true;
  }
  return false;
}

int VerbsTransport::poll(MessageSink& sink) {
  polling_ = true;
  int moved = ringed_.empty() ? 0 : poll_rings(sink);
  if (fetch()) {
    while (next_ < fetched_) {
      const ibv_wc entry = entries_[static_cast<std::size_t>(next_++)];
      on_completion(entry, sink);
      ++moved;
    }
    post_receives();
  }
  if (!failed_.empty()) moved += end_failed_reads(sink);
  if (!waiting_.empty()) moved += tell_room(sink);
  if (!to_grant_.empty()) grant();
  for (Endpoint* endpoint : to_flush_) flush(*endpoint);
  to_flush_.clear();
  polling_ = false;
  return moved;
}

void VerbsTransport::on_completion(const ibv_wc& entry, MessageSink& sink) {
  const auto found = by_queue_pair_.find(entry.qp_num);
  if (found == by_queue_pair_.end()) return;
  Endpoint& endpoint = *found->second;
  const bool sent = (entry.wr_id & SendQueue::mark) != 0;
  if (entry.status == IBV_WC_SUCCESS) {
    if (sent) return on_sent(endpoint, entry.wr_id, sink);
    return on_receive(endpoint, entry, sink);
  }
  // What was still queued behind the error says nothing about its cause.
  if (endpoint.state == Endpoint::State::failed) return;
  const std::string what = std::string("its connection failed: ") + device_.library().wc_status_str(entry.status);
  switch (entry.status) {
    case IBV_WC_RETRY_EXC_ERR:
      return lose_queue_pair(endpoint, "it has not acknowledged anything for " + std::to_string(options_.retry_seconds) +
                                           " s, SLUICE_VERBS_TIMEOUT (" + device_.library().wc_status_str(entry.status) + ")");
    case IBV_WC_WR_FLUSH_ERR:
      return lose_queue_pair(endpoint, what + " (the queue pair was put into the error state)");
    default:
      return lose_queue_pair(endpoint, what + " (vendor code " + std::to_string(entry.vendor_err) + ")");
  }
}

void VerbsTransport::on_sent(Endpoint& endpoint, std::uint64_t number, MessageSink& sink) {
  endpoint.sends.complete(number, [&](const SendQueue::Done& done) {
    if (done.slot != SendSlots::none) queues_->slots().give_back(done.slot);
    if (done.read) --endpoint.reads;
    if (done.token == SendQueue::own_token) return on_begun_read(endpoint);
    if (done.token != 0) sink.on_transferred(done.token);
  });
}

void VerbsTransport::on_receive(Endpoint& endpoint, const ibv_wc& entry, MessageSink& sink) {
  const auto buffer = static_cast<std::uint32_t>(entry.wr_id);
  const std::span<const std::byte> message(queues_->buffers().at(buffer), entry.byte_len);
  if (message.size() < verbs_slot::prefix_bytes)
    return lose(endpoint, "it sent " + std::to_string(message.size()) + " bytes, which is no message");
  const SeenPrefix prefix(message.first<verbs_slot::prefix_bytes>());
  const auto number = wire::get<4, std::uint32_t>(prefix);
  while (number != endpoint.received && take_from_ring(endpoint, sink)) {
  }
  if (number != endpoint.received) return lose(endpoint, "a message of it is missing");

  if (wire::get<2, std::uint8_t>(prefix) == static_cast<std::uint8_t>(What::credits) &&
      message.size() == verbs_slot::prefix_bytes) {
    // First the buffer, then what it grants: see verbs/credits.hpp.
    endpoint.ring.note_received(++endpoint.received);
    queues_->buffers().repost(buffer);
    post_receives();
    accept_grants(endpoint, message);
    return;
  }
  if (!deliver(endpoint, message, Path::sent, sink)) return;
  consumed_.push_back(&endpoint);
  if (const int error = queues_->buffers().repost(buffer)) lose(endpoint, why_failed("ibv_post_srq_recv", error));
}

/// False: the peer does not keep count, and is lost.
bool VerbsTransport::accept_grants(Endpoint& endpoint, std::span<const std::byte> message) {
  const SeenPrefix prefix(message.first<verbs_slot::prefix_bytes>());
  if (endpoint.credits.accept(wire::get<0, std::uint16_t>(prefix)) &&
      endpoint.ring_credits.accept(wire::get<3, std::uint8_t>(prefix)))
    return true;
  lose(endpoint, "it grants more messages than were sent to it");
  return false;
}

/// The next message, by whichever path it came. False: it is none, and the peer is lost.
bool VerbsTransport::deliver(Endpoint& endpoint, std::span<const std::byte> message, Path path, MessageSink& sink) {
  const auto no = [&](const std::string& why) {
    lose(endpoint, "what it sent is no message: " + why);
    return false;
  };
  const SeenPrefix prefix(message.first<verbs_slot::prefix_bytes>());
  const auto what = wire::get<2, std::uint8_t>(prefix);
  if (wire::get<4, std::uint32_t>(prefix) != endpoint.received) return no("it has two numbers");
  if (what != static_cast<std::uint8_t>(What::message) || message.size() < verbs_slot::overhead) {
    lose(endpoint,
         "it sent " + std::to_string(message.size()) + " bytes of kind " + std::to_string(what) + ", which is no message");
    return false;
  }
  const auto header = message.subspan<verbs_slot::prefix_bytes, frame::header_bytes>();
  const frame::Decoded decoded = frame::decode(header, verbs_slot::max_payload);
  if (!decoded.good()) return no(frame::explain(header, verbs_slot::max_payload));
  const std::span<const std::byte> payload = message.subspan(verbs_slot::overhead);
  if (decoded.control != frame::Control::none || decoded.header.payload_bytes != payload.size())
    return no(std::to_string(decoded.header.payload_bytes) + " bytes are announced, " + std::to_string(payload.size()) + " came");
  if (!accept_grants(endpoint, message)) return false;
  endpoint.ring.note_received(++endpoint.received);
  if (may_go_by_ring(decoded.header)) note_small(endpoint, path);
  sink.on_message(endpoint.peer, decoded.header, payload);
  return true;
}

}  // namespace sluice
