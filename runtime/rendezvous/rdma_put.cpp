// put: as putnr, but what is put into the last byte is random, so that whatever the messages of a program end with, only one in
// 256 ends with what is there already (RV section 3.2). One control message, rarely two.

#include "runtime/rendezvous/rdma_putnr.hpp"

namespace sluice {
namespace {

class Put final : public Putnr {
 public:
  [[nodiscard]] Rendezvous kind() const override { return Rendezvous::put; }

 private:
  /// PR1'.
  [[nodiscard]] std::byte first_value(RdmaWay& way) const override { return way.sentinels().random_byte(); }
};

}  // namespace

const RdmaProtocol& rdma_protocols::put() {
  static constexpr Put protocol;
  return protocol;
}

}  // namespace sluice
