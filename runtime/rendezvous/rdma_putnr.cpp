// putnr: the receiver says where, the sender writes (RV section 2.2, the conventional receiver-initiated protocol). One control
// message, and one more where the last byte of the message is the constant that was put there. Who is announced, and which
// message takes it: receiver_initiated.hpp.

#include "runtime/rendezvous/rdma_putnr.hpp"

#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// RV says a constant; none is better than another but by what programs send.
constexpr std::byte constant{0};

class Conventional final : public Putnr {};

}  // namespace

std::byte Putnr::first_value(Engine::State& /*state*/) const { return constant; }

/// PR1.
void Putnr::begin(Engine::State& state, Request& receive) const {
  std::byte* const last = receive.rdma->local(receive.bytes - 1);
  copy_from_user(&receive.last_byte_before, last, 1);
  receive.last_byte_preset = first_value(state);
  copy_to_user(last, &receive.last_byte_preset, 1);
  state.send_ready_to_receive(receive);
}

/// PS1: the sender writes.
void Putnr::cleared(Engine::State& state, Request& send) const {
  RdmaTransfer& transfer = *send.rdma;
  transfer.direction = RdmaTransfer::Direction::write;
  transfer.piece_bytes = transfer.adapter->largest_transfer();
  transfer.most_outstanding = unlimited_pieces;
  state.move_by_rdma(send, send.offset, send.limit);
}

/// PS2: behind the data in the same queue.
void Putnr::all_posted(Engine::State& state, Request& send) const {
  const PutEnd end{send.bytes};
  if (send.tells_end) state.answer(send, MessageKind::fin, std::as_bytes(std::span(&end, 1)));
  state.all_of_put_posted(send);
}

/// PS3. PR2 is Engine::State::poll_announced and on_put_end.
void Putnr::all_complete(Engine::State& state, Request& send) const { state.finish(&send); }

const RdmaProtocol& rdma_protocols::putnr() {
  static constexpr Conventional protocol;
  return protocol;
}

}  // namespace sluice
