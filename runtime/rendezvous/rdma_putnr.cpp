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

std::byte Putnr::first_value(RdmaWay& /*way*/) const { return constant; }

/// PR1; the sender is told of it by whoever announces the receive.
void Putnr::begin(RdmaWay& way, Request& receive) const {
  std::byte* const last = receive.rdma->local(receive.bytes - 1);
  copy_from_user(&receive.last_byte_before, last, 1);
  receive.last_byte_preset = first_value(way);
  copy_to_user(last, &receive.last_byte_preset, 1);
}

/// PS1: the sender writes.
void Putnr::cleared(RdmaWay& way, Request& send) const { way.write(send); }

/// PS2: behind the data in the same queue.
void Putnr::all_posted(RdmaWay& way, Request& send) const {
  const PutEnd end{send.bytes};
  if (send.tells_end) way.parts().outbox.answer(send, MessageKind::fin, std::as_bytes(std::span(&end, 1)));
  way.writer().posted(send);
}

/// PS3. PR2 is in put_receiver.cpp.
void Putnr::all_complete(RdmaWay& way, Request& send) const { way.parts().requests.finish(&send); }

const RdmaProtocol& rdma_protocols::putnr() {
  static constexpr Conventional protocol;
  return protocol;
}

}  // namespace sluice
