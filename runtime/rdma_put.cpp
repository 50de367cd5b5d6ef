// put: as putnr, but what is put into the last byte is random, so that whatever the messages of a program end with, only one in
// 256 ends with what is there already (RV section 3.2). One control message, rarely two.

#include "runtime/rdma_putnr.hpp"

namespace sluice {
namespace {

class Put final : public Putnr {
 public:
  [[nodiscard]] Rendezvous kind() const override { return Rendezvous::put; }

 private:
  /// PR1'. The generator is splitmix64 (Steele, Lea, Flood 2014).
  [[nodiscard]] std::byte first_value(Engine::State& state) const override {
    std::uint64_t mixed = state.last_byte_source += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return static_cast<std::byte>(mixed >> 56);
  }
};

}  // namespace

const RdmaProtocol& rdma_protocols::put() {
  static constexpr Put protocol;
  return protocol;
}

}  // namespace sluice
