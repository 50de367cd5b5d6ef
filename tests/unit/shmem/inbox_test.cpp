#include "shmem/inbox.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(InboxLayout, GivesFewProcessesLargeRingsAndManyProcessesSmallOnes) {
  EXPECT_EQ(InboxLayout(2).ring_capacity(), 128u << 10);
  EXPECT_EQ(InboxLayout(256).ring_capacity(), 64u << 10);
  EXPECT_EQ(InboxLayout(4096).ring_capacity(), 32u << 10);
}

TEST(InboxLayout, StaysWithinItsBudgetWhileRingsCanShrink) {
  constexpr std::size_t lanes = LaneMemory::lanes_of_a_process * LaneMemory::lane_bytes;
  for (const std::size_t processes : {1u, 7u, 100u, 300u, 500u})
    EXPECT_LT(InboxLayout(processes).bytes(), (18u << 20) + lanes) << processes;
}

TEST(InboxLayout, RefusesMoreProcessesThanItCanName) { EXPECT_THROW(InboxLayout(4097), std::runtime_error); }

TEST(Inbox, IsTheSameMemoryForOwnerAndPeer) {
  Descriptor file;
  const Token token{1, 2};
  const Inbox own = Inbox::create(3, token, file);
  const Inbox peers = Inbox::open(file, 3, token);
  peers.ring_buffer(2)[100] = std::byte{7};
  peers.slot(1023) = 8;
  peers.ring_control(2)->head = 9;
  EXPECT_EQ(own.ring_buffer(2)[100], std::byte{7});
  EXPECT_EQ(own.slot(1023), 8u);
  EXPECT_EQ(own.ring_control(2)->head, 9u);
}

TEST(Inbox, PartsDoNotOverlap) {
  Descriptor file;
  const Inbox inbox = Inbox::create(65, {1, 2}, file);
  const auto at = [&](const void* part) {
    return static_cast<const std::byte*>(part) - reinterpret_cast<const std::byte*>(&inbox.identity());
  };
  EXPECT_GE(at(&inbox.wake_mask()), static_cast<std::ptrdiff_t>(sizeof(InboxIdentity)));
  EXPECT_LT(at(&inbox.wake_mask()), at(&inbox.finalized()));
  EXPECT_LT(at(&inbox.finalized()), at(&inbox.contacts(0)));
  EXPECT_LE(at(&inbox.contacts(1) + 1), at(&inbox.slot(0)));
  EXPECT_LE(at(&inbox.slot(InboxLayout::slots - 1) + 1), at(inbox.ring_control(0)));
  EXPECT_LE(at(inbox.ring_control(64) + 1), at(inbox.ring_buffer(0)));
  EXPECT_LE(at(inbox.ring_buffer(65)), at(inbox.lane(0)));
  EXPECT_EQ(at(inbox.lane(LaneMemory::lanes_of_a_process)), static_cast<std::ptrdiff_t>(inbox.layout().bytes()));
}

TEST(Inbox, IsNotOpenedWithAnotherToken) {
  Descriptor file;
  const Inbox own = Inbox::create(2, {1, 2}, file);
  EXPECT_THROW(Inbox::open(file, 2, {1, 3}), std::runtime_error);
}

TEST(Inbox, AFileOfAnotherSizeIsNotOpened) {
  Descriptor file;
  const Inbox own = Inbox::create(2, {1, 2}, file);
  EXPECT_THROW(Inbox::open(file, 3, {1, 2}), std::runtime_error);
}

TEST(Inbox, CannotShrinkUnderItsPeers) {
  Descriptor file;
  const Inbox own = Inbox::create(2, {1, 2}, file);
  EXPECT_NE(::ftruncate(file.get(), 0), 0);
}

}  // namespace
}  // namespace sluice
