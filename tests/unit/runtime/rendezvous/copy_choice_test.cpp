// Who copies inside a node: what is asked for, and what is expected of whom meanwhile. The rules of `auto`:
// hybrid_choice_test.cpp.

#include "runtime/rendezvous/copy_choice.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/node_fakes.hpp"

namespace sluice {
namespace {

constexpr Peer self{0};
constexpr Peer there{1};
constexpr std::size_t bytes = 100'000;

class LoadedNode final : public FakeNodeMemory {
 public:
  std::int64_t of_self = 0;
  std::int64_t of_peer = 0;
  void expect_copy(Peer peer, std::int64_t more) override { (peer == self ? of_self : of_peer) += more; }
};

class CopierChoiceTest : public testing::Test {
 protected:
  CopierChoiceTest() { receive_.limit = receive_.stop = bytes; }
  Copier asked(Rendezvous how) {
    below_.world.rendezvous = how;
    return copiers_.choose(receive_).copier;
  }

  LoadedNode node_;
  EngineBelow below_{self, node_};
  ApplicationNow application_{.inside = 1};
  CopierChoice copiers_{below_.job, below_.requests, below_.lines, application_};
  std::vector<std::byte> data_ = std::vector<std::byte>(bytes);
  Request& receive_ = below_.request(Request::Kind::receive, there, data_);
};

TEST_F(CopierChoiceTest, who_is_asked_for_copies) {
  EXPECT_EQ(asked(Rendezvous::rput), Copier::sender);
  EXPECT_EQ(asked(Rendezvous::rget), Copier::receiver);
  EXPECT_EQ(asked(Rendezvous::coop), Copier::both);
  EXPECT_EQ(asked(Rendezvous::coop_hca), Copier::both);
}

TEST_F(CopierChoiceTest, by_calls_a_side_that_blocks_copies) {
  EXPECT_EQ(asked(Rendezvous::coop_coll), Copier::both);
  receive_.call_waits = true;
  EXPECT_EQ(asked(Rendezvous::coop_coll), Copier::receiver);
  receive_.rts_flags = flag_sender_waits;
  EXPECT_EQ(asked(Rendezvous::coop_coll), Copier::both);
  receive_.released = true;
  EXPECT_EQ(asked(Rendezvous::coop_coll), Copier::sender);
}

TEST_F(CopierChoiceTest, by_load_copies_are_expected_until_the_transfer_ends) {
  below_.world.rendezvous = Rendezvous::coop_load;
  copiers_.expect(receive_, Copier::both);
  EXPECT_EQ(node_.of_self, static_cast<std::int64_t>(bytes / 2));
  EXPECT_EQ(node_.of_peer, static_cast<std::int64_t>(bytes / 2));
  copiers_.end_expected(receive_);
  copiers_.expect(receive_, Copier::sender);
  EXPECT_EQ(node_.of_self, 0);
  EXPECT_EQ(node_.of_peer, static_cast<std::int64_t>(bytes));
  copiers_.end_expected(receive_);
  copiers_.end_expected(receive_);
  EXPECT_EQ(node_.of_peer, 0);
}

TEST_F(CopierChoiceTest, otherwise_nothing_is_expected) {
  below_.world.rendezvous = Rendezvous::coop;
  copiers_.expect(receive_, Copier::both);
  EXPECT_EQ(node_.of_self, 0);
}

TEST_F(CopierChoiceTest, by_address_the_sender_writes_where_that_was_asked_for) {
  const CopyChoice both{Copier::both, trace::Reason::both_copy};
  below_.world.rendezvous = Rendezvous::rput;
  EXPECT_TRUE(copiers_.writes_at(receive_, {Copier::sender, trace::Reason::asked_for}));
  below_.world.rendezvous = Rendezvous::coop;
  EXPECT_TRUE(copiers_.writes_at(receive_, both));
  EXPECT_FALSE(receive_.in_trial);
}

TEST_F(CopierChoiceTest, otherwise_it_is_tried_where_both_would_copy_a_block) {
  below_.world.rendezvous = Rendezvous::automatic;
  EXPECT_FALSE(copiers_.writes_at(receive_, {Copier::sender, trace::Reason::sender_copies}));
  EXPECT_FALSE(receive_.in_trial);
  int by_both = 0;
  for (int i = 0; i < 4; ++i) {
    by_both += copiers_.writes_at(receive_, {Copier::both, trace::Reason::both_copy}) ? 1 : 0;
    EXPECT_TRUE(receive_.in_trial);
    copiers_.end_trial(receive_);
    EXPECT_FALSE(receive_.in_trial);
  }
  EXPECT_EQ(by_both, 2);
}

TEST_F(CopierChoiceTest, a_message_may_stay_in_a_shared_cache_while_its_receiver_waits_for_it_alone) {
  EXPECT_TRUE(copiers_.may_stay_in_outer_cache(receive_));
  application_.awaits_many = true;
  EXPECT_FALSE(copiers_.may_stay_in_outer_cache(receive_));
  application_.awaits_many = false;
  application_.inside = 0;
  EXPECT_FALSE(copiers_.may_stay_in_outer_cache(receive_));
}

}  // namespace
}  // namespace sluice
