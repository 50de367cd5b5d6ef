// FrequentSender without an engine: which messages an adapter gathers, and what it takes for that.

#include "runtime/rendezvous/frequent_sender.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/watched_memory.hpp"
#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/guarded_block.hpp"
#include "tests/unit/support/model_adapter.hpp"

namespace sluice {
namespace {

constexpr std::size_t plenty_of_mappings = 1000;
constexpr std::size_t bytes = 3000;
constexpr Peer self{0};
constexpr Peer there{1};

class FrequentSenderTest : public testing::Test, public MessageSink {
 protected:
  using Call = FrequentSender::Call;

  explicit FrequentSenderTest(const AdapterKnobs& knobs = {}) : network_(2, by_hand(knobs)) {
    header_.kind = MessageKind::eager;
    header_.payload_bytes = bytes;
    below_.above.on_end = [this](Request& send) { below_.transfers.end(send); };
  }
  virtual ~FrequentSenderTest() override { network_.let_helpers_go(); }

  static AdapterKnobs by_hand(AdapterKnobs knobs) {
    knobs.by_hand = true;
    return knobs;
  }
  static Config sending(FrequentChoice which) {
    Config config;
    config.frequent_sends = which;
    config.frequent_share = 0;
    return config;
  }
  FrequentSender::Parts parts(const Job& job) {
    return {job, below_.requests, below_.blocks, below_.users, below_.registrations, below_.transfers, below_.statistics};
  }
  bool count(FrequentSender& sender, Peer to = there, std::size_t length = bytes, Call call = Call::goes_on) {
    const auto counted = sender.count(to, static_cast<std::byte*>(memory_.start()), length, call);
    if (to == there) request_.frequent = counted.frequent;
    return counted.frequent != 0;
  }

  void on_message(Peer, const WireHeader&, std::span<const std::byte>) override {}
  void on_transferred(std::uint64_t token) override { below_.transfers.on_transferred(token); }
  void on_room(Peer) override {}

  AliasArena arena_{plenty_of_mappings};
  Mapping memory_{::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page_bytes};
  ModelAdapters network_;
  Transport& transport_ = network_.transport(self);
  EngineBelow below_{self, transport_, sending(FrequentChoice::nonblocking), &arena_};
  FrequentSender sender_{parts(below_.job)};
  Request& request_ = below_.request(Request::Kind::send, there, {static_cast<std::byte*>(memory_.start()), bytes});
  WireHeader header_;
};

class FullFrequentSender : public FrequentSenderTest {
 protected:
  FullFrequentSender() : FrequentSenderTest({.room = 0}) {}
};

TEST_F(FrequentSenderTest, a_buffer_counts_with_its_second_use) {
  EXPECT_FALSE(count(sender_));
  EXPECT_TRUE(count(sender_));
  EXPECT_FALSE(count(sender_, there, FrequentSends::min_sge_bytes - 1));
  EXPECT_FALSE(count(sender_, self)) << "no adapter reaches this process itself";
  EXPECT_FALSE(count(sender_, there, below_.job.eager_limit_of(there) + 1)) << "it is announced";
}

TEST_F(FrequentSenderTest, a_call_that_waits_for_its_send_counts_only_where_that_was_asked_for) {
  const EngineBelow other(self, transport_, sending(FrequentChoice::all), &arena_);
  FrequentSender all(parts(other.job));
  for (int use = 0; use < 3; ++use) {
    EXPECT_FALSE(count(sender_, there, bytes, Call::waits));
    EXPECT_EQ(count(all, there, bytes, Call::waits), use > 0);
  }
  EXPECT_FALSE(count(sender_)) << "the first that is counted";
  EXPECT_TRUE(count(sender_));
}

TEST_F(FrequentSenderTest, nothing_is_counted_where_that_was_not_asked_for) {
  const EngineBelow other(self, transport_, sending(FrequentChoice::off), &arena_);
  FrequentSender sender(parts(other.job));
  for (int use = 0; use < 3; ++use) EXPECT_FALSE(count(sender));
  EXPECT_EQ(sender.sends(), nullptr);
}

TEST_F(FrequentSenderTest, a_message_is_over_when_the_adapter_has_read_it) {
  count(sender_);
  count(sender_);
  ASSERT_TRUE(sender_.send(request_, header_));
  EXPECT_EQ(sender_.under_way(), 1u);
  EXPECT_FALSE(request_.complete);
  EXPECT_EQ(network_.counts(self).told_work, 0) << "it is of large messages";
  while (network_.step()) transport_.poll(*this);
  EXPECT_EQ(sender_.under_way(), 0u);
  EXPECT_TRUE(request_.complete);
  EXPECT_EQ(network_.counts(self).sge_sends, 1u);
}

TEST_F(FrequentSenderTest, memory_that_cannot_be_a_block_is_counted_anew) {
  count(sender_);
  count(sender_);
  below_.blocks.end();
  EXPECT_FALSE(sender_.send(request_, header_));
  EXPECT_FALSE(count(sender_));
}

/// Where ends of memory are told, the kernel is asked as the buffer becomes frequent, and then never.
TEST_F(FrequentSenderTest, memory_whose_end_was_told_is_counted_anew) {
  watched_memory::set_usable(true);
  count(sender_);
  const auto gathered = [this] {
    auto* const data = static_cast<std::byte*>(memory_.start());
    Request& request = below_.request(Request::Kind::send, there, {data, bytes});
    request.frequent = sender_.count(there, data, bytes, Call::goes_on).frequent;
    const bool was = request.frequent != 0 && sender_.send(request, header_);
    while (network_.step()) transport_.poll(*this);
    return was;
  };
  for (int use = 0; use < 5; ++use) EXPECT_TRUE(gathered()) << use;
  watched_memory::note_end(ByteRange::of(static_cast<std::byte*>(memory_.start()) + bytes, page_bytes - bytes));
  EXPECT_TRUE(gathered()) << "its neighbour in the page";
  watched_memory::note_end(ByteRange::of(memory_.start(), bytes));
  EXPECT_FALSE(gathered());
  EXPECT_FALSE(gathered()) << "its first use";
  EXPECT_TRUE(gathered());
  arena_.privatize(request_.range());
  EXPECT_FALSE(gathered()) << "it is no block any more";
  watched_memory::set_usable(false);
}

TEST_F(FrequentSenderTest, what_is_under_guard_is_copied) {
  ASSERT_TRUE(below_.blocks.make(request_.range()));
  Waiter waiter;
  PageGuard guard(waiter, &arena_, GuardEngine::mprotect);
  below_.users.set_guard(&guard);
  Guarded* const guarded = guard.protect(request_.range(), 0, KeptOut::everybody);
  ASSERT_NE(guarded, nullptr);
  count(sender_);
  count(sender_);
  EXPECT_FALSE(sender_.send(request_, header_));
  EXPECT_FALSE(request_.rdma);
  guard.finish(guarded);
  EXPECT_TRUE(sender_.send(request_, header_));
  below_.users.set_guard(nullptr);
}

TEST_F(FullFrequentSender, without_room_nothing_is_done) {
  count(sender_);
  count(sender_);
  EXPECT_FALSE(sender_.send(request_, header_));
  EXPECT_FALSE(request_.rdma);
  EXPECT_EQ(sender_.under_way(), 0u);
  EXPECT_EQ(below_.statistics.sge_sends, 0u);
}

}  // namespace
}  // namespace sluice
