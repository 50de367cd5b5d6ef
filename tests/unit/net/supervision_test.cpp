// Supervision of real connections over loopback. A machine that goes silent is played by a socket filter that drops everything
// at the peer's end: what is sent to it is not acknowledged any more.

#include "net/supervision.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "net/system.hpp"
#include "runtime/base/posix.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr unsigned timeout_seconds = 1;
constexpr auto longer_than_the_timeout = 1500ms;
/// No test waits for so long, unless it fails.
constexpr auto patience = 30s;

class SupervisionTest : public testing::Test {
 protected:
  SupervisionTest() {
    const Descriptor listener(system::socket(AF_INET, SOCK_STREAM));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(system::bind(listener.get(), name, bytes), 0);
    EXPECT_EQ(system::listen(listener.get(), 1), 0);
    EXPECT_EQ(system::name_of(listener.get(), name, &bytes), 0);
    own_ = Descriptor(system::socket(AF_INET, SOCK_STREAM));
    EXPECT_EQ(system::connect(own_.get(), name, bytes), 0);
    peer_ = Descriptor(system::accept(listener.get()));
    tune_socket(own_.get(), timeout_seconds);
  }

  void peer_goes_silent() {
    sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    const sock_fprog program{1, &drop};
    ASSERT_EQ(system::set_option(peer_.get(), SOL_SOCKET, SO_ATTACH_FILTER, program), 0);
  }
  void peer_is_back() { ASSERT_EQ(system::set_option(peer_.get(), SOL_SOCKET, SO_DETACH_FILTER, 0), 0); }

  void send_something() { ASSERT_EQ(system::send(own_.get(), "x", 1), 1); }
  /// Until the peer, which does not read, has no room any more.
  void send_until_full() {
    const std::string much(100'000, 'x');
    pollfd room{own_.get(), POLLOUT, 0};
    while (::poll(&room, 1, 300) > 0) system::send(own_.get(), much.data(), much.size());
  }
  [[nodiscard]] tcp_info info() const {
    tcp_info found{};
    EXPECT_EQ(system::get_option(own_.get(), IPPROTO_TCP, TCP_INFO, found), 0);
    return found;
  }
  template <class Done>
  static bool wait_until(Done done) {
    const auto end = Clock::now() + patience;
    while (!done() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::nanoseconds(step_ns));
    return done();
  }
  bool is_dead() { return supervision_.is_dead(own_.get(), timeout_seconds); }
  bool ever_dead_within(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) {
      if (is_dead()) return true;
      std::this_thread::sleep_for(std::chrono::nanoseconds(step_ns));
    }
    return false;
  }

  static inline const std::uint64_t step_ns = Supervision::interval_ns(timeout_seconds);
  Descriptor own_;
  Descriptor peer_;
  Supervision supervision_;
};

TEST_F(SupervisionTest, an_idle_connection_is_not_dead) { EXPECT_FALSE(ever_dead_within(longer_than_the_timeout)); }

TEST_F(SupervisionTest, a_connection_with_acknowledged_data_is_not_dead) {
  send_something();
  EXPECT_FALSE(ever_dead_within(longer_than_the_timeout));
}

TEST_F(SupervisionTest, a_connection_whose_data_nobody_acknowledges_is_dead) {
  peer_goes_silent();
  send_something();
  EXPECT_FALSE(is_dead());
  EXPECT_TRUE(wait_until([&] { return is_dead(); }));
}

TEST_F(SupervisionTest, a_peer_that_computes_and_takes_nothing_is_not_dead) {
  send_until_full();
  EXPECT_FALSE(ever_dead_within(longer_than_the_timeout));
}

TEST_F(SupervisionTest, a_peer_that_goes_silent_with_no_room_left_is_dead) {
  send_until_full();
  peer_goes_silent();
  EXPECT_TRUE(wait_until([&] { return is_dead(); }));
}

TEST_F(SupervisionTest, an_answer_ends_the_silence) {
  peer_goes_silent();
  send_something();
  ASSERT_TRUE(wait_until([&] { return info().tcpi_retransmits != 0; }));
  EXPECT_FALSE(is_dead());  // the silence has begun
  peer_is_back();
  ASSERT_TRUE(wait_until([&] { return info().tcpi_unacked == 0; }));
  EXPECT_FALSE(is_dead());

  std::this_thread::sleep_for(longer_than_the_timeout);
  peer_goes_silent();
  send_something();
  ASSERT_TRUE(wait_until([&] { return info().tcpi_retransmits != 0; }));
  EXPECT_FALSE(is_dead());  // and this is another one
}

TEST_F(SupervisionTest, it_is_asked_several_times_within_the_timeout) {
  EXPECT_GE(8'000'000'000 / Supervision::interval_ns(8), 4U);
  EXPECT_LE(8'000'000'000 / Supervision::interval_ns(8), 100U);
}

TEST(supervision, a_socket_that_is_not_tcp_is_not_dead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Descriptor one(ends[0]);
  const Descriptor other(ends[1]);
  tune_socket(one.get(), timeout_seconds);
  EXPECT_FALSE(Supervision().is_dead(one.get(), timeout_seconds));
}

TEST(tune_socket, small_messages_leave_at_once_and_keepalive_ends_within_the_timeout) {
  constexpr unsigned seconds = 30;
  const Descriptor socket(system::socket(AF_INET, SOCK_STREAM));
  tune_socket(socket.get(), seconds);
  const auto option = [&](int level, int name) {
    int value = -1;
    EXPECT_EQ(system::get_option(socket.get(), level, name, value), 0);
    return value;
  };
  EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
  const int longest = option(IPPROTO_TCP, TCP_KEEPIDLE) + option(IPPROTO_TCP, TCP_KEEPCNT) * option(IPPROTO_TCP, TCP_KEEPINTVL);
  EXPECT_LE(longest, static_cast<int>(seconds));
  EXPECT_GT(longest, static_cast<int>(seconds) / 2);
}

}  // namespace
}  // namespace sluice
