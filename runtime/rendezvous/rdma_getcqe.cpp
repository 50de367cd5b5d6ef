// getcqe: the receiver reads, and the adapter's completion queue entry says that everything is there (RV section 2.1). Two
// control messages. GS1, the announcement, is rts_sender.cpp's; GS2, its end, is the fin (replies.cpp).

#include "runtime/rendezvous/rdma_way.hpp"

namespace sluice {
namespace {

class Getcqe final : public RdmaProtocol {
 public:
  [[nodiscard]] Rendezvous kind() const override { return Rendezvous::getcqe; }

  /// GR1.
  void begin(RdmaWay& way, Request& receive) const override {
    way.sentinels().set(receive);
    way.read(receive, receive.rdma->adapter->largest_transfer(), unlimited_segments);
  }

  /// GR2.
  void all_complete(RdmaWay& way, Request& receive) const override { way.conclude_read(receive); }
};

}  // namespace

const RdmaProtocol& rdma_protocols::getcqe() {
  static constexpr Getcqe protocol;
  return protocol;
}

}  // namespace sluice
