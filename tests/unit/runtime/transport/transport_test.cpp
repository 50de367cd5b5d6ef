// Parts of a transport: what is not there refuses, and who joins parts pays nothing for it on the way of a small message.
#include "runtime/transport/transport.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/support/minimal_transport.hpp"

namespace sluice {
namespace {

constexpr Peer peer{1};

TEST(Transport, WithoutMemoryInCommonEveryCopyRefuses) {
  MinimalTransport transport;
  NodeMemory& memory = transport;
  std::array<std::byte, 8> bytes{};
  EXPECT_FALSE(memory.can_write(peer) || memory.can_read_blocks(peer) || memory.can_read(peer));
  EXPECT_FALSE(memory.write(peer, 0, bytes, TargetLines::unknown));
  EXPECT_FALSE(memory.read_block(peer, 0, bytes, TargetLines::unknown, SourceLines{}));
  EXPECT_EQ(memory.read(peer, 0, bytes), 0U);
  EXPECT_EQ(memory.open_progress_slot(), NodeMemory::no_slot);
  EXPECT_EQ(memory.claims_at(peer, 0), nullptr);
}

TEST(Transport, WithoutAdaptersNobodyIsReachedByRdma) {
  MinimalTransport transport;
  Adapters& adapters = transport;
  EXPECT_EQ(adapters.rdma(peer), nullptr);
  EXPECT_EQ(adapters.loopback(peer), nullptr);
}

TEST(Transport, WithoutHintsNobodySeemsAttentiveNow) {
  MinimalTransport transport;
  NodeHints& hints = transport;
  EXPECT_FALSE(hints.is_attentive_soon(peer));
  EXPECT_EQ(hints.adapter_work(), 0U);
  EXPECT_EQ(hints.copy_load(peer).expected, 0U);
}

TEST(Transport, WithoutAReminderWakeupsAreFlushedAtOnce) {
  MinimalTransport transport;
  Doorbell& doorbell = transport;
  doorbell.leave_wakeups();
  EXPECT_EQ(transport.flushed, 1);
}

TEST(Transport, TheChannelStandsFirst) {
  MinimalTransport transport;
  Transport* const whole = &transport;
  EXPECT_EQ(static_cast<void*>(static_cast<Channel*>(whole)), static_cast<void*>(whole));
}

}  // namespace
}  // namespace sluice
