// The fast path of small messages: verbs/eager_ring.hpp says how it works, this posts and polls.

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>

#include "runtime/trace/resource_events.hpp"
#include "verbs/transport.hpp"

namespace sluice {
namespace {

/// Of the memory that this process may lock, so much is for rings at most: without them messages are slower, without receive
/// buffers there is no connection.
constexpr std::size_t share_of_limit = 8;

std::size_t rings_within_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ~std::size_t{0};
  return limit.rlim_cur / share_of_limit / eager_ring::bytes;
}

}  // namespace

std::size_t VerbsTransport::max_rings(const Options& options) {
  return options.places_in_order ? std::min(options.rings, rings_within_limit()) : 0;
}

// --- the sender ------------------------------------------------------------------------------------------------------------

bool VerbsTransport::may_go_by_ring(const WireHeader& header) {
  return header.kind == MessageKind::eager && (header.flags & flag_synchronous) == 0 &&
         eager_ring::taken(verbs_slot::overhead + header.payload_bytes) <= verbs_slot::bytes;
}

/// `message` as it would be sent: of its own in the slot, with what is gathered behind that.
void VerbsTransport::write_to_ring(Endpoint& endpoint, SendQueue::Request message) {
  const auto bytes = static_cast<std::uint32_t>(message.bytes + message.sge_payload.size());
  std::byte* const behind = queues_->slots().at(message.slot) + message.bytes;
  const RingSender::Write write = endpoint.to_ring.next(behind, bytes, endpoint.sent - 1);
  endpoint.ring_credits.note_sent();
  ++counts_.ring_messages_sent;
  message.operation = IBV_WR_RDMA_WRITE;
  message.remote_address = write.remote.address;
  message.remote_key = write.remote.key;
  (message.sge_payload.empty() ? message.bytes : message.tail_bytes) += write.bytes - bytes;
  message.is_inline = write.bytes <= endpoint.queue_pair->max_inline();
  post(endpoint, message);
}

// --- the receiver ----------------------------------------------------------------------------------------------------------

int VerbsTransport::poll_rings(MessageSink& sink) {
  int moved = 0;
  for (Endpoint* endpoint : ringed_) {
    for (int taken = 0; taken < batch && take_from_ring(*endpoint, sink); ++taken) ++moved;
  }
  return moved;
}

bool VerbsTransport::take_from_ring(Endpoint& endpoint, MessageSink& sink) {
  const RingReceiver::Found found = endpoint.ring.find(endpoint.received);
  if (!found.good)
    lose(endpoint, "what it wrote into its ring is no message: " + RingReceiver::explain(found.word, endpoint.received));
  if (found.message.empty() || !deliver(endpoint, found.message, Path::ring, sink)) return false;
  endpoint.ring.consume();
  endpoint.ring_credits.note_consumed();
  owe(endpoint);
  return true;
}

bool VerbsTransport::rings_pending() const {
  return std::any_of(ringed_.begin(), ringed_.end(),
                     [](const Endpoint* endpoint) { return !endpoint->ring.find(endpoint->received).message.empty(); });
}

/// A small message has come, and how: who sends many gets a ring.
void VerbsTransport::note_small(Endpoint& endpoint, Path path) {
  ++small_messages_;
  endpoint.last_use = small_messages_;
  if (path == Path::ring) ++endpoint.ring_uses;
  if (path == Path::ring || endpoint.peer_words.address == 0 || !endpoint.ring.may_open()) return;
  if (endpoint.queue_pair->max_reads() == 0) return;  // could not be closed
  const std::uint32_t needed = endpoint.ring_memory ? endpoint.next_use : eager_ring::first_use;
  if (++endpoint.small_sent < needed) return;
  endpoint.small_sent = 0;
  if (must_be_woken_by(endpoint) || !endpoint.may_write()) return;
  if (!endpoint.ring_memory && (endpoint.ring_memory = memory_for_ring()) != nullptr) ringed_.push_back(&endpoint);
  if (endpoint.ring_memory) open_ring(endpoint);
}

/// Memory that nobody's ring is in; nullptr when there is none at present.
VerbsMemory* VerbsTransport::memory_for_ring() {
  if (ring_memory_.size() < max_rings_) {
    try {
      ring_memory_.push_back(std::make_unique<VerbsMemory>(device_, eager_ring::bytes, VerbsMemory::Access::peers));
      return ring_memory_.back().get();
    } catch (const std::exception&) {
      max_rings_ = ring_memory_.size();
    }
  }
  const auto oldest = std::min_element(ringed_.begin(), ringed_.end(),
                                       [](const Endpoint* a, const Endpoint* b) { return a->last_use < b->last_use; });
  if (oldest == ringed_.end() || small_messages_ - (*oldest)->last_use < eager_ring::silence) return nullptr;
  Endpoint& silent = **oldest;
  close_ring(silent);
  if (silent.ring.state() != RingReceiver::State::closed) return nullptr;  // the next time, then
  silent.ring.give_up();
  if (trace::on()) [[unlikely]]
    trace::ring(silent.peer, trace::RingEvent::moved, 0);
  ringed_.erase(oldest);
  ++counts_.rings_moved;
  return std::exchange(silent.ring_memory, nullptr);
}

// --- opening and closing ---------------------------------------------------------------------------------------------------

/// Writes this side's offer into the peer's words.
void VerbsTransport::write_offer(Endpoint& endpoint) {
  constexpr auto bytes = static_cast<std::uint32_t>(sizeof(RingWords::Offer));
  post(endpoint, {.operation = IBV_WR_RDMA_WRITE,
                  .start = reinterpret_cast<const std::byte*>(&endpoint.words->ours),
                  .bytes = bytes,
                  .local_key = queues_->ring_words_memory().local_key(),
                  .remote_address = endpoint.peer_words.address + offsetof(RingWords, theirs),
                  .remote_key = endpoint.peer_words.key,
                  .is_inline = bytes <= endpoint.queue_pair->max_inline()});
}

void VerbsTransport::open_ring(Endpoint& endpoint) {
  const RemoteMemory memory = endpoint.ring_memory->remote(endpoint.ring_memory->start());
  endpoint.words->ours = {memory.address, memory.key, 1};
  endpoint.ring.open(endpoint.ring_memory->start());
  ++counts_.rings_opened;
  if (trace::on()) [[unlikely]]
    trace::ring(endpoint.peer, trace::RingEvent::opened, 0);
  write_offer(endpoint);
}

void VerbsTransport::close_ring(Endpoint& endpoint) {
  if (endpoint.ring.state() != RingReceiver::State::open || endpoint.state != Endpoint::State::open) return;
  if (!endpoint.sends.has_room_for_closing()) return;
  endpoint.ring.close();
  if (trace::on()) [[unlikely]]
    trace::ring(endpoint.peer, trace::RingEvent::closed, endpoint.ring_uses);
  const bool has_paid = endpoint.ring_uses >= eager_ring::uses_that_pay;
  endpoint.next_use = has_paid ? eager_ring::next_use : std::min(2 * endpoint.next_use, eager_ring::max_next_use);
  endpoint.ring_uses = 0;
  endpoint.words->ours.open = 0;
  ++counts_.rings_closed;
  write_offer(endpoint);
  ++endpoint.reads;
  post(endpoint, {.operation = IBV_WR_RDMA_READ,
                  .start = reinterpret_cast<const std::byte*>(&endpoint.words->heard),
                  .bytes = static_cast<std::uint32_t>(sizeof endpoint.words->heard),
                  .local_key = queues_->ring_words_memory().local_key(),
                  .remote_address = endpoint.peer_words.address + offsetof(RingWords, begun),
                  .remote_key = endpoint.peer_words.key,
                  .token = SendQueue::own_token});
}

void VerbsTransport::on_begun_read(Endpoint& endpoint) {
  endpoint.ring.note_begun(std::atomic_ref(endpoint.words->heard).load(std::memory_order_acquire), endpoint.received);
}

/// Each message of this peer has to wake somebody: for itself, or for the room that it grants to messages that wait for it.
bool VerbsTransport::must_be_woken_by(const Endpoint& endpoint) const {
  const bool waits_for_room = (endpoint.wants & Endpoint::message_room) != 0;
  return asks_for(wake_mask_, EventMask::eager) || (wake_mask_ != WakeMask::none && waits_for_room);
}

void VerbsTransport::close_rings() {
  for (Endpoint* endpoint : ringed_) {
    if (must_be_woken_by(*endpoint)) close_ring(*endpoint);
  }
}

/// A message that must wake somebody may come by a ring, which tells nobody.
bool VerbsTransport::rings_are_restless() const {
  return std::any_of(ringed_.begin(), ringed_.end(), [this](const Endpoint* endpoint) {
    return must_be_woken_by(*endpoint) && endpoint->ring.is_restless() && endpoint->state == Endpoint::State::open;
  });
}

}  // namespace sluice
