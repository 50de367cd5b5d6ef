// One process of a job that a model of adapters joins, as RdmaWay sees it. Control messages do not go through the model: they are
// written down, and what follows is the test's to do.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "runtime/rendezvous/rdma_way.hpp"
#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/model_adapter.hpp"

namespace sluice {

class RdmaSide : public EngineBelow, public RdmaWay::Writer, public MessageSink {
 public:
  RdmaSide(ModelAdapters& network, Peer self, const Config& how)
      : EngineBelow(self, network.transport(self), how),
        transport(network.transport(self)),
        way({job, registrations, transfers, statistics, blocks, users, outbox, requests, matches, ways, unasked}) {
    way.set_writer(*this);
    above.on_end = [this](Request& request) {
      if (request.rdma) transfers.end(request);
    };
  }
  virtual ~RdmaSide() = default;

  /// What has come to it by now.
  void poll() {
    transport.poll(*this);
    way.work();
  }
  [[nodiscard]] const std::vector<RecordingTransport::Sent>& answers() const { return sent.sent; }

  void posted(Request&) override {}
  void on_message(Peer, const WireHeader&, std::span<const std::byte>) override {}
  void on_transferred(std::uint64_t token) override { transfers.on_transferred(token); }
  void on_room(Peer) override { way.on_room(); }

  Transport& transport;
  Unasked unasked{job.size};
  RdmaWay way;
};

}  // namespace sluice
