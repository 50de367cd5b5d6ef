// Ranks 0 and 1 share a node, rank 2 is elsewhere. The transport of rank 0 is tested; the others use theirs unmixed.

#include "interpose/session/mixed_transport.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string_view>
#include <thread>

#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/shmem_node.hpp"
#include "tests/unit/support/tcp_hosts.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr Peer self{0};
constexpr Peer neighbour{1};
constexpr Peer remote{2};
constexpr std::size_t tcp_eager_limit = 12345;
/// Whoever is not woken sleeps for so long, which no test waits for.
constexpr auto for_ever = 60s;
constexpr auto soon = 20s;

TcpTransport::Options tcp_options() {
  TcpTransport::Options options;
  options.eager_limit = tcp_eager_limit;
  options.hears_for_sleepers = true;
  return options;
}

class MixedTransportTest : public testing::Test {
 protected:
  /// Everybody polls until `done`.
  bool poll_until(const std::function<bool()>& done) {
    const auto end = Clock::now() + soon;
    while (!done() && Clock::now() < end) {
      if (hosts_[0].take_helper_events()) mixed_.attend();
      mixed_.poll(sink_);
      node_[1].poll(at_neighbour_);
      if (!hosts_.transports[2]) continue;
      hosts_.attend(2);
      hosts_[2].poll(at_remote_);
    }
    return done();
  }
  /// There is a connection between this process and the remote one.
  void meet() {
    ASSERT_TRUE(send(mixed_, remote, "hello"));
    ASSERT_TRUE(poll_until([&] { return !at_remote_.messages.empty(); }));
  }

  ShmemNode node_{2};
  TcpHosts hosts_{3, tcp_options()};
  MixedTransport mixed_{node_[0], hosts_[0], {true, true, false}};
  RecordingSink sink_;
  RecordingSink at_neighbour_;
  RecordingSink at_remote_;
};

TEST_F(MixedTransportTest, a_message_goes_by_the_transport_that_reaches_its_peer) {
  ASSERT_TRUE(send(mixed_, neighbour, "to the same node"));
  ASSERT_TRUE(send(mixed_, remote, "to another"));
  ASSERT_TRUE(poll_until([&] { return !at_neighbour_.messages.empty() && !at_remote_.messages.empty(); }));
  EXPECT_EQ(at_neighbour_.messages[0].payload, "to the same node");
  EXPECT_EQ(at_remote_.messages[0].payload, "to another");
  EXPECT_EQ(at_neighbour_.messages[0].from, self);
  EXPECT_EQ(at_remote_.messages[0].from, self);
}

TEST_F(MixedTransportTest, a_poll_delivers_from_both) {
  ASSERT_TRUE(send(node_[1], self, "from neighbour"));
  ASSERT_TRUE(send(hosts_[2], self, "from remote"));
  ASSERT_TRUE(poll_until([&] { return sink_.messages.size() == 2; }));
  EXPECT_EQ(sink_.messages[0].from, neighbour);
  EXPECT_EQ(sink_.messages[1].from, remote);
}

TEST_F(MixedTransportTest, output_to_the_remote_peer_is_held_until_it_has_left) {
  ASSERT_TRUE(send(mixed_, neighbour, "gone at once"));
  EXPECT_FALSE(mixed_.holds_output());
  ASSERT_TRUE(send(mixed_, remote, "waits for its connection"));
  EXPECT_TRUE(mixed_.holds_output());
  ASSERT_TRUE(poll_until([&] { return !at_remote_.messages.empty(); }));
  EXPECT_FALSE(mixed_.holds_output());
}

TEST_F(MixedTransportTest, room_is_told_for_the_peer_that_has_it) {
  while (send(mixed_, neighbour, std::string(1000, 'x'))) {
  }
  ASSERT_TRUE(poll_until([&] { return !sink_.room_at.empty(); }));
  EXPECT_EQ(sink_.room_at, std::vector<Peer>{neighbour});
  sink_.room_at.clear();
  while (send(mixed_, remote, std::string(60000, 'x'))) {
  }
  ASSERT_TRUE(poll_until([&] { return !sink_.room_at.empty(); }));
  EXPECT_EQ(sink_.room_at, std::vector<Peer>{remote});
}

TEST_F(MixedTransportTest, limits_are_those_of_the_peers_transport) {
  EXPECT_EQ(mixed_.eager_limit(neighbour), 0U);
  EXPECT_EQ(mixed_.eager_limit(remote), tcp_eager_limit);
  EXPECT_EQ(mixed_.max_payload(neighbour), node_[0].max_payload(neighbour));
  EXPECT_EQ(mixed_.max_payload(remote), hosts_[0].max_payload(remote));
  EXPECT_NE(mixed_.max_payload(neighbour), mixed_.max_payload(remote));
}

TEST_F(MixedTransportTest, memory_is_shared_with_the_neighbour_and_streams_go_to_the_remote_one) {
  EXPECT_EQ(mixed_.can_write(neighbour), node_[0].can_write(neighbour));
  EXPECT_EQ(mixed_.can_read_blocks(neighbour), node_[0].can_read_blocks(neighbour));
  EXPECT_EQ(mixed_.can_read(neighbour), node_[0].can_read(neighbour));
  EXPECT_TRUE(mixed_.can_read(neighbour));
  EXPECT_FALSE(mixed_.can_write(remote));
  EXPECT_FALSE(mixed_.can_read_blocks(remote));
  EXPECT_FALSE(mixed_.can_read(remote));
  EXPECT_NE(mixed_.wake_mask_of(neighbour), nullptr);
  EXPECT_EQ(mixed_.wake_mask_of(remote), nullptr);
  EXPECT_EQ(mixed_.lane(remote, 0), nullptr);
  EXPECT_FALSE(mixed_.streams_directly(neighbour));
  EXPECT_TRUE(mixed_.streams_directly(remote));
}

TEST_F(MixedTransportTest, a_sleeper_is_woken_by_the_neighbour) {
  mixed_.set_wake_mask(WakeMask::sleeper);
  auto asleep = std::async(std::launch::async, [&] { mixed_.sleep(for_ever); });
  ASSERT_TRUE(send(node_[1], self, "wake up"));
  node_[1].flush_wakeups();
  EXPECT_EQ(asleep.wait_for(soon), std::future_status::ready);
  mixed_.poke();
}

TEST_F(MixedTransportTest, a_sleeper_is_woken_by_the_remote_peer_through_the_helper_thread) {
  meet();
  mixed_.set_wake_mask(WakeMask::sleeper);
  auto asleep = std::async(std::launch::async, [&] { mixed_.sleep(for_ever); });
  auto helper = std::async(std::launch::async, [&] {
    mixed_.sleep_helper();
    mixed_.poke();
  });
  ASSERT_TRUE(send(hosts_[2], self, "wake up"));
  EXPECT_EQ(asleep.wait_for(soon), std::future_status::ready);
  EXPECT_EQ(helper.wait_for(soon), std::future_status::ready);
  mixed_.poke();
  mixed_.wake_helper();
}

TEST_F(MixedTransportTest, a_message_that_was_there_before_the_wake_mask_was_raised_wakes_the_helper_thread) {
  meet();
  ASSERT_TRUE(send(hosts_[2], self, "early"));
  mixed_.set_wake_mask(WakeMask::everything);
  auto helper = std::async(std::launch::async, [&] { mixed_.sleep_helper(); });
  EXPECT_EQ(helper.wait_for(soon), std::future_status::ready);
  mixed_.wake_helper();
}

TEST_F(MixedTransportTest, without_a_wake_mask_nobody_is_woken) {
  meet();
  node_[0].take_helper_events();
  hosts_[0].take_helper_events();
  mixed_.set_wake_mask(WakeMask::none);
  ASSERT_TRUE(send(node_[1], self, "neighbour"));
  ASSERT_TRUE(send(hosts_[2], self, "remote"));
  EXPECT_FALSE(node_[0].take_helper_events());
  EXPECT_FALSE(hosts_[0].take_helper_events());
}

TEST_F(MixedTransportTest, the_helper_thread_is_woken_by_its_own_process) {
  auto helper = std::async(std::launch::async, [&] { mixed_.sleep_helper(); });
  mixed_.wake_helper();
  EXPECT_EQ(helper.wait_for(soon), std::future_status::ready);
}

TEST_F(MixedTransportTest, a_remote_peer_that_is_gone_is_named_with_its_cause) {
  meet();
  EXPECT_EQ(mixed_.vanished(), Peer{-1});
  hosts_.transports[2].reset();
  ASSERT_TRUE(poll_until([&] { return mixed_.vanished() == remote; }));
  EXPECT_NE(std::string_view(mixed_.cause()).find("its connection was closed"), std::string_view::npos);
}

}  // namespace
}  // namespace sluice
