// The rendezvous protocols over a real adapter (in the soft-RoCE guest; skipped where there is none): two engines in this
// process, so that what both send is counted exactly.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "runtime/engine.hpp"
#include "runtime/statistics.hpp"
#include "tests/unit/support/rendezvous_counts.hpp"
#include "tests/unit/support/verbs_hosts.hpp"

namespace sluice {
namespace {

constexpr CallSite call{1, "test"};
constexpr Tag tag{3};
constexpr std::size_t message_bytes = 20'000;
constexpr std::size_t messages = 200;
constexpr std::chrono::seconds most_time{60};

/// Every message asks first, and goes by that protocol if it can.
Config forced(Rendezvous rendezvous) {
  Config config;
  config.rendezvous = rendezvous;
  config.eager_limit = 0;
  config.release = ReleaseMode::off;
  return config;
}

class VerbsPair {
 public:
  explicit VerbsPair(Rendezvous rendezvous)
      : hosts_(2), sender(parts(Peer{0}, forced(rendezvous))), receiver(parts(Peer{1}, forced(rendezvous))) {}

  /// One message, receive first.
  void exchange(std::vector<std::byte>& sent, std::vector<std::byte>& got) {
    Request* const receive = receiver.start_receive(*to_, Rank{0}, tag, contiguous(got), call);
    Request* const send = sender.start_send(*from_, Rank{1}, tag, contiguous(sent), SendMode::standard, call);
    const auto end = std::chrono::steady_clock::now() + most_time;
    while ((send && !Engine::is_complete(*send)) || !Engine::is_complete(*receive)) {
      sender.progress();
      receiver.progress();
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "stuck";
    }
    if (send) sender.take(send);
    EXPECT_EQ(receiver.take(receive).bytes, sent.size());
  }

  [[nodiscard]] RendezvousCounts counts(Rendezvous protocol, const char* data) {
    RendezvousCounts found{.where = "verbs", .protocol = protocol, .data = data};
    found.rendezvous = receiver.statistics().rdma[static_cast<std::size_t>(protocol)];
    found.last_bytes_seen = receiver.statistics().last_bytes_seen;
    for (std::size_t i = 0; i < 2; ++i) {
      const VerbsTransport::Statistics by_one = hosts_[i].statistics();
      found.add(by_one.sent_of_kind);
      found.writes += by_one.writes;
      found.reads += by_one.reads;
    }
    return found;
  }

 private:
  static UserBuffer contiguous(std::vector<std::byte>& data) { return {data.data(), data.size(), Layout::contiguous(1)}; }
  Engine::Parts parts(Peer self, const Config& config) {
    Engine::Parts parts;
    parts.self = self;
    parts.job_size = 2;
    parts.transport = &hosts_[static_cast<std::size_t>(self)];
    parts.config = config;
    return parts;
  }

  VerbsHosts hosts_;

 public:
  Engine sender;
  Engine receiver;

 private:
  Context* from_ = sender.adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{0});
  Context* to_ = receiver.adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{1});
};

class RendezvousOverVerbs : public testing::TestWithParam<Rendezvous> {
 protected:
  void SetUp() override {
    const std::string why_none = VerbsHosts::why_none();
    if (!why_none.empty()) GTEST_SKIP() << why_none;
  }
};

INSTANTIATE_TEST_SUITE_P(Protocols, RendezvousOverVerbs,
                         testing::Values(Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get, Rendezvous::rdrp),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(RendezvousOverVerbs, takes_the_protocols_own_number_of_messages) {
  const Rendezvous protocol = GetParam();
  VerbsPair pair(protocol);
  std::vector<std::byte> sent(message_bytes);
  std::vector<std::byte> got(message_bytes);
  for (std::size_t i = 0; i < messages; ++i) {
    std::fill(sent.begin(), sent.end(), static_cast<std::byte>(i));
    pair.exchange(sent, got);
    ASSERT_EQ(got, sent) << "message " << i;
  }

  const RendezvousCounts counts = pair.counts(protocol, "any");
  counts.print();
  const bool writes = protocol == Rendezvous::rput;
  EXPECT_EQ(counts.rendezvous, messages);
  EXPECT_EQ(counts.control(), (writes ? 3 : 2) * messages);
  EXPECT_EQ(counts.of(MessageKind::data), 0u);
  EXPECT_EQ(counts.writes, writes ? messages : 0);
  EXPECT_EQ(counts.reads, writes ? 0 : messages);
  if (protocol != Rendezvous::get) {
    EXPECT_EQ(counts.last_bytes_seen, 0u);
  }
}

}  // namespace
}  // namespace sluice
