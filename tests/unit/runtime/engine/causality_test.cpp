// What is held back while a released receive does not know its message, and in which order it goes.

#include "runtime/engine/causality.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace sluice {
namespace {

struct Sink final : Causality::Sink {
  void send_held(Request& send) override { done.push_back("send " + std::to_string(send.traced)); }
  void begin_held(Request& receive) override { done.push_back("begin " + std::to_string(receive.traced)); }
  void acknowledge_held(Peer peer, std::uint64_t subject, std::uint32_t traced) override {
    done.push_back("ack " + std::to_string(static_cast<int>(peer)) + " " + std::to_string(subject) + " " +
                   std::to_string(traced));
  }
  std::vector<std::string> done;
};

struct Watcher final : Causality::Watcher {
  void matched(Request& receive) override { known.push_back(&receive); }
  void ended(Request& request) override { over.push_back(&request); }
  std::vector<Request*> known;
  std::vector<Request*> over;
};

class CausalityTest : public testing::Test {
 protected:
  CausalityTest() { causality_.watch(&watcher_); }

  /// A receive whose message is not known, after so many operations.
  void release(Request& receive, std::uint64_t operations) {
    receive.kind = Request::Kind::receive;
    receive.released = receive.unknown = true;
    receive.release_mark = operations;
    causality_.add(receive);
  }
  void hold_send(Request& send, std::uint64_t operation) {
    send.traced = static_cast<std::uint32_t>(operation);
    causality_.hold({.what = HeldBack::What::send, .operation = operation, .request = &send});
  }
  using Done = std::vector<std::string>;

  Sink sink_;
  Watcher watcher_;
  Causality causality_{sink_};
  std::array<Request, 3> receives_;
  std::array<Request, 3> sends_;
};

TEST_F(CausalityTest, nothing_is_to_be_held_before_anything_is_released) {
  EXPECT_FALSE(causality_.must_hold(1));
  EXPECT_TRUE(causality_.released().empty());
}

TEST_F(CausalityTest, what_began_after_the_release_is_held_and_what_began_before_is_not) {
  release(receives_[0], 5);
  EXPECT_FALSE(causality_.must_hold(5));
  EXPECT_TRUE(causality_.must_hold(6));
  EXPECT_EQ(causality_.unmatched(), 1u);
}

TEST_F(CausalityTest, a_released_receive_that_knows_its_message_holds_nothing_back) {
  receives_[0].released = true;
  causality_.add(receives_[0]);
  EXPECT_FALSE(causality_.must_hold(6));
  EXPECT_FALSE(causality_.released().empty());
}

TEST_F(CausalityTest, with_the_match_everything_goes_in_order) {
  release(receives_[0], 5);
  hold_send(sends_[0], 6);
  causality_.hold({.what = HeldBack::What::acknowledgement, .operation = 7, .peer = Peer{3}, .subject = 9, .traced = 4});
  receives_[1].traced = 8;
  causality_.hold({.what = HeldBack::What::transfer, .operation = 8, .request = &receives_[1]});
  EXPECT_TRUE(sink_.done.empty());
  causality_.matched(receives_[0]);
  EXPECT_EQ(sink_.done, (Done{"send 6", "ack 3 9 4", "begin 8"}));
  EXPECT_TRUE(causality_.held().empty());
  EXPECT_EQ(watcher_.known, std::vector<Request*>{&receives_[0]});
}

TEST_F(CausalityTest, only_what_waits_for_no_other_release_goes) {
  release(receives_[0], 5);
  hold_send(sends_[0], 6);
  release(receives_[1], 6);
  hold_send(sends_[1], 7);
  causality_.matched(receives_[0]);
  EXPECT_EQ(sink_.done, Done{"send 6"});
  ASSERT_EQ(causality_.held().size(), 1u);
  causality_.matched(receives_[1]);
  EXPECT_EQ(sink_.done, (Done{"send 6", "send 7"}));
}

TEST_F(CausalityTest, a_later_release_that_matches_first_lets_nothing_go) {
  release(receives_[0], 5);
  release(receives_[1], 6);
  hold_send(sends_[0], 7);
  hold_send(sends_[1], 8);
  causality_.matched(receives_[1]);
  EXPECT_TRUE(sink_.done.empty());
  causality_.matched(receives_[0]);
  EXPECT_EQ(sink_.done, (Done{"send 7", "send 8"}));
}

TEST_F(CausalityTest, a_match_of_what_was_not_released_is_nothing) {
  causality_.matched(receives_[0]);
  EXPECT_TRUE(watcher_.known.empty());
}

TEST_F(CausalityTest, a_released_receive_that_is_removed_no_longer_counts_in_order) {
  release(receives_[0], 5);
  causality_.matched(receives_[0]);
  release(receives_[1], 9);
  causality_.ended(receives_[0]);
  EXPECT_EQ(watcher_.over, std::vector<Request*>{&receives_[0]});
  causality_.remove(receives_[0]);
  EXPECT_FALSE(causality_.must_hold(9));
  EXPECT_TRUE(causality_.must_hold(10));
}

}  // namespace
}  // namespace sluice
