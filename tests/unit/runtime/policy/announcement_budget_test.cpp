#include "runtime/policy/announcement_budget.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::size_t most = 256 * 1024;
constexpr std::size_t message = 200'000;
constexpr std::size_t head = AnnouncementBudget::head_bytes;
constexpr std::uint64_t quick = AnnouncementBudget::slow_ns / 4;
constexpr std::uint64_t slow = AnnouncementBudget::slow_ns * 3 / 2;
constexpr std::uint64_t very_slow = 1000 * AnnouncementBudget::slow_ns;

void exchange(AnnouncementBudget& budget, std::uint64_t answered_after, int times = 1) {
  for (int i = 0; i < times; ++i) {
    budget.announced(head);
    budget.answered(head, answered_after);
  }
}

TEST(announcement_budget, brings_the_head_of_a_message_to_a_peer_that_has_not_answered_yet) {
  const AnnouncementBudget budget;
  EXPECT_EQ(budget.share_of(message, most), head);
  EXPECT_EQ(budget.share_of(1000, most), 1000U);
  EXPECT_EQ(budget.share_of(message, head / 2), head / 2);
}

TEST(announcement_budget, brings_heads_while_answers_are_quick_and_whole_messages_once_they_are_slow) {
  AnnouncementBudget budget;
  exchange(budget, quick, 10);
  EXPECT_EQ(budget.share_of(message, most), head);
  exchange(budget, slow);
  EXPECT_EQ(budget.share_of(message, most), head) << "one answer that is a little slow";
  exchange(budget, slow, 10);
  EXPECT_EQ(budget.share_of(message, most), message);
  exchange(budget, quick, 10);
  EXPECT_EQ(budget.share_of(message, most), head);
}

TEST(announcement_budget, one_very_slow_answer_is_enough_and_is_soon_forgotten) {
  AnnouncementBudget budget;
  exchange(budget, very_slow);
  EXPECT_EQ(budget.share_of(message, most), message);
  exchange(budget, quick, 3);
  EXPECT_EQ(budget.share_of(message, most), head);
}

TEST(announcement_budget, longer_messages_than_an_announcement_holds_are_never_brought_whole) {
  AnnouncementBudget budget;
  exchange(budget, slow, 20);
  EXPECT_EQ(budget.share_of(most, most), most);
  EXPECT_EQ(budget.share_of(most + 1, most), head);
}

TEST(announcement_budget, brings_no_more_whole_messages_than_may_be_unanswered) {
  AnnouncementBudget budget;
  exchange(budget, slow, 20);
  budget.announced(message);
  EXPECT_EQ(budget.share_of(message, most), message);
  budget.announced(message);
  EXPECT_EQ(budget.share_of(message, most), head);
  EXPECT_EQ(budget.share_of(100'000, most), 100'000U) << "which is still within it";
  budget.answered(message, slow);
  EXPECT_EQ(budget.share_of(message, most), message);
}

}  // namespace
}  // namespace sluice
