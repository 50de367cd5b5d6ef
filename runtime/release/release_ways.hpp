// What releases ask of the ways in which messages travel, passed on to the way that knows it. Owns nothing.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>

#include "runtime/release/releases.hpp"
#include "runtime/rendezvous/node_way.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/rdma_way.hpp"

namespace sluice {

class ReleaseWays final : public Releases::Ways {
 public:
  ReleaseWays(RdmaWay& rdma, NodeWay& node, PutReceiver& put_receiver) : rdma_(rdma), node_(node), put_receiver_(put_receiver) {}

  void look_at_sentinels(Request& receive) override { rdma_.sentinels().look(receive); }
  [[nodiscard]] std::size_t missing_bytes(const Request& receive) const override {
    return node_.delivery().missing_bytes(receive);
  }
  [[nodiscard]] bool can_read_from(const Request& receive) const override { return node_.can_read_from(receive); }
  void withdraw(Request& receive) override { put_receiver_.withdraw(receive); }

 private:
  RdmaWay& rdma_;
  NodeWay& node_;
  PutReceiver& put_receiver_;
};

}  // namespace sluice
