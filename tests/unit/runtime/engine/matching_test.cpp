#include "runtime/engine/matching.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

class Matching : public testing::Test {
 protected:
  Request* post(Rank source, Tag tag) {
    Request* receive = pool_.take();
    receive->rank = source;
    receive->tag = tag;
    receive->sequence = ++sequence_;
    context_.post(receive);
    return receive;
  }
  Unexpected* arrive(Rank source, Tag tag) {
    messages_.push_back(std::make_unique<Unexpected>());
    messages_.back()->source = source;
    messages_.back()->tag = tag;
    context_.keep_unexpected(messages_.back().get());
    return messages_.back().get();
  }

  RequestPool pool_;
  Context context_{ContextId{7}};
  std::vector<std::unique_ptr<Unexpected>> messages_;
  std::uint64_t sequence_ = 0;
};

TEST_F(Matching, the_receive_posted_first_gets_the_message_when_both_accept_it) {
  Request* first = post(Rank{1}, Tag{5});
  Request* second = post(Rank{1}, Tag{5});

  EXPECT_EQ(context_.match_posted(Rank{1}, Tag{5}), first);
  EXPECT_EQ(context_.match_posted(Rank{1}, Tag{5}), second);
  EXPECT_EQ(context_.match_posted(Rank{1}, Tag{5}), nullptr);
}

TEST_F(Matching, an_earlier_any_source_receive_wins_over_a_later_named_one) {
  Request* any = post(any_source, Tag{5});
  Request* named = post(Rank{1}, Tag{5});

  EXPECT_EQ(context_.match_posted(Rank{1}, Tag{5}), any);
  EXPECT_EQ(context_.match_posted(Rank{1}, Tag{5}), named);
}

TEST_F(Matching, an_earlier_named_receive_wins_over_a_later_any_source_one) {
  Request* named = post(Rank{1}, any_tag);
  post(any_source, any_tag);

  EXPECT_EQ(context_.match_posted(Rank{1}, Tag{9}), named);
}

TEST_F(Matching, a_receive_with_another_tag_is_passed_over) {
  post(Rank{1}, Tag{4});
  Request* wanted = post(Rank{1}, Tag{5});

  EXPECT_EQ(context_.match_posted(Rank{1}, Tag{5}), wanted);
}

TEST_F(Matching, a_receive_may_be_preceded_by_earlier_ones_that_accept_the_same_and_are_not_announced) {
  Request* other_tag = post(Rank{1}, Tag{4});
  Request* first = post(Rank{1}, Tag{5});
  EXPECT_FALSE(context_.may_be_preceded(*other_tag));
  EXPECT_FALSE(context_.may_be_preceded(*first));
  EXPECT_TRUE(context_.may_be_preceded(*post(Rank{1}, Tag{5})));
}

TEST_F(Matching, parts_of_one_collective_call_precede_each_other_as_they_stand) {
  Request* first = post(Rank{1}, Tag{5});
  Request* second = post(Rank{1}, Tag{5});
  second->sequence = first->sequence;
  EXPECT_FALSE(context_.may_be_preceded(*first));
  EXPECT_TRUE(context_.may_be_preceded(*second));
}

TEST_F(Matching, an_announced_receive_precedes_nothing) {
  post(Rank{1}, Tag{5})->rtr_open = true;
  EXPECT_FALSE(context_.may_be_preceded(*post(Rank{1}, Tag{5})));
}

TEST_F(Matching, wildcards_precede_what_they_accept) {
  post(any_source, Tag{5});
  EXPECT_TRUE(context_.may_be_preceded(*post(Rank{1}, Tag{5})));
  EXPECT_FALSE(context_.may_be_preceded(*post(Rank{1}, Tag{6})));
  post(Rank{2}, any_tag);
  EXPECT_TRUE(context_.may_be_preceded(*post(Rank{2}, Tag{6})));
  EXPECT_FALSE(context_.may_be_preceded(*post(Rank{3}, Tag{6})));
}

TEST_F(Matching, an_unposted_receive_matches_nothing) {
  Request* receive = post(any_source, any_tag);

  context_.unpost(receive);

  EXPECT_EQ(context_.match_posted(Rank{0}, Tag{0}), nullptr);
}

TEST_F(Matching, unexpected_messages_of_one_source_are_found_in_order_of_arrival) {
  Unexpected* first = arrive(Rank{2}, Tag{5});
  Unexpected* second = arrive(Rank{2}, Tag{5});

  EXPECT_EQ(context_.find_unexpected(Rank{2}, Tag{5}), first);
  context_.remove_unexpected(first);
  EXPECT_EQ(context_.find_unexpected(Rank{2}, any_tag), second);
}

TEST_F(Matching, any_source_finds_the_message_that_arrived_first_from_anybody) {
  Unexpected* first = arrive(Rank{3}, Tag{1});
  arrive(Rank{0}, Tag{1});

  EXPECT_EQ(context_.find_unexpected(any_source, Tag{1}), first);
}

TEST_F(Matching, a_message_from_a_source_beyond_any_seen_before_is_kept) {
  arrive(Rank{100}, Tag{1});

  EXPECT_EQ(context_.find_unexpected(Rank{99}, Tag{1}), nullptr);
  EXPECT_EQ(context_.find_unexpected(Rank{500}, Tag{1}), nullptr);
  EXPECT_NE(context_.find_unexpected(Rank{100}, Tag{1}), nullptr);
}

}  // namespace
}  // namespace sluice
