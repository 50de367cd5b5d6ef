// When the trace is told of a match, and what it is told of the choice that follows.

#include "runtime/engine/match_trace.hpp"

#include <gtest/gtest.h>

#include "runtime/engine/matching.hpp"
#include "tests/unit/support/traced.hpp"

namespace sluice {
namespace {

class MatchTraceTest : public testing::Test {
 protected:
  MatchTraceTest() {
    world_.become({Peer{0}, Peer{1}}, Rank{0});
    receive_.kind = Request::Kind::receive;
    receive_.context = &world_;
    receive_.rank = Rank{1};
    receive_.peer = Peer{1};
    receive_.message_bytes = receive_.stop = 5000;
    trace::named(receive_, 1);
  }
  [[nodiscard]] trace::Reason reason_told() const {
    for (const trace::Record& record : traced_.records()) {
      if (record.kind == static_cast<std::uint16_t>(trace::Kind::protocol)) return static_cast<trace::Reason>(record.extra);
    }
    return {};
  }

  const Traced traced_;
  Config config_;
  Context world_{ContextId{1}};
  Request receive_;
  MatchTrace matches_{config_};
};

TEST_F(MatchTraceTest, a_match_that_is_kept_is_told_once_and_on_demand) {
  matches_.keep(receive_, 7, false);
  EXPECT_EQ(traced_.of(trace::Kind::match), Lines{});
  EXPECT_EQ(matches_.tell(), trace::with_last) << "what follows has the time of the match";
  EXPECT_EQ(matches_.tell(), 0u);
  EXPECT_EQ(traced_.of(trace::Kind::match), Lines{"match rendezvous 5000"});
}

TEST_F(MatchTraceTest, a_choice_is_told_after_the_match_that_it_follows_from) {
  matches_.keep(receive_, 7, false);
  matches_.chosen(receive_, trace::Protocol::get, trace::Reason::only_way);
  EXPECT_EQ(traced_.of(Peer{0}), (Lines{"match rendezvous 5000", "protocol get 5000"}));
}

TEST_F(MatchTraceTest, a_choice_that_was_asked_for_says_so) {
  config_.rendezvous = Rendezvous::get;
  matches_.chosen(receive_, trace::Protocol::get, trace::Reason::only_way);
  EXPECT_EQ(reason_told(), trace::Reason::asked_for);
}

TEST_F(MatchTraceTest, what_a_context_asks_for_comes_before_what_the_process_does) {
  config_.rendezvous = Rendezvous::get;
  world_.rendezvous = Rendezvous::rput;
  matches_.chosen(receive_, trace::Protocol::get, trace::Reason::only_way);
  EXPECT_EQ(reason_told(), trace::Reason::only_way);
}

}  // namespace
}  // namespace sluice
