// What follows from a match, from the end of what held others back, and from the end of an operation.

#include "runtime/rendezvous/consequences.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/support/node_fakes.hpp"
#include "tests/unit/support/ways_together.hpp"

namespace sluice {
namespace {

constexpr Peer there{1};
constexpr std::size_t bytes = 100;

/// Says which of its progress slots are closed.
class CountingNode final : public FakeNodeMemory {
 public:
  std::vector<std::uint32_t> closed;
  void close_progress_slot(std::uint32_t slot) override { closed.push_back(slot); }
};

class ConsequencesTest : public testing::Test {
 protected:
  CountingNode node_;
  WaysTogether below_{node_};
  Consequences consequences_{{below_.job, below_.outbox, below_.matcher, below_.causality, below_.sender, below_.all_ways,
                              below_.node_way, below_.copiers, below_.put_receiver, below_.transfers}};
  std::vector<std::byte> data_ = std::vector<std::byte>(bytes, std::byte{7});
  Request& send_ = below_.request(Request::Kind::send, there, data_);
  Request& receive_ = below_.request(Request::Kind::receive, there, data_);
};

TEST_F(ConsequencesTest, a_match_begins_a_transfer) {
  receive_.stop = receive_.limit = bytes;
  consequences_.begin_transfer(&receive_, 0);
  EXPECT_EQ(receive_.way, Request::Way::stream);
  EXPECT_EQ(below_.news(), std::vector<std::string>{"cts"});
}

TEST_F(ConsequencesTest, what_was_held_back_leaves) {
  consequences_.send_held(send_);
  EXPECT_TRUE(send_.complete);
  consequences_.acknowledge_held(there, 9, 0);
  ASSERT_EQ(below_.sent.sent.size(), 2u);
  EXPECT_EQ(below_.sent.sent[1].header.kind, MessageKind::ack);
  EXPECT_EQ(below_.sent.sent[1].header.subject, 9u);
  receive_.stop = receive_.limit = bytes;
  consequences_.begin_held(receive_);
  EXPECT_TRUE(receive_.matched);
}

TEST_F(ConsequencesTest, an_end_gives_back_what_a_receive_holds) {
  receive_.progress_slot = 2;
  receive_.counted_shared = true;
  below_.node_way.delivery().shared_receives() = 1;
  consequences_.end_elsewhere(receive_);
  EXPECT_EQ(node_.closed, std::vector<std::uint32_t>{2});
  EXPECT_EQ(receive_.progress_slot, Transport::no_slot);
  EXPECT_EQ(below_.node_way.shared_receives(), 0u);
}

TEST_F(ConsequencesTest, a_trial_hears_of_the_end) {
  receive_.stop = receive_.limit = bytes;
  ASSERT_FALSE(below_.copiers.writes_at(receive_, {Copier::both, trace::Reason::both_copy}));
  ASSERT_TRUE(receive_.in_trial);
  below_.above.on_end = [this](Request& request) { consequences_.end_elsewhere(request); };
  below_.requests.finish(&receive_);
  EXPECT_FALSE(receive_.in_trial);
}

TEST_F(ConsequencesTest, a_sends_slot_is_its_receivers) {
  send_.progress_slot = 2;
  consequences_.end_elsewhere(send_);
  EXPECT_TRUE(node_.closed.empty());
}

}  // namespace
}  // namespace sluice
