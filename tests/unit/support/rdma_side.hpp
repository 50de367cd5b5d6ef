// One process of a job that a model of adapters joins, as RdmaWay sees it: what the way asks of the engine is written down, and
// done by the test.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "runtime/rendezvous/rdma_way.hpp"
#include "tests/unit/support/model_adapter.hpp"

namespace sluice {

class RdmaSide : public RdmaWay::Host, public MessageSink {
 public:
  struct Answer {
    const Request* request;
    MessageKind kind;
    std::vector<std::byte> payload;

    template <class T>
    [[nodiscard]] T as() const {
      T value;
      std::memcpy(&value, payload.data(), sizeof value);
      return value;
    }
  };

  RdmaSide(ModelAdapters& network, Peer self, const Config& how)
      : transport(network.transport(self)),
        job({.self = self, .job_size = 2, .transport = &transport, .host = {}, .config = how}),
        transfers(&transport),
        way(*this, {job, registrations, transfers, statistics}) {}
  virtual ~RdmaSide() = default;

  Request& request(Request::Kind kind, Peer peer, std::span<std::byte> data) {
    Request& made = requests.emplace_back();
    made.kind = kind;
    made.peer = peer;
    made.data = data.data();
    made.bytes = data.size();
    made.id = static_cast<RequestId>(requests.size());
    return made;
  }
  /// What has come to it by now.
  void poll() {
    transport.poll(*this);
    way.work();
  }
  [[nodiscard]] bool is_finished(const Request& request) const {
    return std::find(finished.begin(), finished.end(), &request) != finished.end();
  }

  bool in_alias_block(ByteRange) override { return false; }
  [[nodiscard]] bool releases() const override { return false; }
  void fall_back(const Request&, Fallback reason) override { fallbacks.push_back(reason); }
  void answer(const Request& request, MessageKind kind, std::span<const std::byte> payload) override {
    answers.push_back({&request, kind, {payload.begin(), payload.end()}});
  }
  void finish(Request& request) override {
    finished.push_back(&request);
    if (request.rdma) transfers.end(request);
  }
  void begin_again(Request& receive) override { begun_again.push_back(&receive); }
  void put_posted(Request& send) override { on_put_posted(send); }
  void tell_match() override {}
  void tell_choice(const Request&, trace::Protocol, trace::Reason) override {}

  void on_message(Peer, const MessageHeader&, std::span<const std::byte>) override {}
  void on_transferred(std::uint64_t token) override { transfers.on_transferred(token); }
  void on_room(Peer) override { way.on_room(); }

  Transport& transport;
  const Job job;
  EngineStatistics statistics;
  JobRegistrations registrations{nullptr, {~std::size_t{0}, ~std::size_t{0}}};
  std::deque<Request> requests;
  RdmaTransfers transfers;
  RdmaWay way;
  std::vector<Answer> answers;
  std::vector<const Request*> finished;
  std::vector<const Request*> begun_again;
  std::vector<Fallback> fallbacks;
  std::function<void(Request&)> on_put_posted = [](Request&) {};
};

}  // namespace sluice
