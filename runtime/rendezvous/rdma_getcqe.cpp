// getcqe: the receiver reads, and the adapter's completion queue entry says that everything is there (RV section 2.1). Two
// control messages. GS1, the announcement, is engine/send.cpp's; GS2, its end, is Engine::State::on_fin.

#include "runtime/engine/state.hpp"
#include "runtime/rendezvous/rdma_protocol.hpp"

namespace sluice {
namespace {

class Getcqe final : public RdmaProtocol {
 public:
  [[nodiscard]] Rendezvous kind() const override { return Rendezvous::getcqe; }

  /// GR1.
  void begin(Engine::State& state, Request& receive) const override {
    state.set_sentinels(receive);
    state.read_by_rdma(receive, receive.rdma->adapter->largest_transfer(), unlimited_pieces);
  }

  /// GR2.
  void all_complete(Engine::State& state, Request& receive) const override { state.conclude_read(receive); }
};

}  // namespace

const RdmaProtocol& rdma_protocols::getcqe() {
  static constexpr Getcqe protocol;
  return protocol;
}

}  // namespace sluice
