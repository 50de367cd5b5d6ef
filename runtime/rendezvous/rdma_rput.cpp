// rput: the sender writes, once the receiver has said where (CO section II; RV section 4.3, the default of MVAPICH2). Three
// control messages.

#include "runtime/rendezvous/rdma_way.hpp"

namespace sluice {
namespace {

class Rput final : public RdmaProtocol {
 public:
  [[nodiscard]] Rendezvous kind() const override { return Rendezvous::rput; }

  /// RV (2): the receiver answers the sender's first message.
  void begin(RdmaWay& way, Request& receive) const override {
    way.sentinels().set(receive);
    const RemoteMemory here = receive.rdma->memory.remote();
    ClearToSend clear;
    clear.receiver_request = static_cast<std::uint64_t>(receive.id);
    clear.remote_address = here.address;
    clear.remote_key = here.key;
    clear.offset = receive.offset;
    clear.limit = receive.stop;
    clear.delivery = Delivery::rdma_write;
    way.parts().outbox.answer(receive, MessageKind::cts, std::as_bytes(std::span(&clear, 1)));
  }

  /// RV (3): the sender writes ...
  void cleared(RdmaWay& way, Request& send) const override { way.write(send); }

  /// ... and says so (4); this is behind the data in the same queue.
  void all_posted(RdmaWay& way, Request& send) const override { way.parts().outbox.answer(send, MessageKind::fin); }

  /// RV (5): the sender has the completion of its write, and may reuse its buffer.
  void all_complete(RdmaWay& way, Request& send) const override { way.parts().requests.finish(&send); }
};

}  // namespace

const RdmaProtocol& rdma_protocols::rput() {
  static constexpr Rput protocol;
  return protocol;
}

}  // namespace sluice
