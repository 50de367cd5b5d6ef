// Reads between processes that have shared memory for everything else (COOP-hca), over a real adapter; skipped where there is
// none. What fails there is told of, and nobody counts as vanished.

#include "tests/unit/support/verbs_fixture.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 100'000;
constexpr Peer peer{1};

class verbs_loopback : public VerbsFixture {
 protected:
  void SetUp() override {
    VerbsFixture::SetUp();
    if (IsSkipped()) return;
    hosts = std::make_unique<VerbsHosts>(2, VerbsTransport::Options{}, VerbsHosts::Peers::node);
    for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<std::byte>(i * 7 + i / 4099);
    there = registered(1, source);
    here = registered(0, target);
  }
  void TearDown() override {
    if (here.handle) host(0).deregister(here);
    if (there.handle && hosts->transports[1]) host(1).deregister(there);
  }

  void connect_for_reads() {
    EXPECT_FALSE(host(0).may_read(peer));
    ASSERT_TRUE(poll_until([&] { return host(0).may_read(peer); }));
  }
  bool read(std::uint64_t token) { return host(0).read(peer, target, here.local_key, remote(there), token); }
  void put_into_error() {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(VerbsLibrary::get().modify_qp(host(0).queue_pair(peer)->get(), &attributes, IBV_QP_STATE), 0);
  }
  [[nodiscard]] bool nobody_vanished() { return host(0).vanished() == Peer{-1} && host(1).vanished() == Peer{-1}; }

  std::vector<std::byte> source = std::vector<std::byte>(bytes);
  std::vector<std::byte> target = std::vector<std::byte>(bytes);
  Registration there;
  Registration here;
};

TEST_F(verbs_loopback, the_first_wish_makes_a_connection_and_reads_bring_the_bytes) {
  connect_for_reads();
  ASSERT_EQ(host(0).loopback(peer), static_cast<Rdma*>(&host(0)));
  ASSERT_TRUE(read(7));
  ASSERT_TRUE(poll_until([&] { return !sinks[0].transferred.empty(); }));
  EXPECT_EQ(sinks[0].transferred, std::vector<std::uint64_t>{7});
  EXPECT_EQ(target, source);
  EXPECT_EQ(host(0).statistics().messages_sent + host(1).statistics().messages_sent, 0u);
}

TEST_F(verbs_loopback, there_is_none_to_itself_or_to_peers_that_only_the_adapter_reaches) {
  EXPECT_EQ(host(0).loopback(Peer{0}), nullptr);
  VerbsHosts others(2);
  EXPECT_EQ(others[0].loopback(peer), nullptr);
}

TEST_F(verbs_loopback, reads_that_a_failed_queue_pair_had_under_way_are_told_of_once_each) {
  connect_for_reads();
  put_into_error();
  ASSERT_TRUE(read(1));
  ASSERT_TRUE(read(2));
  ASSERT_TRUE(read(3));
  ASSERT_TRUE(poll_until([&] { return sinks[0].failed.size() == 3; }));
  EXPECT_EQ(sinks[0].failed, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_TRUE(sinks[0].transferred.empty());
  EXPECT_EQ(host(0).loopback(peer), nullptr);
  EXPECT_FALSE(host(0).may_read(peer));
  // The other side hears the socket end.
  ASSERT_TRUE(poll_until([&] { return host(1).loopback(Peer{0}) == nullptr; }));
  EXPECT_TRUE(nobody_vanished());
}

TEST_F(verbs_loopback, a_read_that_the_peer_does_not_permit_fails_and_nothing_else_does) {
  connect_for_reads();
  const RemoteMemory wrong{there.bytes.begin, there.remote_key + 1};
  ASSERT_TRUE(host(0).read(peer, target, here.local_key, wrong, 9));
  ASSERT_TRUE(poll_until([&] { return !sinks[0].failed.empty(); }));
  EXPECT_EQ(sinks[0].failed, std::vector<std::uint64_t>{9});
  EXPECT_TRUE(nobody_vanished());
}

TEST_F(verbs_loopback, a_peer_that_goes_is_for_shared_memory_to_notice) {
  connect_for_reads();
  host(1).deregister(there);
  there = {};
  hosts->transports[1].reset();
  ASSERT_TRUE(poll_until([&] { return host(0).loopback(peer) == nullptr; }));
  EXPECT_EQ(host(0).vanished(), Peer{-1});
}

}  // namespace
}  // namespace sluice
