// Messages that the adapter moves: what the protocols of rdma_protocol.hpp have in common. States and messages are described
// there.
//
// Memory. A buffer that is an alias block (with its first use it becomes one, or its second, see BufferHistory) is registered at
// its alias, so that its pages may come under guard while data arrives, and any other at the application's own address. Such a
// buffer is not released early (an adapter that writes cannot be told to take another address), and its pages do not become
// blocks meanwhile (RegistrationWatcher::pins).
//
// Room. A queue that is full takes nothing more for that peer until on_room; the requests that have something to post wait in
// `posting`, in the order in which they began.

#include <algorithm>

#include "runtime/engine/state.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/rdma_protocol.hpp"
#include "runtime/trace/trace.hpp"

namespace sluice {
namespace {

/// Up to so many chunks, one read of all is as good, and costs one completion instead of several.
constexpr std::size_t chunks_in_one_read = 2;

}  // namespace

// --- memory ------------------------------------------------------------------------------------------------------------

/// The request's memory, registered for as long as the request needs it. False when that cannot be had.
bool Engine::State::register_buffer(Request& request, std::size_t bytes, Rdma& adapter) {
  if (request.rdma) return true;
  const ByteRange range = ByteRange::of(request.data, bytes);
  const bool in_block = request.released || in_alias_block(range, BufferHistory::Use::by_adapter);
  std::byte* const address = in_block ? arena->alias(range.begin) : unguarded_address(request.data, bytes);
  RegisteredMemory memory;
  if (address) {
    memory = registration_cache(adapter).acquire(ByteRange::of(address, bytes), in_block ? Backing::alias : Backing::application);
  }
  if (!memory) {
    fall_back(request, Fallback::registration_refused);
    return false;
  }
  request.rdma = std::make_unique<RdmaTransfer>();
  request.rdma->request = &request;
  request.rdma->adapter = &adapter;
  request.rdma->memory = std::move(memory);
  request.rdma->in_block = in_block;
  return true;
}

/// The request is over. What the adapter still has to say about its pieces concerns nobody but the memory.
void Engine::State::end_rdma(Request& request) {
  request.rdma->request = nullptr;
  if (!request.rdma->pieces.empty()) lingering.push_back(std::move(request.rdma));
  request.rdma.reset();
}

// --- the sender --------------------------------------------------------------------------------------------------------

bool Engine::State::prefers_rdrp(std::size_t bytes) const {
  const Rendezvous rendezvous = over_rdma(config.rendezvous);
  if (rendezvous != Rendezvous::automatic) return rendezvous == Rendezvous::rdrp;
  return bytes > chunks_in_one_read * config.rdrp_chunk;
}

/// GS1, GS1': the announcement says where the message lies and how it ends. For a sender that is to write anyhow, it says no more
/// than that it can.
void Engine::State::offer_rdma(Request& send, MessageHeader& header, ReadyToSend& rts) {
  Rdma* const adapter = rdma_for(send.peer);
  if (!adapter || send.has_gaps() || send.owned) return;
  send.offers_rdma = true;
  header.flags |= flag_rdma;
  const bool announces_memory = config.rendezvous != Rendezvous::rput && register_buffer(send, send.bytes, *adapter);
  // May be read, by either adapter, while the application's pages are protected.
  send.offered = announces_memory ? send.rdma->in_block
                                  : config.send_release && in_alias_block(send.range(), BufferHistory::Use::by_adapter);
  if (!announces_memory) return;
  header.flags |= flag_registered;
  const RemoteMemory here = send.rdma->memory.remote();
  rts.sender_address = here.address;
  rts.sender_key = here.key;
  std::byte last{};
  copy_from_user(&last, send.data + send.bytes - 1, 1);
  rts.last_byte = std::to_integer<std::uint8_t>(last);
}

void Engine::State::on_clear_to_write(Request& send, const ClearToSend& clear) {
  if (!register_buffer(send, send.bytes, *rdma_for(send.peer))) {
    const Refusal refusal{clear.offset};
    answer(send, MessageKind::refuse, std::as_bytes(std::span(&refusal, 1)));
    return;
  }
  send.way = Request::Way::rdma;
  send.rdma->remote = {clear.remote_address, clear.remote_key};
  send.rdma->protocol = &rdma_protocols::rput();
  send.rdma->protocol->cleared(*this, send);
}

// --- the receiver ------------------------------------------------------------------------------------------------------

/// rput where the sender has not registered anything. get needs the message's last byte, and data in order; it is also what put
/// falls back on where the sender had to speak first, as putnr falls back on getcqe.
const RdmaProtocol& Engine::State::choose_protocol(const Request& receive, const Rdma& adapter) const {
  if ((receive.rts_flags & flag_registered) == 0 || config.rendezvous == Rendezvous::rput) return rdma_protocols::rput();
  const std::size_t missing = receive.stop - receive.offset;
  const bool looks = config.rendezvous == Rendezvous::get || config.rendezvous == Rendezvous::put;
  if (looks && adapter.places_in_order() && receive.stop == receive.message_bytes && missing <= adapter.largest_transfer()) {
    return rdma_protocols::get();
  }
  return prefers_rdrp(receive.limit) ? rdma_protocols::rdrp() : rdma_protocols::getcqe();
}

void Engine::State::note_rdma_choice(const Request& receive) {
  using trace::Protocol;
  using trace::Reason;
  const bool registered = (receive.rts_flags & flag_registered) != 0;
  switch (receive.rdma->protocol->kind()) {
    case Rendezvous::rput:
      return note_choice(receive, Protocol::rput, registered ? Reason::sender_copies : Reason::not_registered);
    case Rendezvous::get:
      return note_choice(receive, Protocol::get, Reason::one_read);
    case Rendezvous::rdrp:
      return note_choice(receive, Protocol::rdrp, Reason::many_chunks);
    default:
      return note_choice(receive, Protocol::getcqe, Reason::one_read);
  }
}

bool Engine::State::begin_rdma(Request& receive) {
  Rdma* const adapter = rdma_for(receive.peer);
  if (!adapter || (receive.rts_flags & flag_rdma) == 0 || receive.has_gaps()) return false;
  if (trace::on()) [[unlikely]]
    tell_match();
  if (!register_buffer(receive, receive.limit, *adapter)) return false;
  RdmaTransfer& transfer = *receive.rdma;
  receive.way = Request::Way::rdma;
  transfer.remote = {receive.remote_address, receive.announced_key};
  transfer.protocol = &choose_protocol(receive, *adapter);
  ++statistics.rdma[static_cast<std::size_t>(transfer.protocol->kind())];
  if (trace::on()) [[unlikely]]
    note_rdma_choice(receive);
  transfer.protocol->begin(*this, receive);
  return true;
}

void Engine::State::read_by_rdma(Request& receive, std::size_t piece_bytes, std::size_t most_outstanding) {
  receive.rdma->direction = RdmaTransfer::Direction::read;
  receive.rdma->piece_bytes = piece_bytes;
  receive.rdma->most_outstanding = most_outstanding;
  move_by_rdma(receive, receive.offset, receive.stop);
}

void Engine::State::conclude_read(Request& receive) {
  receive.offset = receive.limit;
  answer(receive, MessageKind::fin);
  finish(&receive);
}

/// The sender cannot write after all.
void Engine::State::on_refused_rdma(Request& receive) {
  --statistics.rdma[static_cast<std::size_t>(receive.rdma->protocol->kind())];
  end_rdma(receive);
  receive.way = Request::Way::stream;
  begin_transfer(&receive);
}

// --- both --------------------------------------------------------------------------------------------------------------

void Engine::State::move_by_rdma(Request& request, std::size_t begin, std::size_t end) {
  request.rdma->posted = begin;
  request.rdma->end = end;
  go_on_posting(request);
}

/// Posts what may be posted; waits for room with what may be and could not.
bool Engine::State::go_on_posting(Request& request) {
  RdmaTransfer& transfer = *request.rdma;
  const bool moved = post_pieces(transfer);
  const bool wants_room = !transfer.all_posted() && transfer.outstanding < transfer.most_outstanding;
  if (wants_room && !request.work_link.linked) posting.push_back(&request);
  if (!wants_room && request.work_link.linked) posting.remove(&request);
  if (transfer.all_posted()) transfer.protocol->all_posted(*this, request);
  return moved;
}

bool Engine::State::post_pieces(RdmaTransfer& transfer) {
  const Peer peer = transfer.request->peer;
  bool moved = false;
  while (!transfer.all_posted() && transfer.outstanding < transfer.most_outstanding) {
    const std::size_t bytes = std::min(transfer.piece_bytes, transfer.end - transfer.posted);
    const std::span<std::byte> local(transfer.local(transfer.posted), bytes);
    const RemoteMemory remote = transfer.remote_at(transfer.posted);
    RdmaPiece* const piece = take_piece();
    const auto token = reinterpret_cast<std::uint64_t>(piece);
    const std::uint32_t key = transfer.memory.local_key();
    const bool posted = transfer.direction == RdmaTransfer::Direction::read
                            ? transfer.adapter->read(peer, local, key, remote, token)
                            : transfer.adapter->write(peer, local, key, remote, token);
    if (!posted) {
      free_pieces.push_back(piece);
      break;
    }
    enter_piece(transfer, piece, transfer.posted, bytes);
    transfer.posted += bytes;
    moved = true;
  }
  return moved;
}

bool Engine::State::push_posting() {
  if (posting_waits) return false;
  bool moved = false;
  Request* next = nullptr;
  for (Request* request = posting.first(); request; request = next) {
    next = decltype(posting)::next(request);
    moved |= go_on_posting(*request);
  }
  posting_waits = !moved && !posting.empty();
  return moved;
}

void Engine::State::on_transferred(std::uint64_t token) {
  const RdmaPiece piece = give_back_piece(token);
  RdmaTransfer& transfer = *piece.transfer;
  if (!transfer.request) {
    if (!transfer.pieces.empty()) return;
    std::erase_if(lingering, [&](const auto& kept) { return kept.get() == &transfer; });
    return;
  }
  Request& request = *transfer.request;
  if (request.way == Request::Way::write) return on_offloaded(request, piece);
  if (!request.is_send()) request.offset = std::max(request.offset, transfer.complete_up_to());
  if (!transfer.pieces.empty()) note_progress(request);
  if (!transfer.all_posted()) {
    if (!request.work_link.linked) go_on_posting(request);
  } else if (transfer.pieces.empty()) {
    transfer.eager ? on_gathered(request) : transfer.protocol->all_complete(*this, request);
  }
}

void Engine::State::enter_piece(RdmaTransfer& transfer, RdmaPiece* piece, std::size_t offset, std::size_t bytes) {
  *piece = {.transfer = &transfer, .offset = offset, .bytes = bytes, .link = {}};
  transfer.pieces.push_back(piece);
  ++transfer.outstanding;
  if (!transfer.eager) transport->note_adapter_work(1);
}

/// It is over. What it was.
RdmaPiece Engine::State::give_back_piece(std::uint64_t token) {
  auto* const piece = reinterpret_cast<RdmaPiece*>(token);
  piece->transfer->pieces.remove(piece);
  --piece->transfer->outstanding;
  if (!piece->transfer->eager) transport->note_adapter_work(-1);
  free_pieces.push_back(piece);
  return *piece;
}

RdmaPiece* Engine::State::take_piece() {
  if (free_pieces.empty()) {
    pieces.emplace_back();
    return &pieces.back();
  }
  RdmaPiece* const piece = free_pieces.back();
  free_pieces.pop_back();
  return piece;
}

}  // namespace sluice
