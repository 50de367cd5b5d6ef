// Small messages that are written into rings, over a real adapter (in the soft-RoCE guest; skipped where there is none): both
// paths in one order, room, sleeping, and who gets a ring.

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "runtime/trace/file.hpp"
#include "runtime/trace/trace.hpp"
#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/trace_reading.hpp"
#include "tests/unit/support/verbs_hosts.hpp"

namespace sluice {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr Peer zero{0};
constexpr Peer one{1};

class verbs_ring : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_none = VerbsHosts::why_none();
    if (!why_none.empty()) GTEST_SKIP() << why_none;
  }
  void make_hosts(std::size_t size = 2, std::size_t rings = 4, bool in_order = true) {
    VerbsTransport::Options options;
    options.rings = rings;
    options.places_in_order = in_order;
    hosts = std::make_unique<VerbsHosts>(size, options);
  }
  bool poll_until(const std::function<bool()>& done) {
    std::vector<MessageSink*> all;
    for (std::size_t i = 0; i < hosts->transports.size(); ++i) all.push_back(&sinks[i]);
    return hosts->poll_until(all, done);
  }
  void send_surely(std::size_t from, Peer to, const std::string& payload, MessageKind kind = MessageKind::eager) {
    ASSERT_TRUE(poll_until([&] { return send(host(from), to, payload, kind, 1); }));
  }
  /// So many small messages, each taken before the next one is sent.
  void talk(std::size_t from, std::size_t to, std::size_t messages) {
    for (std::size_t i = 0; i < messages; ++i) {
      send_surely(from, Peer{static_cast<std::int32_t>(to)}, "small");
      const std::size_t before = sinks[to].messages.size();
      ASSERT_TRUE(poll_until([&] { return sinks[to].messages.size() > before; }));
    }
  }
  /// Until messages from 0 to 1 go by the ring.
  void get_a_ring() {
    ASSERT_TRUE(poll_until([&] {
      send(host(0), one, "small");
      return host(0).statistics().ring_messages_sent != 0;
    }));
    settle();
  }
  /// Everything that was sent is there.
  void settle() {
    const auto sent = [&] { return host(0).statistics().messages_sent; };
    ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == sent(); }));
  }
  VerbsTransport& host(std::size_t index) { return (*hosts)[index]; }

  std::unique_ptr<VerbsHosts> hosts;
  std::array<RecordingSink, 4> sinks;
};

TEST_F(verbs_ring, a_peer_that_sends_small_messages_gets_one) {
  make_hosts();
  talk(0, 1, eager_ring::first_use - 1);
  EXPECT_EQ(host(1).statistics().rings_opened, 0U);
  talk(0, 1, 10);
  EXPECT_EQ(host(1).statistics().rings_opened, 1U);
  EXPECT_GE(host(0).statistics().ring_messages_sent, 5U);
}

TEST_F(verbs_ring, an_adapter_that_places_out_of_order_has_none) {
  make_hosts(2, 4, false);
  talk(0, 1, 3 * eager_ring::first_use);
  EXPECT_EQ(host(1).statistics().rings_opened, 0U);
  EXPECT_EQ(host(0).statistics().ring_messages_sent, 0U);
}

TEST_F(verbs_ring, messages_of_all_sizes_and_kinds_arrive_whole_and_in_order_by_both_paths) {
  constexpr std::size_t count = 600;
  make_hosts();
  const std::size_t max_payload = host(0).max_payload(one);
  const auto payload_of = [&](std::size_t number) {
    return std::string((number * 977) % max_payload, static_cast<char>('a' + number % 26));
  };
  const auto kind_of = [](std::size_t number) { return number % 5 == 3 ? MessageKind::data : MessageKind::eager; };
  std::array<std::size_t, 2> sent{};
  ASSERT_TRUE(poll_until([&] {
    for (std::size_t from = 0; from < 2; ++from) {
      const Peer to{static_cast<std::int32_t>(1 - from)};
      while (sent[from] < count && send(host(from), to, payload_of(sent[from]), kind_of(sent[from]), 1)) ++sent[from];
    }
    return sinks[0].messages.size() == count && sinks[1].messages.size() == count;
  }));
  for (std::size_t to = 0; to < 2; ++to) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(sinks[to].messages[i].payload, payload_of(i)) << i;
      ASSERT_EQ(sinks[to].messages[i].header.kind, kind_of(i)) << i;
    }
    EXPECT_GT(host(1 - to).statistics().ring_messages_sent, count / 10);
    EXPECT_LT(host(1 - to).statistics().ring_messages_sent, count);
  }
}

TEST_F(verbs_ring, a_full_ring_gives_way_to_the_other_path_and_room_comes_back) {
  make_hosts();
  get_a_ring();
  const auto before = host(0).statistics();
  std::size_t sent = 0;
  while (send(host(0), one, std::to_string(sent))) {
    ++sent;
    host(0).poll(sinks[0]);
  }
  const auto after = host(0).statistics();
  EXPECT_GE(after.ring_messages_sent - before.ring_messages_sent, eager_ring::slots / 2);
  EXPECT_LE(after.ring_messages_sent - before.ring_messages_sent, eager_ring::slots);
  EXPECT_EQ(after.waits_for_credit - before.waits_for_credit, 1U);
  sinks[1].messages.clear();
  ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == sent; }));
  for (std::size_t i = 0; i < sent; ++i) EXPECT_EQ(sinks[1].messages[i].payload, std::to_string(i));
  ASSERT_TRUE(poll_until([&] {
    send(host(0), one, "again");
    return host(0).statistics().ring_messages_sent > after.ring_messages_sent;
  }));
}

TEST_F(verbs_ring, a_sleeper_is_woken_by_a_small_message) {
  make_hosts();
  get_a_ring();
  VerbsTransport& sleeper = host(1);
  for (int look = 0; look < 1000; ++look) {  // until the rings are closed
    sleeper.set_wake_mask(WakeMask::sleeper);
    sleeper.sleep(microseconds(1000));
    sleeper.poll(sinks[1]);
  }
  EXPECT_EQ(sleeper.statistics().rings_closed, 1U);
  const std::size_t before = sinks[1].messages.size();
  sleeper.set_wake_mask(WakeMask::sleeper);
  ASSERT_FALSE(sleeper.pending());
  std::thread waker([&] {
    std::this_thread::sleep_for(microseconds(50000));
    send(host(0), one, "wake up");
  });
  const auto begin = Clock::now();
  sleeper.sleep(seconds(20));
  EXPECT_LT(Clock::now() - begin, seconds(10));
  waker.join();
  ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == before + 1; }));
}

// Two threads: one sends at any moment and looks at nothing but room, the other sleeps whenever there is nothing.
TEST_F(verbs_ring, no_wake_up_is_lost_whenever_a_message_comes) {
  constexpr std::size_t count = 1500;
  make_hosts();
  get_a_ring();
  const std::size_t before = sinks[1].messages.size();
  std::atomic<bool> all_sent{false};
  std::thread sender([&] {
    std::mt19937 random(7);
    for (std::size_t i = 0; i < count; ++i) {
      while (!send(host(0), one, std::to_string(i))) host(0).poll(sinks[0]);
      if (random() % 8 == 0) std::this_thread::sleep_for(microseconds(random() % 2000));
    }
    // The receiver's grants are still to be taken.
    for (int look = 0; look < 100; ++look) host(0).poll(sinks[0]);
    all_sent = true;
  });
  VerbsTransport& sleeper = host(1);
  auto longest = Clock::duration::zero();
  while (sinks[1].messages.size() < before + count && longest < seconds(9)) {
    sleeper.set_wake_mask(WakeMask::sleeper);
    if (!sleeper.pending()) {
      const auto begin = Clock::now();
      sleeper.sleep(seconds(10));
      longest = std::max(longest, Clock::now() - begin);
    }
    sleeper.set_wake_mask(WakeMask::none);
    for (int look = 0; look < 50; ++look) sleeper.poll(sinks[1]);
  }
  while (!all_sent) sleeper.poll(sinks[1]);  // after a sleep that was too long
  sender.join();
  EXPECT_LT(longest, seconds(9));
  ASSERT_EQ(sinks[1].messages.size(), before + count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sinks[1].messages[before + i].payload, std::to_string(i));
  EXPECT_GT(sleeper.statistics().rings_closed, 1U);
  EXPECT_GT(sleeper.statistics().rings_opened, 1U);
}

TEST_F(verbs_ring, the_helper_thread_is_woken_for_rendezvous_and_not_for_small_messages) {
  make_hosts();
  get_a_ring();
  VerbsTransport& watcher = host(1);
  const auto is_woken = [&](int limit_ms) {
    pollfd file{watcher.helper_descriptor(), POLLIN, 0};
    return ::poll(&file, 1, limit_ms) == 1;
  };
  while (watcher.take_helper_events()) watcher.attend();
  watcher.set_wake_mask(WakeMask::rendezvous);
  EXPECT_FALSE(watcher.pending());
  ASSERT_TRUE(send(host(0), one, "unheard"));
  EXPECT_FALSE(is_woken(200));
  EXPECT_TRUE(watcher.pending());
  ASSERT_TRUE(send(host(0), one, "heard", MessageKind::data, 1));
  EXPECT_TRUE(is_woken(10000));
}

TEST_F(verbs_ring, the_helper_thread_is_woken_by_every_message_if_it_asks_for_that) {
  make_hosts();
  get_a_ring();
  VerbsTransport& watcher = host(1);
  for (int look = 0; look < 200; ++look) {  // until the ring is closed, which its answer tells
    watcher.set_wake_mask(WakeMask::everything);
    std::this_thread::sleep_for(microseconds(1000));
    if (watcher.take_helper_events()) watcher.attend();
    watcher.poll(sinks[1]);
  }
  watcher.set_wake_mask(WakeMask::everything);
  ASSERT_FALSE(watcher.pending());
  ASSERT_TRUE(send(host(0), one, "heard"));
  pollfd file{watcher.helper_descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&file, 1, 10000), 1);
}

/// Answers each message by a small one, which brings the room that the message has left.
class AnsweringSink final : public MessageSink {
 public:
  explicit AnsweringSink(VerbsTransport& by) : by_(by) {}
  void on_message(Peer from, const WireHeader&, std::span<const std::byte>) override { answers += send(by_, from, "answer"); }
  void on_room(Peer) override {}
  std::size_t answers = 0;

 private:
  VerbsTransport& by_;
};

TEST_F(verbs_ring, room_that_small_messages_bring_wakes_the_helper_thread_of_who_waits_for_it) {
  make_hosts();
  talk(1, 0, 2 * eager_ring::first_use);
  ASSERT_GT(host(1).statistics().ring_messages_sent, 0U);
  VerbsTransport& waiting = host(0);
  while (send(waiting, one, "data", MessageKind::data, 1)) waiting.poll(sinks[0]);
  for (int look = 0; look < 200; ++look) {  // until the ring is closed
    waiting.set_wake_mask(WakeMask::rendezvous);
    std::this_thread::sleep_for(microseconds(1000));
    if (waiting.take_helper_events()) waiting.attend();
    waiting.poll(sinks[0]);
  }
  waiting.set_wake_mask(WakeMask::rendezvous);
  ASSERT_FALSE(waiting.pending());
  EXPECT_GT(waiting.statistics().rings_closed, 0U);
  AnsweringSink answering(host(1));
  while (answering.answers < VerbsQueues::window / 2) host(1).poll(answering);
  pollfd file{waiting.helper_descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&file, 1, 10000), 1);
  sinks[0].room_at.clear();
  while (sinks[0].room_at.empty()) waiting.poll(sinks[0]);
  EXPECT_TRUE(send(waiting, one, "data", MessageKind::data, 1));
}

TEST_F(verbs_ring, the_trace_is_told_of_its_opening_and_closing) {
  const std::filesystem::path directory = std::filesystem::temp_directory_path() / ("sluice-rings-" + std::to_string(getpid()));
  trace::open({.directory = directory, .limit_bytes = trace::File::min_bytes, .size = 1});
  make_hosts();
  get_a_ring();
  host(1).set_wake_mask(WakeMask::sleeper);
  trace::close();
  const trace::ReadTrace told = trace::read_trace(directory / "rank-000000.trace");
  std::filesystem::remove_all(directory);
  ASSERT_EQ(told.count(), 2U);
  const trace::Record& opened = told.records.at(0)[0];
  const trace::Record& closed = told.records.at(0)[1];
  EXPECT_EQ(opened.kind, static_cast<std::uint16_t>(trace::Kind::ring));
  EXPECT_EQ(opened.detail, static_cast<std::uint16_t>(trace::RingEvent::opened));
  EXPECT_EQ(opened.peer, 0);
  EXPECT_EQ(closed.detail, static_cast<std::uint16_t>(trace::RingEvent::closed));
  EXPECT_EQ(closed.value, host(0).statistics().ring_messages_sent);
}

TEST_F(verbs_ring, one_that_is_silent_goes_to_a_peer_that_sends) {
  make_hosts(3, 1);
  talk(1, 0, 2 * eager_ring::first_use);
  EXPECT_GT(host(1).statistics().ring_messages_sent, 0U);
  talk(2, 0, 2 * eager_ring::first_use);
  EXPECT_EQ(host(2).statistics().ring_messages_sent, 0U);
  talk(2, 0, eager_ring::silence + 2 * eager_ring::first_use);
  EXPECT_GT(host(2).statistics().ring_messages_sent, 0U);
  EXPECT_EQ(host(0).statistics().rings_moved, 1U);
  const auto before = host(1).statistics().ring_messages_sent;
  talk(1, 0, 2 * eager_ring::first_use);
  EXPECT_EQ(host(1).statistics().ring_messages_sent, before);
  talk(1, 0, eager_ring::silence + 2 * eager_ring::first_use);
  EXPECT_GT(host(1).statistics().ring_messages_sent, before);
  EXPECT_EQ(host(0).statistics().rings_moved, 2U);
}

// --- rings that are damaged, and peers that die ----------------------------------------------------------------------------

class verbs_ring_fault : public verbs_ring {
 protected:
  void SetUp() override {
    verbs_ring::SetUp();
    if (IsSkipped()) return;
    make_hosts();
    get_a_ring();
  }
  /// The number of the message that process 1 waits for.
  std::uint32_t next_number() {
    const auto counts = host(0).statistics();
    return static_cast<std::uint32_t>(counts.messages_sent + counts.credit_messages);
  }
  /// Into the slot that comes next, up to its end, past everything that the transport of process 0 does.
  void write_as_it_is(std::span<const std::uint64_t> words) {
    const RemoteMemory ring = host(0).ring_of(one);
    ASSERT_NE(ring.address, 0U);
    const std::uint64_t end =
        ring.address + (host(0).statistics().ring_messages_sent % eager_ring::slots + 1) * verbs_slot::bytes;
    ibv_sge segment{reinterpret_cast<std::uintptr_t>(words.data()), static_cast<std::uint32_t>(words.size_bytes()), 0};
    ibv_send_wr request{};
    request.wr_id = SendQueue::mark;
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_INLINE;
    request.wr.rdma.remote_addr = end - words.size_bytes();
    request.wr.rdma.rkey = ring.key;
    ibv_send_wr* refused = nullptr;
    ASSERT_EQ(ibv_post_send(host(0).queue_pair(one)->get(), &request, &refused), 0);
  }
  static std::uint64_t last_word(std::uint32_t bytes, std::uint32_t number) { return bytes | std::uint64_t{number} << 32; }
  void expect_verdict(const std::string& expected) {
    ASSERT_TRUE(poll_until([&] { return host(1).vanished() == zero; }));
    EXPECT_EQ(std::string(host(1).cause()).substr(0, expected.size()), expected);
  }
};

TEST_F(verbs_ring_fault, a_length_that_no_message_has_is_told_with_its_numbers) {
  const std::uint32_t number = next_number();
  write_as_it_is(std::array{last_word(5, number)});
  expect_verdict("what it wrote into its ring is no message: message " + std::to_string(number) + " of 5 bytes, where message " +
                 std::to_string(number) + " should be");
}

TEST_F(verbs_ring_fault, a_number_that_no_message_can_have_is_told) {
  const std::uint32_t number = next_number();
  write_as_it_is(std::array{last_word(100, number + 1'000'000)});
  expect_verdict("what it wrote into its ring is no message: message " + std::to_string(number + 1'000'000) + " of 100 bytes");
}

TEST_F(verbs_ring_fault, what_tells_of_a_message_that_is_not_there_is_noticed) {
  write_as_it_is(std::array<std::uint64_t, 6>{0, 0, 0, 0, 0, last_word(verbs_slot::overhead, next_number())});
  expect_verdict("what it sent is no message: it has two numbers");
}

TEST_F(verbs_ring_fault, a_peer_that_dies_is_noticed_by_who_was_about_to_close_its_ring) {
  hosts->transports[0].reset();
  host(1).set_wake_mask(WakeMask::sleeper);
  ASSERT_TRUE(poll_until([&] { return host(1).vanished() == zero; }));
  EXPECT_NE(std::string(host(1).cause()).find("its process ended"), std::string::npos) << host(1).cause();
  host(1).set_wake_mask(WakeMask::sleeper);
  EXPECT_FALSE(host(1).pending());
}

}  // namespace
}  // namespace sluice
