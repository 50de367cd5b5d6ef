// Who gets a large message, and who hears of it.
#include "runtime/rendezvous/ways.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/node_fakes.hpp"

namespace sluice {
namespace {

using Asked = std::vector<std::string>;

class FakeWay final : public Way {
 public:
  FakeWay(std::string name, Request::Way way, Delivery delivery, Asked& asked)
      : name_(std::move(name)), way_(way), delivery_(delivery), asked_(asked) {}

  std::uint32_t moves = Bid::impossible;
  bool begins = true;
  bool goes_on = false;  // when the other side has ended

  [[nodiscard]] Bid bid(const Request&, std::size_t) const override { return {moves}; }
  bool begin(Request& receive, std::size_t coming) override {
    note("begins with " + std::to_string(coming));
    if (begins) receive.way = way_;
    return begins;
  }
  void refused(Request&, std::size_t offset) override { note("refused " + std::to_string(offset)); }
  [[nodiscard]] bool delivers(Delivery delivery) const override { return delivery == delivery_; }
  void cleared(Request&, const ClearToSend&) override { note("cleared"); }
  void leave(Request&) override { note("leaves"); }
  [[nodiscard]] bool carries(const Request& request) const override { return request.way == way_; }
  bool ended(Request&) override {
    note("ended");
    return goes_on;
  }

 private:
  void note(const std::string& what) { asked_.push_back(name_ + " " + what); }

  std::string name_;
  Request::Way way_;
  Delivery delivery_;
  Asked& asked_;
};

class WaysTest : public ::testing::Test {
 protected:
  WaysTest() { stream_.moves = 2; }
  Asked news() { return std::exchange(asked_, {}); }

  Asked asked_;
  FakeWay rdma_{"rdma", Request::Way::rdma, Delivery::rdma_write, asked_};
  FakeWay node_{"node", Request::Way::write, Delivery::write, asked_};
  FakeWay stream_{"stream", Request::Way::stream, Delivery::stream, asked_};
  FakeNodeMemory transport_;
  EngineBelow below_{Peer{0}, transport_};
  std::size_t sge_sends_ = 0;
  Ways ways_{{below_.job, below_.requests, below_.lines, sge_sends_}, {&rdma_, &node_, &stream_}};
  std::vector<std::byte> data_ = std::vector<std::byte>(100);
  Request& request_ = below_.request(Request::Kind::receive, Peer{1}, data_);
  Request& send_ = below_.request(Request::Kind::send, Peer{1}, data_);
};

TEST_F(WaysTest, the_one_that_moves_least_begins) {
  node_.moves = 1;
  ways_.begin(request_, 7);
  EXPECT_EQ(news(), Asked{"node begins with 7"});
}

TEST_F(WaysTest, of_equals_the_first_one_begins) {
  rdma_.moves = node_.moves = 1;
  ways_.begin(request_, 0);
  EXPECT_EQ(news(), Asked{"rdma begins with 0"});
}

TEST_F(WaysTest, when_one_cannot_after_all_the_next_one_begins) {
  rdma_.moves = node_.moves = 1;
  rdma_.begins = node_.begins = false;
  ways_.begin(request_, 0);
  EXPECT_EQ(news(), (Asked{"rdma begins with 0", "node begins with 0", "stream begins with 0"}));
}

TEST_F(WaysTest, what_this_process_sends_meanwhile_is_noted_but_for_what_is_small_and_gathered) {
  ways_.begin(request_);
  EXPECT_TRUE(request_.matched);
  EXPECT_TRUE(request_.sends_too);
  sge_sends_ = 1;
  ways_.begin(request_);
  EXPECT_FALSE(request_.sends_too);
}

TEST_F(WaysTest, that_a_peer_has_read_a_message_is_known_of_its_buffer) {
  request_.rts_flags = flag_block | flag_contiguous;
  request_.limit = send_.limit = 100;
  below_.lines.on_match(request_);
  EXPECT_TRUE(below_.lines.are_overwritten(send_));
  ways_.ended(send_, 0);
  EXPECT_FALSE(below_.lines.are_overwritten(send_));
  below_.lines.on_match(request_);
  EXPECT_EQ(request_.lines, TargetLines::shared);
}

TEST_F(WaysTest, what_a_peer_has_handed_back_is_this_processes_own) {
  request_.rts_flags = flag_block | flag_contiguous;
  request_.limit = send_.limit = 100;
  ways_.ended(send_, flag_handed_back);
  below_.lines.on_match(request_);
  EXPECT_EQ(request_.lines, TargetLines::own);
}

TEST_F(WaysTest, a_clearance_goes_to_the_way_that_it_names_and_the_other_one_leaves) {
  ClearToSend clear;
  clear.delivery = Delivery::rdma_write;
  ways_.cleared(request_, clear);
  EXPECT_EQ(news(), Asked{"rdma cleared"});
  request_.way = Request::Way::write;
  clear.delivery = Delivery::stream;
  ways_.cleared(request_, clear);
  EXPECT_EQ(news(), (Asked{"node leaves", "stream cleared"}));
}

TEST_F(WaysTest, a_refusal_goes_to_the_way_that_has_the_message) {
  request_.way = Request::Way::rdma;
  ways_.refused(request_, 12);
  EXPECT_EQ(news(), Asked{"rdma refused 12"});
}

TEST_F(WaysTest, an_end_is_the_ways_that_has_the_message) {
  request_.way = Request::Way::write;
  node_.goes_on = true;
  ways_.ended(request_, flag_of_chunks);
  EXPECT_EQ(news(), Asked{"node ended"});
}

TEST_F(WaysTest, a_message_without_more_to_do_is_where_it_belongs) {
  request_.way = Request::Way::rdma;
  request_.limit = 100;
  ways_.ended(request_, 0);
  EXPECT_EQ(news(), Asked{"rdma ended"});
  EXPECT_EQ(request_.offset, 100u);
  EXPECT_TRUE(request_.complete);
}

TEST_F(WaysTest, a_sender_that_only_announced_is_done_when_its_receiver_has_read) {
  send_.limit = 100;
  ways_.ended(send_, flag_handed_back);
  EXPECT_EQ(news(), Asked{});
  EXPECT_EQ(send_.offset, 100u);
  EXPECT_TRUE(send_.complete);
}

TEST_F(WaysTest, a_fin_of_chunks_that_crossed_a_refusal_ends_nothing) {
  ways_.ended(send_, flag_of_chunks);
  EXPECT_EQ(news(), Asked{});
  EXPECT_FALSE(send_.complete);
}

}  // namespace
}  // namespace sluice
