// FrequentSender without an engine: which messages an adapter gathers, and what it takes for that.

#include "runtime/rendezvous/frequent_sender.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "runtime/alias/arena.hpp"
#include "tests/unit/support/model_adapter.hpp"

namespace sluice {
namespace {

constexpr std::size_t plenty_of_mappings = 1000;
constexpr std::size_t bytes = 3000;
constexpr Peer here{0};
constexpr Peer there{1};

class FrequentSenderTest : public testing::Test, public FrequentSender::Host, public MessageSink {
 protected:
  explicit FrequentSenderTest(const AdapterKnobs& knobs = {}) : network_(2, by_hand(knobs)) {
    const ByteRange range = ByteRange::of(memory_.start(), bytes);
    header_.kind = MessageKind::eager;
    header_.payload_bytes = bytes;
    request_.peer = there;
    request_.data = reinterpret_cast<std::byte*>(range.begin);
    request_.bytes = bytes;
  }
  virtual ~FrequentSenderTest() override { network_.let_helpers_go(); }

  static AdapterKnobs by_hand(AdapterKnobs knobs) {
    knobs.by_hand = true;
    return knobs;
  }
  EngineParts parts(FrequentChoice which) {
    Config config;
    config.frequent_sends = which;
    config.frequent_share = 0;
    return {.self = here, .job_size = 2, .transport = &transport_, .arena = &arena_, .host = {}, .config = config};
  }
  bool count(FrequentSender& sender, Peer to = there) {
    return sender.counts(bytes) && sender.count(to, ByteRange::of(memory_.start(), bytes));
  }

  bool in_alias_block(ByteRange range) override {
    return may_be_block_ && (arena_.is_live(range) || arena_.migrate(range, AliasArena::Purpose::filled) == Ineligible::none);
  }
  bool make_block(ByteRange) override { return false; }
  [[nodiscard]] bool guards(ByteRange) const override { return is_guarded_; }
  void finish(Request& send) override {
    finished_.push_back(&send);
    transfers_.end(send);
  }
  void on_message(Peer, const MessageHeader&, std::span<const std::byte>) override {}
  void on_transferred(std::uint64_t token) override { transfers_.on_transferred(token); }
  void on_room(Peer) override {}

  AliasArena arena_{plenty_of_mappings};
  Mapping memory_{::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page_bytes};
  ModelAdapters network_;
  Transport& transport_ = network_.transport(here);
  EngineStatistics statistics_;
  JobRegistrations registrations_{&arena_, {~std::size_t{0}, ~std::size_t{0}}};
  RdmaTransfers transfers_{&transport_};
  Job job_{parts(FrequentChoice::nonblocking)};
  FrequentSender sender_{*this, {job_, registrations_, transfers_, statistics_}};
  Request request_;
  MessageHeader header_;
  std::vector<const Request*> finished_;
  bool may_be_block_ = true;
  bool is_guarded_ = false;
};

class FullFrequentSender : public FrequentSenderTest {
 protected:
  FullFrequentSender() : FrequentSenderTest({.room = 0}) {}
};

TEST_F(FrequentSenderTest, a_buffer_counts_with_its_second_use) {
  EXPECT_FALSE(count(sender_));
  EXPECT_TRUE(count(sender_));
  EXPECT_FALSE(sender_.counts(FrequentSends::least_gathered_bytes - 1));
  EXPECT_FALSE(sender_.count(here, ByteRange::of(memory_.start(), bytes))) << "no adapter reaches this process itself";
  EXPECT_FALSE(sender_.count(there, ByteRange::of(memory_.start(), job_.eager_limit_of(there) + 1))) << "it is announced";
}

TEST_F(FrequentSenderTest, nothing_is_counted_where_that_was_not_asked_for) {
  const Job job(parts(FrequentChoice::off));
  FrequentSender sender(*this, {job, registrations_, transfers_, statistics_});
  EXPECT_FALSE(sender.counts(bytes));
}

TEST_F(FrequentSenderTest, a_message_is_over_when_the_adapter_has_read_it) {
  count(sender_);
  count(sender_);
  ASSERT_TRUE(sender_.send(request_, header_));
  EXPECT_EQ(sender_.under_way(), 1u);
  EXPECT_TRUE(finished_.empty());
  EXPECT_EQ(network_.counts(here).told_work, 0) << "it is of large messages";
  while (network_.step()) transport_.poll(*this);
  EXPECT_EQ(sender_.under_way(), 0u);
  EXPECT_EQ(finished_, std::vector<const Request*>{&request_});
  EXPECT_EQ(network_.counts(here).gathered, 1u);
}

TEST_F(FrequentSenderTest, memory_that_cannot_be_a_block_is_counted_anew) {
  count(sender_);
  count(sender_);
  may_be_block_ = false;
  EXPECT_FALSE(sender_.send(request_, header_));
  EXPECT_FALSE(count(sender_));
}

TEST_F(FrequentSenderTest, what_is_under_guard_is_copied) {
  is_guarded_ = true;
  EXPECT_FALSE(sender_.send(request_, header_));
  EXPECT_FALSE(request_.rdma);
}

TEST_F(FullFrequentSender, without_room_nothing_is_done) {
  EXPECT_FALSE(sender_.send(request_, header_));
  EXPECT_FALSE(request_.rdma);
  EXPECT_EQ(sender_.under_way(), 0u);
  EXPECT_EQ(statistics_.gathered_sends, 0u);
}

}  // namespace
}  // namespace sluice
