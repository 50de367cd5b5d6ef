// How connections end over a real adapter (in the soft-RoCE guest; skipped where there is none): peers that end the job, and
// peers that die in the middle of a transfer.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/support/verbs_fixture.hpp"

namespace sluice {
namespace {

using std::chrono::milliseconds;

constexpr Peer zero{0};
constexpr Peer one{1};

class verbs_end : public VerbsFixture {
 protected:
  void SetUp() override {
    VerbsFixture::SetUp();
    if (!IsSkipped()) connect();
  }
  void watch_for_a_while() {
    for (int look = 0; look < 100; ++look) {
      if (host(0).take_helper_events()) host(0).attend();
      host(0).poll(sinks[0]);
      std::this_thread::sleep_for(milliseconds(5));
    }
  }
};

TEST_F(verbs_end, a_peer_that_says_goodbye_has_not_vanished) {
  host(1).say_goodbye();
  hosts->transports[1].reset();
  watch_for_a_while();
  EXPECT_EQ(host(0).vanished(), Peer{-1});
}

TEST_F(verbs_end, a_goodbye_counts_though_the_queue_pair_is_the_first_to_tell) {
  std::vector<std::byte> bytes(100);
  const Registration here = registered(0, bytes);
  host(1).say_goodbye();
  // The adapter's complaint about a transfer that the peer does not permit stands for any other.
  ASSERT_TRUE(host(0).write(one, bytes, here.local_key, {0x1000, 12345}, 1));
  for (int look = 0; look < 100; ++look) {
    host(0).poll(sinks[0]);
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(host(0).vanished(), Peer{-1});
  EXPECT_FALSE(send(host(0), one, "never"));
  host(0).deregister(here);
}

TEST_F(verbs_end, a_connection_that_opens_after_a_goodbye_hears_it_too) {
  hosts = std::make_unique<VerbsHosts>(2);
  host(1).say_goodbye();
  connect();
  hosts->transports[1].reset();
  watch_for_a_while();
  EXPECT_EQ(host(0).vanished(), Peer{-1});
}

TEST_F(verbs_end, who_says_goodbye_and_stays_is_heard_on) {
  host(1).say_goodbye();
  watch_for_a_while();
  ASSERT_TRUE(poll_until([&] { return send(host(1), zero, "still here"); }));
  ASSERT_TRUE(poll_until([&] { return !sinks[0].messages.empty(); }));
}

TEST_F(verbs_end, a_peer_that_dies_in_the_middle_of_transfers_is_noticed_with_its_cause) {
  constexpr std::size_t segment = 8 << 20;
  std::vector<std::byte> own(segment, std::byte{1});
  std::vector<std::byte> theirs(segment, std::byte{2});
  const Registration here = registered(0, own);
  const Registration there = registered(1, theirs);
  std::uint64_t posted = 0;
  const auto fill_queue = [&] {
    while (host(0).write(one, own, here.local_key, remote(there), posted + 1)) ++posted;
  };
  fill_queue();
  std::thread death([&] { hosts->transports[1].reset(); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (host(0).vanished() != one && std::chrono::steady_clock::now() < end) {
    fill_queue();
    if (host(0).take_helper_events()) host(0).attend();
    host(0).poll(sinks[0]);
  }
  death.join();
  ASSERT_EQ(host(0).vanished(), one);
  EXPECT_NE(std::string(host(0).cause()).find("its process ended"), std::string::npos) << host(0).cause();
  // Nothing more is said to be complete that is not, and nothing more is taken.
  watch_for_a_while();
  EXPECT_LT(sinks[0].transferred.size(), posted);
  EXPECT_FALSE(host(0).write(one, own, here.local_key, remote(there), 1));
  host(0).deregister(here);
}

}  // namespace
}  // namespace sluice
