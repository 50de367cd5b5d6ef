// Trials of two halves of messages into memory that is no block, with a clock of the test's.
#include "runtime/policy/plain_halves.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::size_t bytes = 300'000;
constexpr std::uint64_t slow = 60'000;  // ns for one message
constexpr std::uint64_t fast = 40'000;

class PlainHalvesTest : public testing::Test {
 protected:
  /// A message by itself. Whether both sides copied it.
  bool message(std::uint64_t alone_ns, std::uint64_t both_ns, std::size_t length = bytes) {
    const bool both = halves_.begin(length, now_);
    now_ += both ? both_ns : alone_ns;
    halves_.end(now_);
    return both;
  }
  /// How many of them both sides copied.
  int messages(int count, std::uint64_t alone_ns, std::uint64_t both_ns) {
    int by_both = 0;
    for (int i = 0; i < count; ++i) by_both += message(alone_ns, both_ns) ? 1 : 0;
    return by_both;
  }

  PlainHalves halves_;
  std::uint64_t now_ = 1000;
};

constexpr int trial = 2 * static_cast<int>(PlainHalves::samples);

TEST_F(PlainHalvesTest, both_ways_take_turns_and_the_faster_one_holds) {
  EXPECT_FALSE(message(slow, fast)) << "the receiver alone begins";
  EXPECT_TRUE(message(slow, fast));
  EXPECT_EQ(messages(trial - 2, slow, fast), trial / 2 - 1);
  EXPECT_TRUE(halves_.win(bytes));
  EXPECT_EQ(messages(100, slow, fast), 100);
}

TEST_F(PlainHalvesTest, where_they_do_not_win_clearly_the_receiver_copies_alone) {
  EXPECT_EQ(messages(trial, slow, slow - slow / 20), trial / 2);
  EXPECT_EQ(messages(200, slow, slow - slow / 20), 0);
}

TEST_F(PlainHalvesTest, one_slow_period_of_a_trial_changes_nothing) {
  EXPECT_EQ(messages(trial - 1, slow, fast), trial / 2 - 1);
  message(slow, 100 * slow);
  EXPECT_TRUE(halves_.win(bytes));
}

TEST_F(PlainHalvesTest, now_and_then_the_other_way_is_tried_again) {
  messages(trial, slow, fast);
  ASSERT_TRUE(halves_.win(bytes));
  const int until_next = static_cast<int>(PlainHalves::least_between_trials) + trial;
  messages(until_next, fast, slow);
  EXPECT_FALSE(halves_.win(bytes)) << "the program does something else now";
  EXPECT_EQ(messages(100, fast, slow), 0);
}

TEST_F(PlainHalvesTest, trials_that_change_nothing_become_rare) {
  messages(trial, fast, slow);
  const int by_both = messages(20'000, fast, slow);
  EXPECT_LE(by_both, 8 * trial / 2);
  EXPECT_GE(by_both, trial / 2);
}

TEST_F(PlainHalvesTest, a_window_goes_one_way_and_counts_as_a_whole) {
  for (int window = 0; window < trial; ++window) {
    const bool both = halves_.begin(bytes, now_);
    for (int i = 1; i < 8; ++i) EXPECT_EQ(halves_.begin(bytes, now_), both);
    now_ += both ? 8 * fast : 8 * slow;
    for (int i = 0; i < 8; ++i) halves_.end(now_);
  }
  EXPECT_TRUE(halves_.win(bytes));
}

TEST_F(PlainHalvesTest, sizes_are_learnt_by_themselves_and_mixtures_teach_nothing) {
  messages(trial, slow, fast);
  EXPECT_FALSE(halves_.win(4 * bytes));
  PlainHalves mixed;
  for (int i = 0; i < 10 * trial; ++i) {
    static_cast<void>(mixed.begin(bytes, now_));
    EXPECT_FALSE(mixed.begin(4 * bytes, now_));
    mixed.end(now_ += fast);
    mixed.end(now_ += fast);
  }
  EXPECT_FALSE(mixed.win(bytes));
}

TEST_F(PlainHalvesTest, a_period_without_end_stays_with_the_receiver) {
  static_cast<void>(message(slow, fast));
  EXPECT_TRUE(halves_.begin(bytes, now_));
  int by_both = 1;
  for (int i = 0; i < 5000; ++i) {
    by_both += halves_.begin(bytes, now_) ? 1 : 0;
    halves_.end(now_ += fast);
  }
  EXPECT_EQ(by_both, static_cast<int>(PlainHalves::most_messages));
}

}  // namespace
}  // namespace sluice
