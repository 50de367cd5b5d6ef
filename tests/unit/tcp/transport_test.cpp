// TCP transports over loopback: connections, waking, and peers that go. Two engines over them at the end.

#include "tcp/transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "runtime/engine.hpp"
#include "tcp/system.hpp"
#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/tcp_hosts.hpp"
#include "tests/unit/support/two_ranks.hpp"

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

TEST(tcp_transport, stranger_is_counted_and_changes_nothing) {
  TcpHosts hosts(2);
  RecordingSink at_0;
  RecordingSink at_1;
  const Descriptor talker = connect_to(hosts.endpoints[1]);
  const std::string nonsense(100, 'x');
  ASSERT_EQ(system::send(talker.get(), nonsense.data(), nonsense.size()), static_cast<ssize_t>(nonsense.size()));
  connect_to(hosts.endpoints[1]);  // and one that hangs up at once
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return hosts[1].statistics().strangers == 2; }));

  ASSERT_TRUE(send(hosts[0], Peer{1}, "hello"));
  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 1; }));
  EXPECT_EQ(hosts[1].vanished(), Peer{-1});
}

TEST(tcp_transport, crowd_of_silent_strangers_does_not_keep_a_peer_out) {
  TcpHosts hosts(2);
  RecordingSink at_0;
  RecordingSink at_1;
  std::vector<Descriptor> crowd;
  for (std::size_t i = 0; i < 2 * Reception::most_strangers; ++i) crowd.push_back(connect_to(hosts.endpoints[1]));
  ASSERT_TRUE(send(hosts[0], Peer{1}, "hello"));

  ASSERT_TRUE(hosts.poll_until({&at_0, &at_1}, [&] { return at_1.messages.size() == 1; }));
  EXPECT_GE(hosts[1].statistics().strangers, Reception::most_strangers);
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
  hosts[1].set_attention(Attention::sleeper);
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
  hosts[1].set_attention(Attention::sleeper);
  hosts[1].poke();
  const auto start = Clock::now();
  hosts[1].sleep(std::chrono::seconds(20));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
}

TEST_F(Connected, helper_is_not_woken_while_attention_asks_for_nothing) {
  send(hosts[0], Peer{1}, "unwanted");
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(hosts[1].take_helper_events());
}

TEST_F(Connected, helper_is_woken_once_for_what_was_there_before_attention_was_raised) {
  send(hosts[0], Peer{1}, "there");
  std::this_thread::sleep_for(milliseconds(20));
  hosts[1].set_attention(Attention::rendezvous);
  EXPECT_TRUE(hosts[1].take_helper_events());
  EXPECT_FALSE(hosts[1].take_helper_events());
  hosts[1].set_attention(Attention::rendezvous);
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

// --- two engines -------------------------------------------------------------------------------------------------------

class Process {
 public:
  Process(TcpTransport& transport, Peer self, const Config& config = {})
      : engine({.self = self, .job_size = 2, .transport = &transport, .arena = nullptr, .host = {}, .config = config}),
        world(engine.adopt(ContextId{1}, {Peer{0}, Peer{1}}, static_cast<Rank>(self))) {}

  Engine engine;
  Context* world;
};

class EnginesOverTcp : public testing::TestWithParam<std::size_t> {};

TEST_P(EnginesOverTcp, every_byte_arrives_in_both_directions_at_once) {
  TcpHosts hosts(2);
  const std::size_t bytes = GetParam();
  const auto exchange = [&](Process& process, Rank other, unsigned seed) {
    constexpr int rounds = 5;
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::byte> sent(bytes);
      std::vector<std::byte> got(bytes + 64, std::byte{0x5a});
      for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>((i * 7 + i / 251 + seed) & 0xff);
      Request* send = process.engine.start_send(*process.world, other, Tag{round}, {sent.data(), bytes, Layout::contiguous(1)},
                                                round == 3 ? SendMode::synchronous : SendMode::standard, here);
      const Outcome outcome = process.engine.receive(*process.world, other, Tag{round}, got.data(), got.size(), here);
      EXPECT_EQ(outcome.bytes, bytes);
      if (send) {
        process.engine.wait_all(std::span(&send, 1), here);
        process.engine.take(send);
      }
      for (std::size_t i = 0; i < bytes; ++i) {
        const auto expected = static_cast<std::byte>((i * 7 + i / 251 + (seed ^ 1)) & 0xff);
        ASSERT_EQ(got[i], expected) << "byte " << i << " of round " << round;
      }
      for (std::size_t i = bytes; i < got.size(); ++i) ASSERT_EQ(got[i], std::byte{0x5a});
    }
    process.engine.drain();
  };
  Process first(hosts[0], Peer{0});
  Process second(hosts[1], Peer{1});
  std::thread other([&] { exchange(second, Rank{0}, 1); });
  exchange(first, Rank{1}, 0);
  other.join();
  hosts[0].leave();
  hosts[1].leave();
}

INSTANTIATE_TEST_SUITE_P(Sizes, EnginesOverTcp,
                         testing::Values(0, 8, 4096, 65536, 65537, 65537 + 256, 200'000, 262'144, 263'000, 3'000'001));

struct LateReceiver : testing::Test {
  static constexpr std::size_t bytes = 1'000'003;

  LateReceiver() : message(bytes) {
    for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>((i * 13 + i / 251) & 0xff);
  }
  ~LateReceiver() override {
    hosts[0].leave();
    hosts[1].leave();
  }

  std::future<void> send_from(std::vector<std::byte>& buffer, SendMode mode) {
    return std::async(std::launch::async, [this, &buffer, mode] {
      sender.engine.send(*sender.world, Rank{1}, Tag{0}, buffer.data(), bytes, mode, here);
      std::ranges::fill(buffer, std::byte{0});
    });
  }

  std::vector<std::byte> received() {
    std::vector<std::byte> got(bytes);
    EXPECT_EQ(receiver.engine.receive(*receiver.world, Rank{0}, Tag{0}, got.data(), bytes, here).bytes, bytes);
    return got;
  }

  TcpHosts hosts{2};
  Process sender{hosts[0], Peer{0}};
  Process receiver{hosts[1], Peer{1}};
  std::vector<std::byte> message;
};

TEST_F(LateReceiver, does_not_keep_a_blocked_send_whose_buffer_may_then_be_overwritten) {
  std::vector<std::byte> buffer = message;
  const std::future<void> sending = send_from(buffer, SendMode::standard);
  EXPECT_EQ(sending.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(received(), message);
  sender.engine.drain();
}

// The copy aside begins when the send has waited 250 us.
TEST_F(LateReceiver, may_come_before_during_and_after_the_copy_aside) {
  for (int round = 0; round < 24; ++round) {
    std::vector<std::byte> buffer = message;
    const std::future<void> sending = send_from(buffer, SendMode::standard);
    std::this_thread::sleep_for(std::chrono::microseconds(50 * round));
    EXPECT_EQ(received(), message) << "round " << round;
    sending.wait();
    sender.engine.drain();
  }
}

struct LateForSeveral : testing::Test {
  static constexpr std::size_t bytes = 200'000;  // two of them are within what may be unanswered
  static constexpr int messages = 6;

  ~LateForSeveral() override {
    hosts[0].leave();
    hosts[1].leave();
  }

  /// Nor are sends copied aside.
  static Config without_release() {
    Config made;
    made.release = ReleaseMode::off;
    return made;
  }
  static std::vector<std::byte> message(int number) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      data[i] = static_cast<std::byte>((i * 13 + i / 251 + 31U * static_cast<unsigned>(number)) & 0xff);
    return data;
  }
  /// One message, whose answer takes long: those that follow go whole.
  void be_late() {
    std::vector<std::byte> data = message(0);
    std::thread sending(
        [&] { sender.engine.send(*sender.world, Rank{1}, Tag{0}, data.data(), bytes, SendMode::standard, here); });
    look_until([later = Clock::now() + milliseconds(20)] { return Clock::now() > later; });
    receive(0);
    sending.join();
    sender.engine.drain();
  }
  /// Overwrites each as soon as its call has returned.
  void send_all() {
    for (int number = 0; number < messages; ++number) {
      std::vector<std::byte> data = message(number);
      sender.engine.send(*sender.world, Rank{1}, Tag{number}, data.data(), bytes, SendMode::standard, here);
      std::ranges::fill(data, std::byte{0});
      ++returned;
    }
  }
  /// The receiver looks for messages, but for none that comes.
  void look_until(const std::function<bool()>& done) {
    const auto end = Clock::now() + std::chrono::seconds(20);
    Outcome found;
    while (!done() && Clock::now() < end) EXPECT_FALSE(receiver.engine.probe(*receiver.world, Rank{0}, Tag{messages}, found));
  }
  void receive(int number) {
    std::vector<std::byte> got(bytes);
    receiver.engine.receive(*receiver.world, Rank{0}, Tag{number}, got.data(), bytes, here);
    EXPECT_EQ(got, message(number)) << "message " << number;
  }

  TcpHosts hosts{2};
  const Config config = without_release();
  Process sender{hosts[0], Peer{0}, config};
  Process receiver{hosts[1], Peer{1}, config};
  std::atomic<int> returned{0};
};

TEST_F(LateForSeveral, is_brought_so_many_whole_and_again_as_many_when_it_has_answered) {
  for (int round = 0; round < 2; ++round) {
    be_late();
    returned = 0;
    std::thread sending([this] { send_all(); });
    look_until([this] { return returned == 2; });
    EXPECT_EQ(returned, 2);
    const auto later = Clock::now() + milliseconds(50);
    look_until([later] { return Clock::now() > later; });
    EXPECT_EQ(returned, 2);
    for (int number = 0; number < messages; ++number) receive(number);
    sending.join();
    sender.engine.drain();
  }
}

TEST_F(LateReceiver, keeps_a_synchronous_send) {
  std::vector<std::byte> buffer = message;
  const std::future<void> sending = send_from(buffer, SendMode::synchronous);
  EXPECT_EQ(sending.wait_for(milliseconds(100)), std::future_status::timeout);
  EXPECT_EQ(received(), message);
}

}  // namespace
}  // namespace sluice
