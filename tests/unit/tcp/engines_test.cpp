// Two engines over TCP transports on loopback: what arrives, and what a late receiver does to sends.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "runtime/engine.hpp"
#include "runtime/engine/request.hpp"
#include "tcp/transport.hpp"
#include "tests/unit/support/tcp_hosts.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class Process {
 public:
  Process(TcpTransport& transport, Peer self, const Config& config = {})
      : engine({.self = self, .job_size = 2, .transport = &transport, .arena = nullptr, .host = {}, .config = config}),
        world(engine.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, static_cast<Rank>(self))) {}

  Engine engine;
  Context* world;
};

// Nobody ever receives what a process has sent to itself. A peer that has ended is then no news: it left the last call in which
// all meet before this process did.
TEST(EngineOverTcp, that_is_drained_does_not_miss_its_peers) {
  TcpHosts hosts(2);
  std::optional<Process> stays(std::in_place, hosts[0], Peer{0});
  std::array<std::byte, 8> sent{};
  const Request* const never_received =
      stays->engine.start_send(*stays->world, Rank{0}, Tag{0}, std::span<const std::byte>(sent), SendMode::synchronous, here);
  {
    Process leaves(hosts[1], Peer{1});
    std::thread receiving([&] {
      std::array<std::byte, 8> got{};
      leaves.engine.receive(*leaves.world, Rank{0}, Tag{1}, got.data(), got.size(), here);
      leaves.engine.drain();
    });
    stays->engine.send(*stays->world, Rank{1}, Tag{1}, sent.data(), sent.size(), SendMode::standard, here);
    receiving.join();
    stays->engine.drain();
  }
  testing::internal::CaptureStderr();
  hosts.transports[1].reset();
  while (hosts[0].vanished() != Peer{1}) std::this_thread::yield();
  EXPECT_FALSE(never_received->complete);
  stays.reset();  // waits for the helper thread, which reports what it has seen
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

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

TEST_F(LateReceiver, keeps_a_synchronous_send) {
  std::vector<std::byte> buffer = message;
  const std::future<void> sending = send_from(buffer, SendMode::synchronous);
  EXPECT_EQ(sending.wait_for(milliseconds(100)), std::future_status::timeout);
  EXPECT_EQ(received(), message);
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
    while (!done() && Clock::now() < end)
      EXPECT_FALSE(receiver.engine.probes().probe(*receiver.world, Rank{0}, Tag{messages}, found));
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

}  // namespace
}  // namespace sluice
