// TCP transports over loopback: connections, waking, and peers that go.

#include "tcp/transport.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "net/system.hpp"
#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/tcp_hosts.hpp"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

Descriptor connect_to(const TcpEndpoint& endpoint) {
  const SocketAddress address = to_sockaddr(endpoint.addresses[0], endpoint.ports[0]);
  Descriptor socket(system::socket(AF_INET, SOCK_STREAM));
  EXPECT_EQ(system::connect(socket.get(), address.get(), address.bytes), 0);
  return socket;
}

TEST(tcp_transport, first_message_opens_the_connection) {
  TcpHosts hosts(2);
  RecordingSink at_0;
  RecordingSink at_1;
  ASSERT_TRUE(send(hosts[0], Peer{1}, "hello"));
  EXPECT_TRUE(hosts[0].holds_output());

  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 1; }));
  EXPECT_EQ(at_1.messages[0].payload, "hello");
  EXPECT_EQ(at_1.messages[0].from, Peer{0});
  EXPECT_FALSE(hosts[0].holds_output());
}

TEST(tcp_transport, two_that_call_each_other_at_the_same_time_end_up_with_one_connection) {
  for (int round = 0; round < 50; ++round) {
    TcpHosts hosts(2);
    RecordingSink at_0;
    RecordingSink at_1;
    ASSERT_TRUE(send(hosts[1], Peer{0}, "from 1"));
    if (round % 2 != 0) hosts.attend(1);
    ASSERT_TRUE(send(hosts[0], Peer{1}, "from 0"));
    ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_0.messages.size() == 1 && at_1.messages.size() == 1; }));
    EXPECT_EQ(hosts[0].statistics().connections, 1U);
    EXPECT_EQ(hosts[1].statistics().connections, 1U);
    EXPECT_EQ(hosts[0].vanished(), Peer{-1});
    EXPECT_EQ(hosts[1].vanished(), Peer{-1});
  }
}

TEST(tcp_transport, many_peers_are_served_in_one_poll) {
  constexpr std::size_t size = 6;
  TcpHosts hosts(size);
  std::vector<RecordingSink> sinks(size);
  std::vector<MessageSink*> all;
  for (auto& sink : sinks) all.push_back(&sink);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t from = 0; from < size; ++from) {
      for (std::size_t to = 0; to < size; ++to) {
        if (from == to) continue;
        ASSERT_TRUE(send(hosts[from], Peer{static_cast<std::int32_t>(to)}, std::to_string(round)));
      }
    }
  }
  const auto everything = [&] {
    return std::all_of(sinks.begin(), sinks.end(),
                       [](const RecordingSink& sink) { return sink.messages.size() == 20 * (size - 1); });
  };
  ASSERT_TRUE(hosts.poll_until(all, everything));
  for (const RecordingSink& sink : sinks) {
    std::vector<int> last(size, -1);
    for (const auto& message : sink.messages) {
      EXPECT_EQ(std::stoi(message.payload), ++last[static_cast<std::size_t>(message.from)]);
    }
  }
}

TEST(tcp_transport, unauthenticated_caller_is_counted_and_changes_nothing) {
  TcpHosts hosts(2);
  RecordingSink at_0;
  RecordingSink at_1;
  const Descriptor talker = connect_to(hosts.endpoints[1]);
  const std::string nonsense(100, 'x');
  ASSERT_EQ(system::send(talker.get(), nonsense.data(), nonsense.size()), static_cast<ssize_t>(nonsense.size()));
  connect_to(hosts.endpoints[1]);  // and one that hangs up at once
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return hosts[1].statistics().rejected == 2; }));

  ASSERT_TRUE(send(hosts[0], Peer{1}, "hello"));
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 1; }));
  EXPECT_EQ(hosts[1].vanished(), Peer{-1});
}

TEST(tcp_transport, crowd_of_silent_callers_does_not_keep_a_peer_out) {
  TcpHosts hosts(2);
  RecordingSink at_0;
  RecordingSink at_1;
  std::vector<Descriptor> crowd;
  for (std::size_t i = 0; i < 2 * Connector::max_unauthenticated; ++i) crowd.push_back(connect_to(hosts.endpoints[1]));
  ASSERT_TRUE(send(hosts[0], Peer{1}, "hello"));

  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 1; }));
  EXPECT_GE(hosts[1].statistics().rejected, Connector::max_unauthenticated);
}

TEST(tcp_transport, room_is_told_when_a_slow_peer_reads_on) {
  TcpHosts hosts(2);
  RecordingSink at_0;
  RecordingSink at_1;
  ASSERT_TRUE(send(hosts[0], Peer{1}, "first"));
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 1; }));
  std::size_t sent = 1;
  while (send(hosts[0], Peer{1}, std::string(60000, 'x'))) ++sent;
  EXPECT_TRUE(at_0.room_at.empty());

  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == sent && !at_0.room_at.empty(); }));
  EXPECT_EQ(at_0.room_at[0], Peer{1});
  EXPECT_FALSE(hosts[0].holds_output());
}

class Connected : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(send(hosts[0], Peer{1}, "first"));
    ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 1; }));
    while (hosts[1].take_helper_events()) hosts[1].attend();
  }

  TcpHosts hosts{2};
  RecordingSink at_0;
  RecordingSink at_1;
};

TEST_F(Connected, sleeper_is_woken_by_a_message) {
  hosts[1].forget_pokes();
  hosts[1].set_wake_mask(WakeMask::sleeper);
  const auto start = Clock::now();
  std::jthread sender([&] {
    std::this_thread::sleep_for(milliseconds(20));
    send(hosts[0], Peer{1}, "wake");
  });
  hosts[1].sleep(std::chrono::seconds(20));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
}

TEST_F(Connected, poke_before_the_sleep_is_not_lost) {
  hosts[1].forget_pokes();
  hosts[1].set_wake_mask(WakeMask::sleeper);
  hosts[1].poke();
  const auto start = Clock::now();
  hosts[1].sleep(std::chrono::seconds(20));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
}

TEST_F(Connected, helper_is_not_woken_while_the_wake_mask_asks_for_nothing) {
  send(hosts[0], Peer{1}, "unwanted");
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(hosts[1].take_helper_events());
}

TEST_F(Connected, helper_is_woken_once_for_what_was_there_before_the_wake_mask_was_raised) {
  send(hosts[0], Peer{1}, "there");
  std::this_thread::sleep_for(milliseconds(20));
  hosts[1].set_wake_mask(WakeMask::rendezvous);
  EXPECT_TRUE(hosts[1].take_helper_events());
  EXPECT_FALSE(hosts[1].take_helper_events());
  hosts[1].set_wake_mask(WakeMask::rendezvous);
  EXPECT_TRUE(hosts[1].take_helper_events());
}

TEST_F(Connected, peer_that_goes_has_vanished) {
  hosts.transports[0].reset();
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return hosts[1].vanished() == Peer{0}; }));
  EXPECT_NE(std::string(hosts[1].cause()).find("closed"), std::string::npos) << hosts[1].cause();
}

TEST_F(Connected, after_leave_the_end_of_a_connection_is_no_news) {
  hosts[1].leave();
  hosts.transports[0].reset();
  for (int i = 0; i < 100; ++i) hosts[1].poll(at_1);
  EXPECT_EQ(hosts[1].vanished(), Peer{-1});
}

TEST_F(Connected, peer_that_said_goodbye_has_not_vanished) {
  hosts[0].say_goodbye();
  hosts.transports[0].reset();
  for (int i = 0; i < 100; ++i) {
    hosts.attend(1);
    hosts[1].poll(at_1);
  }
  EXPECT_EQ(hosts[1].vanished(), Peer{-1});
}

TEST_F(Connected, goodbye_comes_after_what_was_said_before) {
  ASSERT_TRUE(send(hosts[0], Peer{1}, "last words"));
  hosts[0].say_goodbye();
  hosts.transports[0].reset();
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 2; }));
  EXPECT_EQ(at_1.messages[1].payload, "last words");
}

TEST_F(Connected, goodbye_is_heard_although_sending_has_failed_before) {
  hosts[0].say_goodbye();
  hosts.transports[0].reset();
  for (int i = 0; i < 3; ++i) send(hosts[1], Peer{0}, "to nobody");  // the second is answered by a reset
  EXPECT_TRUE(hosts[1].pending());
  for (int i = 0; i < 100; ++i) {
    hosts.attend(1);
    hosts[1].poll(at_1);
  }
  EXPECT_EQ(hosts[1].vanished(), Peer{-1});
}

TEST_F(Connected, no_goodbye_is_said_inside_a_frame) {
  const std::vector<std::byte> much(1 << 20);
  while (hosts[0].stream(Peer{1}, 1, much) == Connection::frame_bytes) {
  }
  hosts[0].say_goodbye();
  hosts.transports[0].reset();
  EXPECT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return hosts[1].vanished() == Peer{0}; }));
}

TEST(tcp_transport, connection_that_opens_after_the_goodbye_hears_it_too) {
  TcpHosts hosts(2);
  RecordingSink at_0;
  RecordingSink at_1;
  ASSERT_TRUE(send(hosts[0], Peer{1}, "hello"));
  hosts[1].say_goodbye();
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return hosts[1].statistics().connections == 1; }));
  hosts.transports[1].reset();
  for (int i = 0; i < 100; ++i) {
    hosts.attend(0);
    hosts[0].poll(at_0);
  }
  EXPECT_EQ(hosts[0].vanished(), Peer{-1});
}

TEST(tcp_transport, peer_that_said_goodbye_and_whose_job_goes_on_is_an_error_after_the_timeout) {
  TcpTransport::Options options;
  options.timeout_seconds = 1;
  TcpHosts hosts(2, options);
  RecordingSink at_0;
  RecordingSink at_1;
  ASSERT_TRUE(send(hosts[0], Peer{1}, "hello"));
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 1; }));
  hosts[0].say_goodbye();
  hosts.transports[0].reset();
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return hosts[1].vanished() == Peer{0}; }));
  EXPECT_NE(std::string(hosts[1].cause()).find("MPI_Abort"), std::string::npos) << hosts[1].cause();
}

TEST(tcp_transport, peer_that_cannot_be_reached_is_an_error_with_address_and_cause) {
  TcpTransport::Options options;
  options.timeout_seconds = 1;
  TcpHosts hosts(2, options);
  RecordingSink at_0;
  hosts.transports[1].reset();
  ASSERT_TRUE(send(hosts[0], Peer{1}, "hello"));

  ASSERT_TRUE(hosts.poll_until({&at_0, nullptr}, [&] { return hosts[0].vanished() == Peer{1}; }));
  const std::string cause = hosts[0].cause();
  EXPECT_NE(cause.find("127.0.0.1 port"), std::string::npos) << cause;
  EXPECT_NE(cause.find("refused"), std::string::npos) << cause;
}

}  // namespace
}  // namespace sluice
