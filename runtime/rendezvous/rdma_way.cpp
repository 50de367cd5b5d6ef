#include "runtime/rendezvous/rdma_way.hpp"

#include <algorithm>

#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// Up to so many chunks, one read of all is as good, and costs one completion instead of several.
constexpr std::size_t chunks_in_one_read = 2;

}  // namespace

RdmaWay::RdmaWay(const Parts& parts)
    : parts_(parts),
      sentinels_(static_cast<std::uint64_t>(parts.job.self), parts.users, parts.statistics),
      reads_(parts.job.config.read_window) {}

// --- memory ------------------------------------------------------------------------------------------------------------

bool RdmaWay::register_buffer(Request& request, std::size_t bytes, Rdma& adapter) {
  if (request.rdma) return true;
  const ByteRange range = ByteRange::of(request.data, bytes);
  const bool in_block = request.released || parts_.blocks.use(range, BufferHistory::Use::by_adapter);
  std::byte* const address = in_block ? parts_.job.arena->alias(range.begin) : unguarded_address(request.data, bytes);
  RegisteredMemory memory;
  if (address) {
    const Backing backing = in_block ? Backing::alias : Backing::application;
    memory = parts_.registrations.acquire(adapter, ByteRange::of(address, bytes), backing);
  }
  if (!memory) {
    note_fallback(parts_.statistics, request, Fallback::registration_refused);
    return false;
  }
  request.rdma = std::make_unique<RdmaTransfer>();
  request.rdma->request = &request;
  request.rdma->user = this;
  request.rdma->adapter = &adapter;
  request.rdma->memory = std::move(memory);
  request.rdma->in_block = in_block;
  return true;
}

// --- the sender --------------------------------------------------------------------------------------------------------

bool RdmaWay::prefers_chunks(std::size_t bytes) const {
  const Rendezvous rendezvous = over_rdma(parts_.job.config.rendezvous);
  if (rendezvous != Rendezvous::automatic) return rendezvous == Rendezvous::rdrp;
  return bytes > chunks_in_one_read * parts_.job.config.rdrp_chunk;
}

/// GS1, GS1': the announcement says where the message lies and how it ends. For a sender that is to write anyhow, it says no more
/// than that it can.
void RdmaWay::offer(Request& send, WireHeader& header, ReadyToSend& rts) {
  Rdma* const adapter = adapter_for(send.peer);
  if (!adapter || send.has_gaps() || send.owned) return;
  send.offers_rdma = true;
  header.flags |= flag_rdma;
  const bool names_memory = parts_.job.config.rendezvous != Rendezvous::rput && register_buffer(send, send.bytes, *adapter);
  // May be read, by either adapter, while the application's pages are protected.
  send.offered = names_memory ? send.rdma->in_block
                              : parts_.job.config.send_release && parts_.blocks.use(send.range(), BufferHistory::Use::by_adapter);
  if (!names_memory) return;
  header.flags |= flag_registered;
  const RemoteMemory here = send.rdma->memory.remote();
  rts.sender_address = here.address;
  rts.sender_key = here.key;
  std::byte last{};
  copy_from_user(&last, send.data + send.bytes - 1, 1);
  rts.last_byte = std::to_integer<std::uint8_t>(last);
}

void RdmaWay::cleared(Request& send, const ClearToSend& clear) {
  send.remote_request = clear.receiver_request;
  send.offset = clear.offset;
  send.limit = clear.limit;
  if (!register_buffer(send, send.bytes, *adapter_for(send.peer))) {
    const Refusal refusal{clear.offset};
    parts_.outbox.answer(send, MessageKind::refuse, std::as_bytes(std::span(&refusal, 1)));
    return;
  }
  write_by(parts_.protocols.rput, send, {clear.remote_address, clear.remote_key});
}

void RdmaWay::write_by(const RdmaProtocol& protocol, Request& send, RemoteMemory target) {
  send.way = Request::Way::rdma;
  send.rdma->remote = target;
  send.rdma->protocol = &protocol;
  protocol.cleared(*this, send);
}

void RdmaWay::write(Request& send) {
  RdmaTransfer& transfer = *send.rdma;
  transfer.direction = RdmaTransfer::Direction::write;
  transfer.segment_bytes = transfer.adapter->largest_transfer();
  transfer.max_outstanding = unlimited_segments;
  move(send, send.offset, send.limit);
}

// --- the receiver ------------------------------------------------------------------------------------------------------

/// rput where the sender has not registered anything. get needs the message's last byte, and data in order; it is also what put
/// falls back on where the sender had to speak first, as putnr falls back on getcqe. Unasked it is taken where somebody will wait
/// for the message (waited_sites.hpp).
const RdmaProtocol& RdmaWay::choose_protocol(const Request& receive, const Rdma& adapter) const {
  const Rendezvous wanted = parts_.job.config.rendezvous;
  if ((receive.rts_flags & flag_registered) == 0 || wanted == Rendezvous::rput) return parts_.protocols.rput;
  const std::size_t missing = receive.stop - receive.offset;
  const bool waits = over_rdma(wanted) == Rendezvous::automatic && !prefers_chunks(receive.limit) && !receive.released &&
                     parts_.unasked.sites().waits(receive.site);
  const bool looks = wanted == Rendezvous::get || wanted == Rendezvous::put || waits;
  if (looks && adapter.places_in_order() && receive.stop == receive.message_bytes && missing <= adapter.largest_transfer()) {
    return parts_.protocols.get;
  }
  return prefers_chunks(receive.limit) ? parts_.protocols.rdrp : parts_.protocols.getcqe;
}

void RdmaWay::note_choice(const Request& receive) {
  using trace::Protocol;
  using trace::Reason;
  const bool registered = (receive.rts_flags & flag_registered) != 0;
  switch (receive.rdma->protocol->kind()) {
    case Rendezvous::rput:
      return parts_.matches.chosen(receive, Protocol::rput, registered ? Reason::sender_copies : Reason::not_registered);
    case Rendezvous::get:
      return parts_.matches.chosen(receive, Protocol::get, Reason::one_read);
    case Rendezvous::rdrp:
      return parts_.matches.chosen(receive, Protocol::rdrp, Reason::many_chunks);
    default:
      return parts_.matches.chosen(receive, Protocol::getcqe, Reason::one_read);
  }
}

Bid RdmaWay::bid(const Request& receive, std::size_t /*coming*/) const {
  const bool is_offered = receive.way == Request::Way::undecided && (receive.rts_flags & flag_rdma) != 0 && !receive.has_gaps();
  return is_offered && adapter_for(receive.peer) ? Bid{1} : Bid{};
}

bool RdmaWay::begin(Request& receive, std::size_t /*coming*/) {
  Rdma* const adapter = adapter_for(receive.peer);
  if (trace::on()) [[unlikely]]
    parts_.matches.tell();
  if (!register_buffer(receive, receive.limit, *adapter)) return false;
  RdmaTransfer& transfer = *receive.rdma;
  receive.way = Request::Way::rdma;
  transfer.remote = {receive.remote_address, receive.rts_key};
  transfer.protocol = &choose_protocol(receive, *adapter);
  ++parts_.statistics.rdma[static_cast<std::size_t>(transfer.protocol->kind())];
  if (trace::on()) [[unlikely]]
    note_choice(receive);
  transfer.protocol->begin(*this, receive);
  return true;
}

void RdmaWay::read(Request& receive, std::size_t bytes_each, std::size_t max_outstanding) {
  receive.rdma->direction = RdmaTransfer::Direction::read;
  receive.rdma->segment_bytes = bytes_each;
  receive.rdma->max_outstanding = max_outstanding;
  move(receive, receive.offset, receive.stop);
}

void RdmaWay::conclude_read(Request& receive) {
  receive.offset = receive.limit;
  parts_.outbox.answer(receive, MessageKind::fin, {}, parts_.unasked.end_of_read(receive.site, receive.peer, receive.released));
  parts_.requests.finish(&receive);
}

void RdmaWay::forget_last_byte(Request& receive) {
  if (receive.work_link.linked) polled_.remove(&receive);
}

void RdmaWay::refused(Request& receive, std::size_t /*offset*/) {
  --parts_.statistics.rdma[static_cast<std::size_t>(receive.rdma->protocol->kind())];
  parts_.transfers.end(receive);
  receive.way = Request::Way::stream;
  parts_.ways.begin(receive);
}

// --- both --------------------------------------------------------------------------------------------------------------

void RdmaWay::move(Request& request, std::size_t begin, std::size_t end) {
  request.rdma->posted = begin;
  request.rdma->end = end;
  go_on_posting(request);
}

/// Posts what may be posted; waits for room with what may be and could not.
bool RdmaWay::go_on_posting(Request& request) {
  RdmaTransfer& transfer = *request.rdma;
  const bool moved = post_segments(transfer);
  const bool wants_room = !transfer.all_posted() && transfer.outstanding < transfer.max_outstanding;
  if (wants_room && !request.work_link.linked) posting_.push_back(&request);
  if (!wants_room && request.work_link.linked) posting_.remove(&request);
  if (transfer.all_posted()) transfer.protocol->all_posted(*this, request);
  return moved;
}

bool RdmaWay::post_segments(RdmaTransfer& transfer) {
  bool moved = false;
  while (!transfer.all_posted() && transfer.outstanding < transfer.max_outstanding) {
    if (!post_next(transfer)) break;
    moved = true;
  }
  return moved;
}

bool RdmaWay::post_next(RdmaTransfer& transfer) {
  const bool is_bounded = reads_.on() && transfer.direction == RdmaTransfer::Direction::read;
  std::size_t bytes = std::min(transfer.segment_bytes, transfer.end - transfer.posted);
  if (!is_bounded) {
    if (!parts_.transfers.post(transfer, transfer.posted, bytes)) return false;
    transfer.posted += bytes;
    return true;
  }
  if (transfer.protocol->kind() == Rendezvous::rdrp) bytes = std::min(bytes, reads_.window().chunk());
  const Peer peer = transfer.request->peer;
  const std::uint64_t now = transfer.adapter->time_ns();
  if (!reads_.take(*transfer.adapter, peer, bytes, now)) return false;
  if (!parts_.transfers.post(transfer, transfer.posted, bytes, now)) {
    reads_.withdraw(peer, bytes);
    return false;
  }
  transfer.posted += bytes;
  return true;
}

/// What waits for the window may go on.
void RdmaWay::segment_over(const RdmaSegment& segment) {
  if (segment.posted_ns == not_timed) return;
  reads_.give_back(segment.peer, segment.bytes, segment.posted_ns);
  posting_waits_ = false;
}

bool RdmaWay::push_posting() {
  if (posting_waits_) return false;
  bool moved = false;
  Request* next = nullptr;
  for (Request* request = posting_.first(); request; request = next) {
    next = WorkList::next(request);
    const bool posted = go_on_posting(*request);
    moved |= posted;
    const bool waits = posted && reads_.on() && request->rdma && !request->rdma->all_posted() && request->work_link.linked;
    if (waits) {
      posting_.remove(request);
      posting_.push_back(request);
      if (!next) next = request;
    }
  }
  posting_waits_ = !moved && !posting_.empty();
  return moved;
}

void RdmaWay::segment_complete(Request& request, const RdmaSegment& /*segment*/) {
  RdmaTransfer& transfer = *request.rdma;
  if (!request.is_send()) request.offset = std::max(request.offset, transfer.complete_up_to());
  if (!transfer.segments.empty() && trace::on()) [[unlikely]]
    trace::progressed(request, request.offset);
  if (!transfer.all_posted()) {
    if (request.work_link.linked) return;
    // With a read window others may have waited for longer for what has become free.
    if (reads_.on() && !posting_.empty()) return posting_.push_back(&request);
    go_on_posting(request);
  } else if (transfer.segments.empty()) {
    transfer.protocol->all_complete(*this, request);
  }
}

}  // namespace sluice
