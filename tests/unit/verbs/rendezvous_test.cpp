// The rendezvous protocols over a real adapter (in the soft-RoCE guest; skipped where there is none): two engines in this
// process, so that what both send is counted exactly.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/rendezvous_counts.hpp"
#include "tests/unit/support/verbs_hosts.hpp"

namespace sluice {
namespace {

constexpr CallSite call{1};
constexpr Tag tag{3};
constexpr std::size_t message_bytes = 20'000;
constexpr std::size_t messages = 200;
constexpr std::size_t many_messages = 1000;  // for what happens once in 256 of them
constexpr std::chrono::seconds max_time{60};

/// Every message asks first, and goes by that protocol if it can.
Config forced(Rendezvous rendezvous) {
  Config config;
  config.rendezvous = rendezvous;
  config.eager_limit = 0;
  config.rtr_wait = 1'000'000;  // nobody is late, but everything is slow where instructions are emulated
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
    const auto end = std::chrono::steady_clock::now() + max_time;
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
  Context* from_ = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{0});
  Context* to_ = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{1});
};

class RendezvousOverVerbs : public testing::TestWithParam<Rendezvous> {
 protected:
  void SetUp() override {
    const std::string why_none = VerbsHosts::why_none();
    if (!why_none.empty()) GTEST_SKIP() << why_none;
  }
  /// So many messages; `byte_of` says what each consists of. The connection is there by then: to make one takes longer than a
  /// sender waits for an announcement.
  template <class ByteOf>
  static RendezvousCounts exchange_all(VerbsPair& pair, std::size_t number, const char* data, ByteOf byte_of) {
    std::vector<std::byte> sent(message_bytes);
    std::vector<std::byte> got(message_bytes);
    sent.back() = got.back() = std::byte{1};
    pair.exchange(sent, got);
    const RendezvousCounts before = pair.counts(GetParam(), data);
    for (std::size_t i = 0; i < number; ++i) {
      std::fill(sent.begin(), sent.end(), static_cast<std::byte>(byte_of(i)));
      std::fill(got.begin(), got.end(), ~sent.back());
      pair.exchange(sent, got);
      EXPECT_EQ(got, sent) << "message " << i;
    }
    RendezvousCounts counts = pair.counts(GetParam(), data);
    counts.forget(before);
    counts.print();
    EXPECT_EQ(counts.rendezvous, number);
    EXPECT_EQ(counts.of(MessageKind::data), 0u);
    return counts;
  }
};
const auto name_of_protocol = [](const auto& instance) { return name_of(instance.param); };

class SenderFirst : public RendezvousOverVerbs {};
INSTANTIATE_TEST_SUITE_P(Protocols, SenderFirst,
                         testing::Values(Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get, Rendezvous::rdrp),
                         name_of_protocol);

TEST_P(SenderFirst, takes_the_protocols_own_number_of_messages) {
  VerbsPair pair(GetParam());
  const RendezvousCounts counts = exchange_all(pair, messages, "any", [](std::size_t i) { return i; });
  const bool writes = GetParam() == Rendezvous::rput;
  EXPECT_EQ(counts.control(), (writes ? 3 : 2) * messages);
  EXPECT_EQ(counts.writes, writes ? messages : 0);
  EXPECT_EQ(counts.reads, writes ? 0 : messages);
  if (GetParam() != Rendezvous::get) {
    EXPECT_EQ(counts.last_bytes_seen, 0u);
  }
}

class ReceiverFirst : public RendezvousOverVerbs {
 protected:
  static void expect_one_and_one_for_each_equal_byte(const RendezvousCounts& counts, std::uint64_t equal) {
    EXPECT_EQ(counts.of(MessageKind::rtr), counts.rendezvous);
    EXPECT_EQ(counts.of(MessageKind::fin), equal);
    EXPECT_EQ(counts.control(), counts.rendezvous + equal);
    EXPECT_EQ(counts.writes, counts.rendezvous);
    EXPECT_EQ(counts.last_bytes_seen, counts.rendezvous - equal);
  }
};
INSTANTIATE_TEST_SUITE_P(Protocols, ReceiverFirst, testing::Values(Rendezvous::putnr, Rendezvous::put), name_of_protocol);

TEST_P(ReceiverFirst, takes_one_message_and_one_more_for_each_equal_byte) {
  VerbsPair pair(GetParam());
  const RendezvousCounts counts = exchange_all(pair, many_messages, "any", [](std::size_t i) { return i; });
  expect_one_and_one_for_each_equal_byte(counts, pair.sender.statistics().last_bytes_equal);
  EXPECT_LE(pair.sender.statistics().last_bytes_equal, many_messages / 200);
}

/// putnr's constant: its worst case, which put is made for. The bound in the long run is shown on the model
/// (rendezvous/put_test).
TEST_P(ReceiverFirst, meets_messages_that_all_end_with_zero) {
  VerbsPair pair(GetParam());
  const RendezvousCounts counts = exchange_all(pair, many_messages, "zero", [](std::size_t) { return 0; });
  const std::uint64_t equal = pair.sender.statistics().last_bytes_equal;
  expect_one_and_one_for_each_equal_byte(counts, equal);
  if (GetParam() == Rendezvous::putnr) {
    EXPECT_EQ(equal, counts.rendezvous);
  } else {
    EXPECT_LE(equal, many_messages / 200);
  }
}

}  // namespace
}  // namespace sluice
