// How connections end over a real adapter (in the soft-RoCE guest; skipped where there is none): peers that end the job, peers
// that die in the middle of a transfer, and a completion queue that is full.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/verbs_hosts.hpp"

namespace sluice {
namespace {

using std::chrono::milliseconds;

constexpr Peer zero{0};
constexpr Peer one{1};

class TransferSink final : public RecordingSink {
 public:
  void on_transferred(std::uint64_t token) override { transferred.push_back(token); }
  std::vector<std::uint64_t> transferred;
};

class verbs_end : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_none = VerbsHosts::why_none();
    if (!why_none.empty()) GTEST_SKIP() << why_none;
    hosts = std::make_unique<VerbsHosts>(2);
    ASSERT_TRUE(poll_until([&] { return send(host(0), one, "first"); }));
    ASSERT_TRUE(poll_until([&] { return !sinks[1].messages.empty(); }));
  }
  bool poll_until(const std::function<bool()>& done) { return hosts->poll_until({&sinks[0], &sinks[1]}, done); }
  VerbsTransport& host(std::size_t index) { return (*hosts)[index]; }
  Registration registered(std::size_t index, std::span<std::byte> bytes) {
    Registration registration;
    EXPECT_TRUE(host(index).register_memory(ByteRange::of(bytes.data(), bytes.size()), registration));
    return registration;
  }
  void watch_for_a_while() {
    for (int look = 0; look < 100; ++look) {
      if (host(0).take_helper_events()) host(0).attend();
      host(0).poll(sinks[0]);
      std::this_thread::sleep_for(milliseconds(5));
    }
  }

  std::unique_ptr<VerbsHosts> hosts;
  std::array<TransferSink, 2> sinks;
};

TEST_F(verbs_end, a_peer_that_says_goodbye_has_not_vanished) {
  host(1).say_goodbye();
  hosts->transports[1].reset();
  watch_for_a_while();
  EXPECT_EQ(host(0).vanished(), Peer{-1});
}

TEST_F(verbs_end, a_goodbye_counts_though_the_queue_pair_is_the_first_to_tell) {
  std::vector<std::byte> bytes(100);
  const Registration here = registered(0, bytes);
  host(1).say_goodbye();
  // The adapter's complaint about a transfer that the peer does not permit stands for any other.
  ASSERT_TRUE(host(0).write(one, bytes, here.local_key, {0x1000, 12345}, 1));
  for (int look = 0; look < 100; ++look) {
    host(0).poll(sinks[0]);
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(host(0).vanished(), Peer{-1});
  EXPECT_FALSE(send(host(0), one, "never"));
  host(0).deregister(here);
}

TEST_F(verbs_end, who_says_goodbye_and_stays_is_heard_on) {
  host(1).say_goodbye();
  watch_for_a_while();
  ASSERT_TRUE(poll_until([&] { return send(host(1), zero, "still here"); }));
  ASSERT_TRUE(poll_until([&] { return !sinks[0].messages.empty(); }));
}

TEST_F(verbs_end, a_peer_that_dies_in_the_middle_of_transfers_is_noticed_with_its_cause) {
  constexpr std::size_t piece = 8 << 20;
  std::vector<std::byte> own(piece, std::byte{1});
  std::vector<std::byte> theirs(piece, std::byte{2});
  const Registration here = registered(0, own);
  const Registration there = registered(1, theirs);
  const RemoteMemory remote{there.bytes.begin, there.remote_key};
  std::uint64_t posted = 0;
  while (host(0).write(one, own, here.local_key, remote, posted + 1)) ++posted;
  host(0).poll(sinks[0]);
  ASSERT_LT(sinks[0].transferred.size(), posted);
  host(1).deregister(there);
  hosts->transports[1].reset();
  ASSERT_TRUE(poll_until([&] { return host(0).vanished() == one; }));
  EXPECT_NE(std::string(host(0).cause()).find("its process ended"), std::string::npos) << host(0).cause();
  // Nothing more is said to be complete that is not, and nothing more is taken.
  watch_for_a_while();
  EXPECT_LT(sinks[0].transferred.size(), posted);
  EXPECT_FALSE(host(0).write(one, own, here.local_key, remote, 1));
  host(0).deregister(here);
}

TEST_F(verbs_end, a_completion_queue_that_is_full_ends_its_connections_with_the_cause) {
  ibv_qp* const queue_pair = host(0).queue_pair(one)->get();
  constexpr std::uint64_t number_of_none = SendQueue::mark | (SendQueue::mark - 1);
  // Writes of nothing, each with an entry that nobody takes.
  const auto post_one = [&] {
    ibv_send_wr request{};
    request.wr_id = number_of_none;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(queue_pair, &request, &bad) == 0;
  };
  for (int attempt = 0; attempt < 2000 && host(0).vanished() != one; ++attempt) {
    if (!post_one()) std::this_thread::sleep_for(milliseconds(1));
    if (host(0).take_helper_events()) host(0).attend();
  }
  ASSERT_EQ(host(0).vanished(), one);
  EXPECT_NE(std::string(host(0).cause()).find("the adapter of this process failed"), std::string::npos) << host(0).cause();
}

}  // namespace
}  // namespace sluice
