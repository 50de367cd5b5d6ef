// Two engines that a model of two adapters joins, driven by hand in one thread: each test sees the same events in the same order.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/model_adapter.hpp"
#include "tests/unit/support/rendezvous_counts.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {

class RdmaPair {
 public:
  static constexpr CallSite here{1};
  static constexpr Tag tag{3};

  explicit RdmaPair(AdapterKnobs knobs = {}, const Config& config = {}, AliasArena* receiver_blocks = nullptr,
                    AliasArena* sender_blocks = nullptr)
      : network(2, by_hand(knobs)),
        sender(parts(Peer{0}, config, sender_blocks)),
        receiver(parts(Peer{1}, config, receiver_blocks)),
        config_(config) {}
  ~RdmaPair() { network.let_helpers_go(); }
  RdmaPair(const RdmaPair&) = delete;
  RdmaPair& operator=(const RdmaPair&) = delete;

  /// Every message asks first, and goes by that protocol if it can.
  static Config forced(Rendezvous rendezvous) {
    Config config;
    config.rendezvous = rendezvous;
    config.eager_limit = 0;
    config.release = ReleaseMode::off;
    return config;
  }

  static UserBuffer contiguous(std::span<std::byte> data) { return {data.data(), data.size(), Layout::contiguous(1)}; }

  Request* start_send(const UserBuffer& buffer, Tag with = tag) {
    return sender.start_send(*from_, Rank{1}, with, buffer, SendMode::standard, here);
  }
  Request* start_receive(const UserBuffer& buffer, Rank source = Rank{0}, Tag with = tag) {
    return receiver.start_receive(*to_, source, with, buffer, here);
  }

  /// Lets things happen until all of these are complete (true), or nothing happens any more (false).
  bool run(std::span<Request* const> requests) {
    const auto done = [requests] {
      return std::all_of(requests.begin(), requests.end(), [](const Request* r) { return !r || Engine::is_complete(*r); });
    };
    for (;;) {
      settle();
      if (done()) return true;
      if (!network.step() && !wait_in_vain()) return done();
    }
  }
  /// Until nothing happens any more.
  void run_out() {
    do settle();
    while (network.step() || wait_in_vain());
    settle();
  }

  /// One message, receive first; what the receive found.
  Outcome exchange(const UserBuffer& sent, const UserBuffer& received, Rank source = Rank{0}) {
    Request* const receive = start_receive(received, source);
    Request* const send = start_send(sent);
    return end(send, receive);
  }
  /// The same, announced before it is received.
  Outcome exchange_unexpected(const UserBuffer& sent, const UserBuffer& received) {
    Request* const send = start_send(sent);
    run_out();
    Request* const receive = start_receive(received);
    return end(send, receive);
  }

  /// What both have sent so far; `data` says what is particular about the messages.
  [[nodiscard]] RendezvousCounts counts(Rendezvous protocol, const char* data) {
    RendezvousCounts found{.where = "model", .protocol = protocol, .data = data};
    found.rendezvous = receiver.statistics().rdma[static_cast<std::size_t>(protocol)];
    found.last_bytes_seen = receiver.statistics().last_bytes_seen;
    for (const Peer side : {Peer{0}, Peer{1}}) {
      const AdapterCounts by_one = network.counts(side);
      found.add(by_one.messages);
      found.writes += by_one.writes;
      found.reads += by_one.reads;
    }
    return found;
  }
  /// Control messages of both.
  [[nodiscard]] std::size_t control_messages() { return network.counts(Peer{0}).control() + network.counts(Peer{1}).control(); }

  ModelAdapters network;
  Engine sender;
  Engine receiver;

 private:
  /// Whoever waits for an announcement by real time has waited long enough. Whether that led to something.
  bool wait_in_vain() {
    constexpr std::size_t never = 10'000;
    if (!receiver_initiated(config_.rendezvous) || config_.rtr_wait >= never) return false;
    std::this_thread::sleep_for(2 * std::chrono::microseconds(config_.rtr_wait));
    settle();
    return network.step();
  }
  static AdapterKnobs by_hand(AdapterKnobs knobs) {
    knobs.by_hand = true;
    return knobs;
  }
  Engine::Parts parts(Peer self, const Config& config, AliasArena* arena) {
    return one_of_two(self, network.transport(self), config, arena);
  }
  /// As often as one of the two may have something for the other to do at this very moment.
  void settle() {
    constexpr int rounds = 3;
    for (int i = 0; i < rounds; ++i) {
      sender.progress();
      receiver.progress();
    }
  }
  Outcome end(Request* send, Request* receive) {
    const std::array requests{send, receive};
    EXPECT_TRUE(run(requests)) << "stuck";
    if (send) sender.take(send);
    return receiver.take(receive);
  }

  const Config config_;
  Context* from_ = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{0});
  Context* to_ = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{1});
};

inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed = 1) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 7 + i / 251 + seed) & 0xff);
  return data;
}

}  // namespace sluice
