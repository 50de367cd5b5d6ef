// The engine's rooms below a way of large messages, for the tests of ways: the real classes over a transport that writes down
// what leaves; and in place of all other ways one that writes down what is left to it.
//
// What they do is told in one list, in its order: "cts", "refuse 4096", "fin", "fin of chunks", "finish" (of an operation),
// "again 0 to 4096 by stream" (another way has it now), and before what came of it "fall back 3".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/causality.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/rendezvous/rdma_transfers.hpp"
#include "runtime/rendezvous/ways.hpp"
#include "tests/unit/support/recording_transport.hpp"

namespace sluice {

/// What the engine's room asks of those above it, and few tests look at.
struct RoomsAbove : Outbox::Host, Requests::Host, Causality::Sink, Matcher::Host {
  void eager_sent(Request* send) override { sent.push_back(send); }
  void end_elsewhere(Request& request) override {
    if (on_end) on_end(request);
  }
  void drop(Context*) override {}
  void send_held(Request& send) override { let_go.push_back(&send); }
  void begin_held(Request& receive) override { let_go.push_back(&receive); }
  void acknowledge_held(Peer, std::uint64_t, std::uint32_t) override {}
  void leave_rtrs(Request& receive) override { left.push_back(&receive); }
  void begin_transfer(Request* receive, std::size_t coming) override { begun.emplace_back(receive, coming); }

  std::function<void(Request&)> on_end;
  std::vector<Request*> sent;
  std::vector<Request*> let_go;
  std::vector<Request*> left;
  std::vector<std::pair<Request*, std::size_t>> begun;
};

/// Takes what the others leave.
class OtherWay final : public Way {
 public:
  std::function<void(const Request&)> on_begin;

  [[nodiscard]] Bid bid(const Request&, std::size_t) const override { return {2}; }
  bool begin(Request& receive, std::size_t) override {
    if (on_begin) on_begin(receive);
    return true;
  }
  [[nodiscard]] bool delivers(Delivery delivery) const override { return delivery == Delivery::stream; }
  void cleared(Request&, const ClearToSend&) override {}
  [[nodiscard]] bool carries(const Request& request) const override { return request.way == Request::Way::stream; }
};

class EngineBelow {
 public:
  /// `transport`: of the job; what leaves goes into `sent`, not there.
  EngineBelow(Peer self, Transport& transport, const Config& config = {}, AliasArena* arena = nullptr)
      : job(parts(self, transport, config, arena)), sending_(parts(self, sent, config, nullptr)) {
    sent.on_sent = [this](const RecordingTransport::Sent& message) { note(message); };
    sent.on_poke = [this] { happened_.emplace_back("finish"); };
    other.on_begin = [this](const Request& receive) {
      begun_again.push_back(&receive);
      happened_.push_back("again " + std::to_string(receive.offset) + " to " + std::to_string(receive.stop) +
                          (receive.way == Request::Way::stream ? " by stream" : ""));
    };
  }

  Request& request(Request::Kind kind, Peer peer, std::span<std::byte> data) {
    const auto rank = static_cast<Rank>(peer);
    const CallSite site{1};
    Request& made = kind == Request::Kind::send ? *requests.new_send(world, rank, Tag{3}, SendMode::standard, site)
                                                : *requests.new_receive(world, rank, Tag{3}, site);
    made.peer = peer;
    made.data = data.data();
    made.bytes = data.size();
    return made;
  }
  /// What has happened since the last time.
  std::vector<std::string> news() {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < statistics.fallbacks.size(); ++i) {
      for (; fallbacks_told_[i] < statistics.fallbacks[i]; ++fallbacks_told_[i]) all.push_back("fall back " + std::to_string(i));
    }
    all.insert(all.end(), happened_.begin(), happened_.end());
    happened_.clear();
    return all;
  }
  /// The last message of that kind.
  template <class T>
  [[nodiscard]] T last(MessageKind kind) const {
    for (auto message = sent.sent.rbegin(); message != sent.sent.rend(); ++message) {
      if (message->header.kind == kind) return message->as<T>();
    }
    return {};
  }
  [[nodiscard]] std::size_t fallbacks(Fallback reason) const { return statistics.fallbacks[static_cast<std::size_t>(reason)]; }

  const Job job;
  RecordingTransport sent;

 private:
  const Job sending_;

 public:
  EngineStatistics statistics;
  RoomsAbove above;
  MatchTrace matches{job.config};
  Sleepers sleepers{&sent, 1};  // it hears of every end
  Outbox outbox{sending_, sleepers, matches, above};
  JobRegistrations registrations{job.arena, {~std::size_t{0}, ~std::size_t{0}}};
  MemoryUsers users{job, registrations, matches};
  AliasBlocks blocks{job.arena, users};
  RdmaTransfers transfers{job.transport};
  Requests requests{job, statistics, sleepers, above};
  Causality causality{above};
  Matcher matcher{job, requests, outbox, causality, matches, above};
  Context& world = matcher.adopt(ContextId{1}, {Peer{0}, Peer{1}}, static_cast<Rank>(job.self));
  MessageLines lines{{job.calibration, job.caches, job.oversubscribed}, job.transport, job.size};
  OtherWay other;
  std::size_t sge_sends = 0;
  Ways ways{{job, requests, lines, sge_sends}, {&other}};
  std::vector<const Request*> begun_again;

 private:
  static EngineParts parts(Peer self, Transport& transport, const Config& config, AliasArena* arena) {
    return {.self = self,
            .job_size = 2,
            .processors = {.processes = 2, .processors = 2, .own = 1},
            .transport = &transport,
            .arena = arena,
            .host = {},
            .config = config};
  }
  void note(const RecordingTransport::Sent& message) {
    switch (message.header.kind) {
      case MessageKind::cts:
        happened_.emplace_back("cts");
        return;
      case MessageKind::refuse:
        happened_.push_back("refuse " + std::to_string(message.as<Refusal>().offset));
        return;
      case MessageKind::fin:
        happened_.emplace_back((message.header.flags & flag_of_chunks) != 0 ? "fin of chunks" : "fin");
        return;
      default:
        return;
    }
  }

  std::vector<std::string> happened_;
  std::array<std::uint64_t, static_cast<std::size_t>(Fallback::count)> fallbacks_told_{};
};

}  // namespace sluice
