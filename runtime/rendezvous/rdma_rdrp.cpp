// rdrp: the announcement brings the first bytes, the receiver reads the rest in chunks of SLUICE_RDRP_CHUNK, of which at most
// SLUICE_RDRP_OUTSTANDING are under way (RD section 3.2: c). Two control messages. A receiver that is slow asks for less, instead
// of having more on its way than it can take; and the completions of the chunks say which pages are there, while the rest still
// comes.
//
// RD tells pending sends of the same envelope apart by nonce bits, and fetches in order when these run out. Here the
// announcement names the sender's request, with a generation (RequestPool), and the memory to be read is named by address and
// key: nothing runs out.

#include "runtime/rendezvous/rdma_way.hpp"

namespace sluice {
namespace {

class Rdrp final : public RdmaProtocol {
 public:
  [[nodiscard]] Rendezvous kind() const override { return Rendezvous::rdrp; }

  /// The first c gets of the sequence; each that completes makes room for the next one.
  void begin(RdmaWay& way, Request& receive) const override {
    const std::size_t chunk = std::min(way.parts().job.config.rdrp_chunk, receive.rdma->adapter->largest_transfer());
    way.read(receive, chunk, way.parts().job.config.rdrp_outstanding);
  }

  void all_complete(RdmaWay& way, Request& receive) const override { way.conclude_read(receive); }
};

}  // namespace

const RdmaProtocol& rdma_protocols::rdrp() {
  static constexpr Rdrp protocol;
  return protocol;
}

}  // namespace sluice
