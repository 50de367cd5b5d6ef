// Which blocked operations may be released: a table.

#include "runtime/release/decision.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace sluice {

static bool operator==(const ReleaseDecision& one, const ReleaseDecision& other) {
  return one.answer == other.answer && (one.answer != ReleaseDecision::Answer::refused || one.reason == other.reason);
}
static std::ostream& operator<<(std::ostream& out, const ReleaseDecision& decision) {
  constexpr const char* names[] = {"yes", "if it is a block", "no", "refused: "};
  const bool refused = decision.answer == ReleaseDecision::Answer::refused;
  return out << names[static_cast<int>(decision.answer)] << (refused ? describe(decision.reason) : "");
}

namespace {

using Path = BlockedReceive::Path;
constexpr ReleaseDecision yes{ReleaseDecision::Answer::yes, {}};
constexpr ReleaseDecision if_block{ReleaseDecision::Answer::if_block, {}};
constexpr ReleaseDecision no{ReleaseDecision::Answer::no, {}};
constexpr ReleaseDecision refused(Fallback reason) { return {ReleaseDecision::Answer::refused, reason}; }

constexpr std::size_t mb = 1'000'000;
constexpr std::uint64_t cost_ns = 10'000;
constexpr ReleaseTerms automatic{.mode = ReleaseMode::automatic, .releases_sends = true, .waited_ns = 2 * cost_ns};
constexpr ReleaseTerms early{.mode = ReleaseMode::early, .releases_sends = true, .waited_ns = 2 * cost_ns};
constexpr ReleaseTerms matched{.mode = ReleaseMode::matched, .releases_sends = true, .waited_ns = 2 * cost_ns};
constexpr ReleaseTerms threads{
    .mode = ReleaseMode::automatic, .releases_sends = true, .concurrent_calls = true, .waited_ns = 2 * cost_ns};
constexpr ReleaseTerms shared{
    .mode = ReleaseMode::automatic, .releases_sends = true, .shares_memory = true, .waited_ns = 2 * cost_ns};
constexpr ReleaseTerms shared_early{
    .mode = ReleaseMode::early, .releases_sends = true, .shares_memory = true, .waited_ns = 2 * cost_ns};
constexpr ReleaseTerms short_wait{.mode = ReleaseMode::automatic, .releases_sends = true, .waited_ns = cost_ns - 1};
constexpr ReleaseTerms no_sends{.mode = ReleaseMode::automatic, .releases_sends = false, .waited_ns = 2 * cost_ns};

constexpr BlockedReceive unmatched{.bytes = mb, .span_bytes = mb, .cost_ns = cost_ns, .can_go_on = true};
constexpr BlockedReceive known{.bytes = mb, .span_bytes = mb, .cost_ns = cost_ns, .matched = true};

BlockedReceive with(BlockedReceive receive, Path path, std::size_t missing) {
  receive.path = path;
  receive.missing_bytes = missing;
  return receive;
}
template <class Blocked, class Member>
Blocked with(Blocked blocked, Member Blocked::*member, Member value) {
  blocked.*member = value;
  return blocked;
}
BlockedReceive spread(const BlockedReceive& receive, std::size_t span) {
  return with(with(receive, &BlockedReceive::has_gaps, true), &BlockedReceive::span_bytes, span);
}

TEST(ReleaseDecision, of_a_receive_whose_message_is_not_known) {
  using R = BlockedReceive;
  struct Case {
    const char* what;
    ReleaseTerms terms;
    BlockedReceive receive;
    ReleaseDecision expected;
  };
  const BlockedReceive wildcard = with(unmatched, &R::is_wildcard, true);
  const BlockedReceive returns = with(unmatched, &R::errors_return, true);
  const std::vector<Case> cases = {
      {"an ordinary one", automatic, unmatched, if_block},
      {"short", automatic, with(unmatched, &R::bytes, smallest_release - 1), no},
      {"just long enough", automatic, with(unmatched, &R::bytes, smallest_release), if_block},
      {"from anybody", automatic, wildcard, refused(Fallback::wildcard_unmatched)},
      {"from anybody, early", early, wildcard, refused(Fallback::wildcard_unmatched)},
      {"matched only", matched, unmatched, refused(Fallback::mode_matched_only)},
      {"its error would return", automatic, returns, refused(Fallback::errors_return)},
      {"its error would return, early", early, returns, if_block},
      {"threads in calls", threads, unmatched, refused(Fallback::concurrent_calls)},
      {"peers see what is stored", shared, unmatched, refused(Fallback::shared_window)},
      {"peers see what is stored, early", shared_early, unmatched, refused(Fallback::shared_window)},
      {"from this process", automatic, with(unmatched, &R::is_from_self, true), no},
      {"nothing goes behind a guard", automatic, with(unmatched, &R::can_go_on, false), refused(Fallback::other_copy)},
      {"with gaps", automatic, spread(unmatched, 2 * mb), if_block},
      {"mostly gaps", automatic, spread(unmatched, 8 * mb + 1), refused(Fallback::not_contiguous)},
      {"with gaps, after a short wait", short_wait, spread(unmatched, 2 * mb), refused(Fallback::not_contiguous)},
      {"after a short wait", short_wait, unmatched, if_block},
  };
  for (const Case& one : cases) EXPECT_EQ(judge(one.receive, one.terms), one.expected) << one.what;
}

TEST(ReleaseDecision, of_a_receive_whose_message_is_known) {
  struct Case {
    const char* what;
    ReleaseTerms terms;
    BlockedReceive receive;
    ReleaseDecision expected;
  };
  // A release costs 10 µs, and closing and opening twice that: 8000 bytes in a µs by a copy, 4000 by a socket.
  constexpr std::size_t copied_meanwhile = 8000 * 20;
  constexpr std::size_t streamed_meanwhile = 4000 * 20;
  const std::vector<Case> cases = {
      {"written by its sender", automatic, with(known, Path::written, copied_meanwhile), yes},
      {"nearly there", automatic, with(known, Path::written, copied_meanwhile - 8), refused(Fallback::not_worth)},
      {"by an adapter", automatic, with(known, Path::moved_to_alias, copied_meanwhile), yes},
      {"by a socket", automatic, with(known, Path::streamed, streamed_meanwhile), if_block},
      {"by a socket, nearly there", automatic, with(known, Path::streamed, streamed_meanwhile - 4), refused(Fallback::not_worth)},
      {"read by this process", automatic, with(known, Path::other, mb), refused(Fallback::other_copy)},
      {"with gaps", automatic, spread(with(known, Path::written, mb), 2 * mb), refused(Fallback::not_contiguous)},
      {"matched only", matched, with(known, Path::written, mb), yes},
      {"threads in calls", threads, with(known, Path::written, mb), yes},
      {"peers see what is stored", shared, with(known, Path::written, mb), yes},
      {"its error would return", automatic, with(with(known, &BlockedReceive::errors_return, true), Path::written, mb), yes},
      {"short", automatic, with(with(known, &BlockedReceive::bytes, smallest_release - 1), Path::written, mb), no},
  };
  for (const Case& one : cases) EXPECT_EQ(judge(one.receive, one.terms), one.expected) << one.what;
}

TEST(ReleaseDecision, of_a_send) {
  using S = BlockedSend;
  constexpr BlockedSend offered{.bytes = mb, .is_standard = true, .is_offered = true};
  struct Case {
    const char* what;
    ReleaseTerms terms;
    BlockedSend send;
    ReleaseDecision expected;
  };
  const std::vector<Case> cases = {
      {"an ordinary one", automatic, offered, if_block},
      {"matched only is about receives", matched, offered, if_block},
      {"so is what peers see", shared, offered, if_block},
      {"sends are not released", no_sends, offered, no},
      {"synchronous", automatic, with(offered, &S::is_standard, false), no},
      {"short", automatic, with(offered, &S::bytes, smallest_release - 1), no},
      {"threads in calls", threads, offered, refused(Fallback::concurrent_calls)},
      {"its receiver has come", automatic, with(offered, &S::is_answered, true), refused(Fallback::send_answered)},
      {"read by its address", automatic, with(offered, &S::is_offered, false), refused(Fallback::send_not_offered)},
  };
  for (const Case& one : cases) EXPECT_EQ(judge(one.send, one.terms), one.expected) << one.what;
}

TEST(ReleaseDecision, a_block_may_be_made_after_a_wait_as_long_as_that) {
  EXPECT_FALSE(outlasts_migration(19'999, 10));
  EXPECT_TRUE(outlasts_migration(20'000, 10));
}

}  // namespace
}  // namespace sluice
