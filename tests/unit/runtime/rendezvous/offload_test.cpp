// The adapter beside the processors: which deliveries it joins, what it claims, and what follows when its reads end.
#include "runtime/rendezvous/offload.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/rendezvous/chunk_claims.hpp"
#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/node_fakes.hpp"

namespace sluice {
namespace {

constexpr std::size_t chunk = std::size_t{32} << 10;
constexpr std::size_t bytes = 4 * chunk;
using Asked = std::vector<std::string>;

/// Takes so many reads, and ends none by itself.
class FakeAdapter final : public Rdma {
 public:
  int room = 100;
  bool connected = true;
  std::vector<std::uint64_t> reads;  // tokens
  std::vector<std::uint64_t> offsets;

  bool register_memory(ByteRange range, Registration& registration) override {
    registration = {.bytes = range, .local_key = 1, .remote_key = 2};
    return true;
  }
  void deregister(const Registration&) override {}
  bool write(Peer, std::span<const std::byte>, std::uint32_t, RemoteMemory, std::uint64_t) override { return false; }
  bool read(Peer, std::span<std::byte>, std::uint32_t, RemoteMemory remote, std::uint64_t token) override {
    if (room-- == 0) return false;
    reads.push_back(token);
    offsets.push_back(remote.address);
    return true;
  }
  [[nodiscard]] bool may_read(Peer) override { return connected; }
  [[nodiscard]] bool places_in_order() const override { return true; }
  [[nodiscard]] std::size_t largest_transfer() const override { return std::size_t{1} << 30; }
};

class NodeWithAdapter final : public FakeNodeMemory {
 public:
  FakeAdapter adapter;
  [[nodiscard]] Rdma* loopback(Peer) override { return &adapter; }
};

Config with_adapter() {
  Config made;
  made.rendezvous = Rendezvous::coop_hca;
  made.hca_bytes = bytes;
  made.hca_outstanding = 2;
  made.hca_load = 3;
  made.copy_chunk = chunk;
  return made;
}

class OffloadTest : public ::testing::Test {
 protected:
  OffloadTest() {
    receive_.limit = receive_.stop = bytes;
    receive_.rts_flags = flag_contiguous | flag_block | flag_registered;
    receive_.progress_slot = memory_.open_progress_slot();
  }
  ~OffloadTest() override {
    if (receive_.rdma) below_.transfers.end(receive_);
  }

  /// The delivery is open, and the adapter has its first chunks.
  void open() {
    ClearToSend clear;
    delivery_.open_chunks(receive_, clear, true);
    ASSERT_TRUE(receive_.shared.offloads);
    offload_.claim(receive_);
  }

  std::vector<std::byte> target_ = std::vector<std::byte>(bytes);
  NodeWithAdapter memory_;
  EngineBelow below_{Peer{1}, memory_, with_adapter()};
  ApplicationNow application_{.inside = 1};
  CopierChoice copiers_{below_.job, below_.requests, below_.lines, application_};
  NodeCopies copies_{{&memory_, &memory_, nullptr, below_.lines, below_.statistics}};
  Unasked unasked_{below_.job.size};
  RdmaWay rdma_way_{{below_.job, below_.registrations, below_.transfers, below_.statistics, below_.blocks, below_.users,
                     below_.outbox, below_.requests, below_.matches, below_.ways, unasked_}};
  WriteDelivery delivery_{{below_.job, below_.outbox, below_.requests, below_.blocks, below_.users, below_.matches, below_.lines,
                           below_.statistics, copiers_, offload_, below_.ways},
                          copies_};
  Offload offload_{{below_.job.config, &memory_, &memory_, &memory_, below_.transfers, rdma_way_, delivery_, below_.statistics}};
  Request& receive_ = below_.request(Request::Kind::receive, Peer{0}, target_);
};

TEST_F(OffloadTest, an_announcement_of_a_long_block_says_where_the_adapter_finds_it) {
  Request send;
  send.kind = Request::Kind::send;
  send.data = target_.data();
  send.bytes = bytes;
  WireHeader header;
  ReadyToSend rts;
  offload_.offer(send, header, rts);
  EXPECT_EQ(header.flags, flag_registered);
  EXPECT_EQ(rts.registered_address, reinterpret_cast<std::uint64_t>(target_.data()));
  below_.transfers.end(send);
  send.bytes = bytes - 1;
  header.flags = 0;
  offload_.offer(send, header, rts);
  EXPECT_EQ(header.flags, 0);
}

TEST_F(OffloadTest, it_joins_only_what_was_registered_while_adapters_have_little_to_do) {
  receive_.rts_flags = flag_contiguous | flag_block;
  EXPECT_FALSE(offload_.joins(receive_));
  receive_.rts_flags |= flag_registered;
  memory_.work_of_adapters = 3;
  EXPECT_FALSE(offload_.joins(receive_));
  EXPECT_EQ(below_.statistics.adapter_busy, 1U);
  memory_.work_of_adapters = 2;
  memory_.adapter.connected = false;
  EXPECT_FALSE(offload_.joins(receive_));
  memory_.adapter.connected = true;
  EXPECT_TRUE(offload_.joins(receive_));
}

TEST_F(OffloadTest, it_reads_from_the_back_so_many_at_a_time_until_its_part_is_over) {
  open();
  EXPECT_EQ(memory_.adapter.offsets, (std::vector<std::uint64_t>{3 * chunk, 2 * chunk}));
  below_.transfers.on_transferred(memory_.adapter.reads.at(1));
  EXPECT_EQ(memory_.adapter.reads.size(), 3U);
  below_.transfers.on_transferred(memory_.adapter.reads.at(0));
  below_.transfers.on_transferred(memory_.adapter.reads.at(2));
  EXPECT_EQ(below_.news(), Asked{});
  below_.transfers.on_transferred(memory_.adapter.reads.at(3));
  EXPECT_EQ(below_.news(), (Asked{"fin of chunks", "finish"}));
  EXPECT_EQ(below_.statistics.bytes_offloaded, bytes);
}

TEST_F(OffloadTest, a_busy_adapter_claims_nothing_more) {
  open();
  memory_.work_of_adapters = 3;
  below_.transfers.on_transferred(memory_.adapter.reads.at(0));
  below_.transfers.on_transferred(memory_.adapter.reads.at(1));
  EXPECT_EQ(memory_.adapter.reads.size(), 2U);
  EXPECT_EQ(below_.news(), Asked{});  // the processors have the rest
}

TEST_F(OffloadTest, a_read_that_fails_is_a_hole_when_the_others_are_done) {
  open();
  offload_.failed(memory_.adapter.reads.at(1));
  EXPECT_EQ(below_.news(), Asked{});
  below_.transfers.on_transferred(memory_.adapter.reads.at(0));
  EXPECT_EQ(memory_.adapter.reads.size(), 2U);
  EXPECT_EQ(below_.news(), Asked{});  // the sender may still write its own
  delivery_.sender_done(receive_);
  EXPECT_EQ(below_.news(), Asked{"again " + std::to_string(2 * chunk) + " to " + std::to_string(3 * chunk)});
}

TEST_F(OffloadTest, a_chunk_that_finds_no_room_in_the_queue_is_a_hole) {
  memory_.adapter.room = 1;
  open();
  EXPECT_TRUE(receive_.shared.has_hole());
  EXPECT_EQ(receive_.shared.hole_begin, 2 * chunk);
  EXPECT_EQ(receive_.shared.back, 2U);
}

TEST_F(OffloadTest, a_refusal_of_the_senders_waits_for_its_reads) {
  open();
  delivery_.refused(receive_, 0);
  EXPECT_EQ(below_.news().size(), 1U);
  below_.transfers.on_transferred(memory_.adapter.reads.at(0));
  EXPECT_EQ(below_.news(), Asked{});
  below_.transfers.on_transferred(memory_.adapter.reads.at(1));
  EXPECT_EQ(below_.news(), Asked{"again 0 to " + std::to_string(2 * chunk)});
}

}  // namespace
}  // namespace sluice
