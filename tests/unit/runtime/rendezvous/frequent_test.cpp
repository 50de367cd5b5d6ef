// Small messages straight from the program's memory, on the model of an adapter.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/watched_memory.hpp"
#include "runtime/registration/frequent_sends.hpp"
#include "runtime/registration/registration_cache.hpp"
#include "tests/unit/support/rdma_pair.hpp"
#include "tests/unit/support/thread_beside.hpp"
#include "tests/unit/support/traced.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

constexpr std::size_t plenty_of_mappings = 1000;
constexpr std::size_t bytes = 3000;
constexpr Peer sender_side{0};

Config frequent(FrequentChoice which, std::size_t share = 0) {
  Config config;
  config.release = ReleaseMode::off;
  config.frequent_sends = which;
  config.frequent_share = share;
  return config;
}

class Frequent : public testing::Test {
 protected:
  Frequent() : memory_(map(nullptr, 0)), buffer_(memory_, bytes) {}
  ~Frequent() override { ::munmap(memory_, memory_bytes); }

  static std::byte* map(void* at, int flags) {
    return static_cast<std::byte*>(::mmap(at, memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));
  }
  void open(FrequentChoice which, const AdapterKnobs& knobs = {}) { pair_.emplace(knobs, frequent(which), nullptr, &arena_); }
  void fill(unsigned seed) {
    const auto data = pattern(buffer_.size(), seed);
    std::copy(data.begin(), data.end(), buffer_.begin());
  }
  /// Sends the buffer with these contents; whether they arrived.
  bool exchange(unsigned seed) {
    fill(seed);
    std::vector<std::byte> got(buffer_.size());
    pair_->exchange(RdmaPair::contiguous(buffer_), RdmaPair::contiguous(got));
    return got == pattern(buffer_.size(), seed);
  }
  std::size_t sge_sends() { return pair_->network.counts(sender_side).sge_sends; }

  static constexpr std::size_t memory_bytes = 4 * page_bytes;
  std::byte* memory_;
  std::span<std::byte> buffer_;
  AliasArena arena_{plenty_of_mappings};
  std::optional<RdmaPair> pair_;
};

TEST_F(Frequent, a_buffer_that_comes_back_is_registered_once_and_leaves_without_a_copy) {
  open(FrequentChoice::nonblocking);
  for (unsigned i = 0; i < 10; ++i) EXPECT_TRUE(exchange(i)) << i;
  EXPECT_EQ(sge_sends(), 9u);
  EXPECT_EQ(pair_->sender.statistics().sge_sends, 9u);
  EXPECT_EQ(pair_->network.counts(sender_side).registrations, 1u);
  pair_->run_out();
  EXPECT_EQ(pair_->network.counts(sender_side).told_work, 0) << "it is of large messages";
}

TEST_F(Frequent, its_send_is_complete_when_the_adapter_has_read_the_memory) {
  open(FrequentChoice::nonblocking);
  exchange(1);
  fill(2);
  Request* const send = pair_->start_send(RdmaPair::contiguous(buffer_));
  ASSERT_NE(send, nullptr);
  EXPECT_FALSE(Engine::is_complete(*send));
  pair_->run_out();
  ASSERT_TRUE(Engine::is_complete(*send));
  pair_->sender.take(send);
  fill(3);
  std::vector<std::byte> got(bytes);
  Request* const receive = pair_->start_receive(RdmaPair::contiguous(got));
  EXPECT_TRUE(pair_->run(std::array{receive}));
  pair_->receiver.take(receive);
  EXPECT_EQ(got, pattern(bytes, 2));
}

TEST_F(Frequent, memory_that_was_given_back_is_not_sent_for_what_lies_at_its_address_now) {
  open(FrequentChoice::nonblocking);
  for (unsigned i = 0; i < 3; ++i) exchange(i);
  for (unsigned i = 3; i < 20; ++i) {
    ASSERT_EQ(::munmap(memory_, memory_bytes), 0);
    ASSERT_EQ(map(memory_, MAP_FIXED_NOREPLACE), memory_);
    EXPECT_TRUE(exchange(i)) << i;
  }
}

TEST_F(Frequent, buffers_in_one_page_are_told_apart) {
  open(FrequentChoice::nonblocking);
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < 4; ++i) {
      buffer_ = {memory_ + i * std::size_t{700}, 700};
      EXPECT_TRUE(exchange(10 * round + i));
    }
  }
  EXPECT_EQ(sge_sends(), 8u);
}

TEST_F(Frequent, messages_that_go_inline_and_those_that_ask_first_are_not_counted) {
  open(FrequentChoice::nonblocking);
  buffer_ = {memory_, FrequentSends::min_sge_bytes - 1};
  for (unsigned i = 0; i < 5; ++i) EXPECT_TRUE(exchange(i));
  buffer_ = {memory_, memory_bytes};
  for (unsigned i = 0; i < 5; ++i) EXPECT_TRUE(exchange(i));
  EXPECT_EQ(sge_sends(), 0u);
}

TEST_F(Frequent, memory_that_cannot_be_registered_is_copied) {
  open(FrequentChoice::nonblocking, {.registrations = 0});
  for (unsigned i = 0; i < 10; ++i) EXPECT_TRUE(exchange(i)) << i;
  EXPECT_EQ(sge_sends(), 0u);
}

TEST_F(Frequent, the_trace_tells_which_messages_left_without_their_copy) {
  open(FrequentChoice::nonblocking);
  const Traced traced;
  for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(exchange(i));
  pair_->run_out();
  EXPECT_EQ(traced.of(trace::Kind::post_send),
            (Lines{"post_send at once 3000", "post_send gathered 3000", "post_send gathered 3000"}));
  EXPECT_EQ(traced.of(trace::Kind::frequent), Lines{"frequent 3000"});
}

TEST_F(Frequent, off_means_off) {
  open(FrequentChoice::off);
  for (unsigned i = 0; i < 10; ++i) EXPECT_TRUE(exchange(i)) << i;
  EXPECT_EQ(sge_sends(), 0u);
}

TEST_F(Frequent, messages_keep_their_order_whichever_way_they_leave) {
  constexpr unsigned messages = 40;
  open(FrequentChoice::nonblocking, {.room = 2});
  exchange(0);
  fill(7);
  std::vector<std::vector<std::byte>> other;
  std::vector<std::vector<std::byte>> got(2 * messages, std::vector<std::byte>(bytes));
  std::vector<Request*> requests;
  for (unsigned i = 0; i < messages; ++i) other.push_back(pattern(bytes, 100 + i));
  for (unsigned i = 0; i < messages; ++i) {
    requests.push_back(pair_->start_send(RdmaPair::contiguous(buffer_)));
    requests.push_back(pair_->start_send(RdmaPair::contiguous(other[i])));
  }
  const std::size_t sends = requests.size();
  for (auto& one : got) requests.push_back(pair_->start_receive(RdmaPair::contiguous(one)));
  ASSERT_TRUE(pair_->run(requests));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i]) (i < sends ? pair_->sender : pair_->receiver).take(requests[i]);
  }
  for (unsigned i = 0; i < messages; ++i) {
    EXPECT_EQ(got[2 * i], pattern(bytes, 7)) << i;
    EXPECT_EQ(got[2 * i + 1], pattern(bytes, 100 + i)) << i;
  }
  EXPECT_GT(sge_sends(), 0u);
}

/// Adapters that go on by themselves, for calls that block.
TEST_F(Frequent, a_blocking_send_leaves_so_only_where_that_was_asked_for) {
  for (const FrequentChoice which : {FrequentChoice::nonblocking, FrequentChoice::all}) {
    constexpr unsigned messages = 10;
    ModelAdapters network(2);
    Engine sender(one_of_two(Peer{0}, network.transport(Peer{0}), frequent(which), &arena_));
    Engine receiver(one_of_two(Peer{1}, network.transport(Peer{1}), frequent(which)));
    Context* const from = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{0});
    Context* const to = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{1});
    std::vector<std::vector<std::byte>> got(messages, std::vector<std::byte>(bytes));
    std::thread receiving = beside([&] {
      for (auto& one : got) {
        Request* const receive = receiver.start_receive(*to, Rank{0}, RdmaPair::tag, RdmaPair::contiguous(one), RdmaPair::here);
        receiver.wait_all(std::array{receive}, RdmaPair::here);
        receiver.take(receive);
      }
    });
    for (unsigned i = 0; i < messages; ++i) {
      fill(i);
      sender.send(*from, Rank{1}, RdmaPair::tag, buffer_.data(), bytes, SendMode::standard, RdmaPair::here);
    }
    receiving.join();
    for (unsigned i = 0; i < messages; ++i) EXPECT_EQ(got[i], pattern(bytes, i)) << i;
    EXPECT_EQ(network.counts(sender_side).sge_sends, which == FrequentChoice::all ? messages - 1 : 0);
  }
}

/// Requests are used again, by a call that knows nothing of the former one.
TEST_F(Frequent, a_send_after_one_that_was_gathered_is_its_own) {
  constexpr unsigned messages = 3;
  ModelAdapters network(2);
  Engine sender(one_of_two(Peer{0}, network.transport(Peer{0}), frequent(FrequentChoice::nonblocking), &arena_));
  Engine receiver(one_of_two(Peer{1}, network.transport(Peer{1}), frequent(FrequentChoice::nonblocking)));
  Context* const from = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{0});
  Context* const to = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{1});
  const auto every_other = std::make_shared<const Layout>(std::vector<StridedRun>{{0, 1, 2, bytes / 2}}, bytes);
  const UserBuffer gaps{buffer_.data(), 1, every_other};
  fill(1);
  std::vector<std::byte> expected(gaps.bytes());
  LayoutCursor(gaps).pack(expected);
  std::vector<std::byte> got(bytes);
  std::thread receiving = beside([&] {
    for (unsigned i = 0; i <= messages; ++i) {
      receiver.receive(*to, Rank{0}, RdmaPair::tag, got.data(), bytes, RdmaPair::here);
    }
  });
  for (unsigned i = 0; i < messages; ++i) {
    Request* const send =
        sender.start_send(*from, Rank{1}, RdmaPair::tag, RdmaPair::contiguous(buffer_), SendMode::standard, RdmaPair::here);
    if (!send) continue;
    sender.wait_all(std::array{send}, RdmaPair::here);
    sender.take(send);
  }
  sender.send(*from, Rank{1}, RdmaPair::tag, gaps, SendMode::standard, RdmaPair::here);
  receiving.join();
  EXPECT_EQ(network.counts(sender_side).sge_sends, messages - 1);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin()));
}

TEST_F(Frequent, the_trace_tells_what_was_measured_as_the_first_buffer_came_back) {
  pair_.emplace(AdapterKnobs{}, frequent(FrequentChoice::nonblocking, 25), nullptr, &arena_);
  const Traced traced;
  EXPECT_TRUE(exchange(1));
  EXPECT_TRUE(traced.of(trace::Kind::frequent_terms).empty());
  EXPECT_TRUE(exchange(2));
  ASSERT_GE(traced.of(trace::Kind::frequent_terms).size(), 1u);
  for (const trace::Record& record : traced.records()) {
    if (record.kind != static_cast<std::uint16_t>(trace::Kind::frequent_terms)) continue;
    EXPECT_GT(record.bytes, 0u) << "a copy";
    EXPECT_GT(record.duration_ns, 0u) << "a registration";
  }
}

/// With the defaults, where ends of memory are told: the terms come from this machine, what follows from them does not.
TEST_F(Frequent, by_default_buffers_become_frequent_as_the_rule_says) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's checks of each access take longer than the copy that a gathered send saves";
#endif
  watched_memory::set_usable(true);
  constexpr unsigned most = 3000;
  constexpr std::size_t long_enough = 16'000;
  std::byte* const memory = map(nullptr, 0);
  buffer_ = {memory, long_enough};
  Config config;
  config.release = ReleaseMode::off;
  pair_.emplace(AdapterKnobs{.max_payload = 16'384}, config, nullptr, &arena_);
  const std::size_t asked_before = arena_.statistics().questions;
  unsigned copied_first = 0;
  unsigned messages = 0;
  for (; messages < most && sge_sends() < 2 * FirstSamples::wanted; ++messages) {
    EXPECT_TRUE(exchange(messages)) << messages;
    if (sge_sends() == 0) copied_first = messages + 1;
  }
  EXPECT_GE(arena_.statistics().migrations, 1u) << "measured when the first buffer came back";
  const EngineStatistics& counts = pair_->sender.statistics();
  EXPECT_EQ(counts.sge_sends, sge_sends());
  EXPECT_EQ(counts.eager_sends, messages);
  // Of these at least as many as show what a gathered send costs, and all of the others if it costs less than the copy.
  EXPECT_GE(copied_first, 1u);
  EXPECT_GE(sge_sends(), FirstSamples::wanted) << "V is less than C: after " << copied_first;
  EXPECT_EQ(counts.copies_saved_bytes, sge_sends() * long_enough);
  EXPECT_LT(arena_.statistics().questions - asked_before, 10u) << "of the kernel";
  ::munmap(memory, memory_bytes);
  watched_memory::set_usable(false);
}

}  // namespace
}  // namespace sluice
