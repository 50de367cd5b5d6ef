// Verbs transports over a real adapter (in the soft-RoCE guest; skipped where there is none): connections, flow control, waking,
// RDMA, and peers that go.

#include "verbs/transport.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <thread>

#include "tests/unit/support/verbs_fixture.hpp"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class verbs_transport : public VerbsFixture {};

TEST_F(verbs_transport, first_message_opens_the_connection) {
  EXPECT_FALSE(send(host(0), Peer{1}, "hello"));
  ASSERT_TRUE(poll_until([&] { return !sinks[0].room_at.empty(); }));
  EXPECT_EQ(sinks[0].room_at[0], Peer{1});
  ASSERT_TRUE(send(host(0), Peer{1}, "hello"));
  ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == 1; }));
  EXPECT_EQ(sinks[1].messages[0].payload, "hello");
  EXPECT_EQ(sinks[1].messages[0].from, Peer{0});
}

TEST_F(verbs_transport, two_that_call_each_other_end_up_with_one_connection) {
  EXPECT_FALSE(send(host(0), Peer{1}, "from 0"));
  EXPECT_FALSE(send(host(1), Peer{0}, "from 1"));
  ASSERT_TRUE(poll_until([&] { return !sinks[0].room_at.empty() && !sinks[1].room_at.empty(); }));
  EXPECT_EQ(host(0).statistics().connections, 1U);
  EXPECT_EQ(host(1).statistics().connections, 1U);
}

TEST_F(verbs_transport, messages_of_all_sizes_arrive_whole_and_in_order) {
  constexpr std::size_t count = 400;
  const std::size_t max_payload = host(0).max_payload(Peer{1});
  const auto payload_of = [&](std::size_t number) {
    return std::string((number * 977) % max_payload, static_cast<char>('a' + number % 26));
  };
  std::array<std::size_t, 2> sent{};
  ASSERT_TRUE(poll_until([&] {
    for (std::size_t from = 0; from < 2; ++from) {
      const Peer to{static_cast<std::int32_t>(1 - from)};
      while (sent[from] < count && send(host(from), to, payload_of(sent[from]))) ++sent[from];
    }
    return sinks[0].messages.size() == count && sinks[1].messages.size() == count;
  }));
  for (const TransferSink& sink : sinks) {
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sink.messages[i].payload, payload_of(i)) << i;
  }
}

TEST_F(verbs_transport, sender_waits_for_credits_of_a_peer_that_does_not_look) {
  connect();
  std::size_t sent = 0;
  while (send(host(0), Peer{1}, "x")) {
    ++sent;
    host(0).poll(sinks[0]);
  }
  EXPECT_LE(sent, VerbsQueues::window);
  EXPECT_EQ(host(0).statistics().waits_for_credit, 1U);
  sinks[0].room_at.clear();
  ASSERT_TRUE(poll_until([&] { return !sinks[0].room_at.empty(); }));
  EXPECT_GE(host(1).statistics().credit_messages, 1U);
  EXPECT_TRUE(send(host(0), Peer{1}, "y"));
}

TEST_F(verbs_transport, sleeper_is_woken_by_a_message) {
  connect();
  VerbsTransport& sleeper = host(1);
  sleeper.set_wake_mask(WakeMask::sleeper);
  if (sleeper.pending()) {
    sleeper.poll(sinks[1]);
    sleeper.set_wake_mask(WakeMask::sleeper);
  }
  std::thread waker([&] {
    std::this_thread::sleep_for(milliseconds(50));
    send(host(0), Peer{1}, "wake up");
  });
  const auto begin = std::chrono::steady_clock::now();
  sleeper.sleep(seconds(20));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10));
  waker.join();
  ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == 1; }));
}

TEST_F(verbs_transport, no_wake_up_is_lost_in_many_sleeps) {
  connect();
  VerbsTransport& sleeper = host(1);
  for (std::size_t round = 1; round <= 100; ++round) {
    ASSERT_TRUE(poll_until([&] { return send(host(0), Peer{1}, "again"); }));
    while (sinks[1].messages.size() < round) {
      sleeper.set_wake_mask(WakeMask::sleeper);
      if (!sleeper.pending()) {
        const auto begin = std::chrono::steady_clock::now();
        sleeper.sleep(seconds(10));
        ASSERT_LT(std::chrono::steady_clock::now() - begin, seconds(9)) << round;
      }
      sleeper.set_wake_mask(WakeMask::none);
      sleeper.poll(sinks[1]);
    }
    host(0).poll(sinks[0]);
  }
}

TEST_F(verbs_transport, poke_ends_a_sleep) {
  VerbsTransport& sleeper = host(0);
  sleeper.set_wake_mask(WakeMask::sleeper);
  sleeper.poke();
  const auto begin = std::chrono::steady_clock::now();
  sleeper.sleep(seconds(10));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(9));
}

TEST_F(verbs_transport, helper_thread_is_woken_when_the_wake_mask_asks_for_it) {
  connect();
  VerbsTransport& watcher = host(1);
  while (watcher.take_helper_events()) watcher.attend();
  const auto is_woken = [&](int limit_ms) {
    pollfd file{watcher.helper_descriptor(), POLLIN, 0};
    return ::poll(&file, 1, limit_ms) == 1;
  };
  ASSERT_TRUE(send(host(0), Peer{1}, "unheard"));
  EXPECT_FALSE(is_woken(200));
  ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == 1; }));
  watcher.set_wake_mask(WakeMask::rendezvous);
  EXPECT_FALSE(watcher.pending());
  ASSERT_TRUE(send(host(0), Peer{1}, "heard"));
  EXPECT_TRUE(is_woken(10000));
}

TEST_F(verbs_transport, written_bytes_are_in_place_before_a_message_that_follows) {
  std::vector<std::byte> source(100000);
  std::vector<std::byte> target(source.size());
  const Registration from = registered(0, source);
  const Registration to = registered(1, target);
  connect();
  for (int round = 1; round < 20; ++round) {
    std::fill(source.begin(), source.end(), static_cast<std::byte>(round));
    ASSERT_TRUE(poll_until([&] { return host(0).write(Peer{1}, source, from.local_key, remote(to), 0); }));
    sinks[1].messages.clear();
    send_surely(0, 1, "there");
    ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == 1; }));
    ASSERT_EQ(target, source) << round;
  }
  EXPECT_TRUE(sinks[0].transferred.empty());
  host(0).deregister(from);
  host(1).deregister(to);
}

TEST_F(verbs_transport, read_and_write_tell_when_they_are_complete) {
  std::vector<std::byte> own(5000, std::byte{1});
  std::vector<std::byte> theirs(5000, std::byte{2});
  const Registration here = registered(0, own);
  const Registration there = registered(1, theirs);
  ASSERT_TRUE(poll_until([&] { return host(0).read(Peer{1}, own, here.local_key, remote(there), 77); }));
  ASSERT_TRUE(poll_until([&] { return !sinks[0].transferred.empty(); }));
  EXPECT_EQ(own, theirs);
  std::fill(own.begin(), own.end(), std::byte{3});
  ASSERT_TRUE(host(0).write(Peer{1}, own, here.local_key, remote(there), 78));
  ASSERT_TRUE(poll_until([&] { return sinks[0].transferred.size() == 2; }));
  EXPECT_EQ(own, theirs);
  EXPECT_EQ(sinks[0].transferred, (std::vector<std::uint64_t>{77, 78}));
  host(0).deregister(here);
  host(1).deregister(there);
}

TEST_F(verbs_transport, full_queue_refuses_and_tells_when_there_is_room) {
  constexpr std::size_t count = 500;
  std::vector<std::byte> own(count, std::byte{1});
  std::vector<std::byte> theirs(count, std::byte{2});
  const Registration here = registered(0, own);
  const Registration there = registered(1, theirs);
  connect();
  sinks[0].room_at.clear();
  std::size_t posted = 0;
  std::size_t refusals = 0;
  const auto post_one = [&] {
    const std::span<std::byte> place(&own[posted], 1);
    const RemoteMemory source{there.bytes.begin + posted, there.remote_key};
    return host(0).read(Peer{1}, place, here.local_key, source, posted + 1);
  };
  while (posted < count) {
    if (post_one()) {
      ++posted;
      continue;
    }
    ++refusals;
    sinks[0].room_at.clear();
    ASSERT_TRUE(poll_until([&] { return !sinks[0].room_at.empty(); }));
  }
  ASSERT_TRUE(poll_until([&] { return sinks[0].transferred.size() == count; }));
  EXPECT_GT(refusals, 0U);
  EXPECT_EQ(own, theirs);
  std::sort(sinks[0].transferred.begin(), sinks[0].transferred.end());
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sinks[0].transferred[i], i + 1);
  host(0).deregister(here);
  host(1).deregister(there);
}

TEST_F(verbs_transport, alias_of_closed_pages_can_be_written_to) {
  constexpr std::size_t bytes = 16 * page_bytes;
  const Descriptor file(::memfd_create("alias", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), bytes), 0);
  const Mapping closed(::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file.get(), 0), bytes);
  const Mapping alias(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0), bytes);
  std::vector<std::byte> source(bytes, std::byte{42});
  const Registration from = registered(0, source);
  const Registration to = registered(1, {alias.start(), bytes});
  ASSERT_TRUE(poll_until([&] { return host(0).write(Peer{1}, source, from.local_key, remote(to), 1); }));
  ASSERT_TRUE(poll_until([&] { return !sinks[0].transferred.empty(); }));
  ASSERT_EQ(::mprotect(closed.start(), bytes, PROT_READ), 0);
  EXPECT_TRUE(std::all_of(closed.start(), closed.start() + bytes, [](std::byte byte) { return byte == std::byte{42}; }));
  host(0).deregister(from);
  host(1).deregister(to);
}

TEST_F(verbs_transport, memory_that_is_not_there_is_refused_with_its_cause) {
  Registration registration;
  errno = 0;
  EXPECT_FALSE(host(0).register_memory({page_bytes, 3 * page_bytes}, registration));
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(verbs_transport, transfer_that_the_peer_does_not_permit_ends_the_connection_with_its_cause) {
  std::vector<std::byte> bytes(100);
  const Registration here = registered(0, bytes);
  connect();
  ASSERT_TRUE(host(0).write(Peer{1}, bytes, here.local_key, {0x1000, 12345}, 1));
  ASSERT_TRUE(poll_until([&] { return host(0).vanished() == Peer{1}; }));
  EXPECT_NE(std::string(host(0).cause()).find("remote access error"), std::string::npos) << host(0).cause();
  EXPECT_FALSE(send(host(0), Peer{1}, "never"));
  // The other side hears of it by its adapter, or by the end of the socket.
  ASSERT_TRUE(poll_until([&] { return host(1).vanished() == Peer{0}; }));
  EXPECT_TRUE(sinks[0].transferred.empty());
  host(0).deregister(here);
}

class queue_pair_in_error : public verbs_transport {
 protected:
  void SetUp() override {
    verbs_transport::SetUp();
    if (IsSkipped()) return;
    connect();
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(VerbsLibrary::get().modify_qp(host(0).queue_pair(Peer{1})->get(), &attributes, IBV_QP_STATE), 0);
  }
};

TEST_F(queue_pair_in_error, is_noticed_by_who_sends) {
  send_surely(0, 1, std::string(1000, 'x'));
  ASSERT_TRUE(poll_until([&] { return host(0).vanished() == Peer{1}; }));
  EXPECT_NE(std::string(host(0).cause()).find("failed"), std::string::npos) << host(0).cause();
}

TEST_F(queue_pair_in_error, is_noticed_by_the_other_side_that_sends) {
  send_surely(1, 0, std::string(1000, 'x'));
  ASSERT_TRUE(poll_until([&] { return host(1).vanished() == Peer{0}; }));
  EXPECT_NE(std::string(host(1).cause()).find("has not acknowledged anything for 1 s"), std::string::npos) << host(1).cause();
}

TEST_F(verbs_transport, peer_that_goes_is_noticed_though_nothing_is_under_way) {
  connect();
  hosts->transports[1].reset();
  ASSERT_TRUE(poll_until([&] { return host(0).vanished() == Peer{1}; }));
  EXPECT_NE(std::string(host(0).cause()).find("its process ended"), std::string::npos) << host(0).cause();
}

TEST_F(verbs_transport, peer_that_goes_after_the_end_is_no_news) {
  connect();
  host(0).leave();
  hosts->transports[1].reset();
  for (int i = 0; i < 20; ++i) {
    if (host(0).take_helper_events()) host(0).attend();
    host(0).poll(sinks[0]);
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(host(0).vanished(), Peer{-1});
}

}  // namespace
}  // namespace sluice
