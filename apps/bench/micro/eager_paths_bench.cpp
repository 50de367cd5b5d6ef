// What a small message over verbs costs by each of its two paths: sent, and written into a ring. Both ends in one thread that
// polls them in turn, no MPI, no engine. Needs an adapter; the soft-RoCE guest has one. Prints the median and the best of many
// short batches, since a busy machine only ever makes a batch slower.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/verbs_hosts.hpp"

namespace {

using namespace sluice;
using Clock = std::chrono::steady_clock;

constexpr int batches = 200;
constexpr int rounds = 20;

class CountingSink final : public MessageSink {
 public:
  void on_message(Peer, const WireHeader&, std::span<const std::byte>) override { ++messages; }
  void on_room(Peer) override {}
  std::size_t messages = 0;
};

struct Pair {
  explicit Pair(std::size_t rings) : hosts(2, options(rings)) {}
  static VerbsTransport::Options options(std::size_t rings) {
    VerbsTransport::Options options;
    options.rings = rings;
    return options;
  }
  void one_way(std::size_t from, const std::string& payload) {
    const std::size_t to = 1 - from;
    const std::size_t before = sinks[to].messages;
    const auto there = [&] { return sinks[to].messages != before; };
    const auto gone = [&] { return send(hosts[from], Peer{static_cast<std::int32_t>(to)}, payload); };
    while (!gone()) poll(from);
    while (!there()) poll(to);
  }
  void poll(std::size_t index) {
    for (std::size_t i = 0; i < 2 && !connected; ++i) {
      if (hosts[i].take_helper_events()) hosts[i].attend();
    }
    hosts[index].poll(sinks[index]);
  }

  bool connected = false;  // nothing is left for a helper thread
  VerbsHosts hosts;
  CountingSink sinks[2];
};

void measure(Pair& pair, const char* path, std::size_t bytes) {
  const std::string payload(bytes, 'x');
  std::vector<double> microseconds;
  for (int batch = 0; batch < batches; ++batch) {
    const auto begin = Clock::now();
    for (int round = 0; round < rounds; ++round) {
      for (const std::size_t from : {0U, 1U}) pair.one_way(from, payload);
    }
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / (2 * rounds));
  }
  std::sort(microseconds.begin(), microseconds.end());
  std::printf("%-5s %6zu bytes: median %7.2f us, best %7.2f us\n", path, bytes, microseconds[batches / 2], microseconds[0]);
}

}  // namespace

int main() {
  const std::string why_none = VerbsHosts::why_none();
  if (!why_none.empty()) {
    std::printf("%s\n", why_none.c_str());
    return 77;
  }
  Pair sent(0);
  Pair by_ring(1);
  for (Pair* pair : {&sent, &by_ring}) {
    for (int i = 0; i < 100; ++i) {
      for (const std::size_t from : {0U, 1U}) pair->one_way(from, "small");
    }
    pair->connected = true;
  }
  for (const std::size_t bytes : {8U, 256U, 1024U, 4096U, 16384U}) {
    measure(sent, "sent", bytes);
    measure(by_ring, "ring", bytes);
  }
  const auto counts = by_ring.hosts[0].statistics();
  std::printf("%llu of %llu messages by the ring\n", static_cast<unsigned long long>(counts.ring_messages_sent),
              static_cast<unsigned long long>(counts.messages_sent));
  return 0;
}
