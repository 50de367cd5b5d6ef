#include "runtime/window/words_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace sluice {
namespace {

using Kind = WordsChoice::Kind;

constexpr std::uint64_t all_free = ~std::uint64_t{0};

TEST(WordsChoices, the_first_window_of_some_members_makes_a_pool) {
  const std::array<WordsOffer, 2> offers{WordsOffer{.name = 7}, WordsOffer{.name = 9}};
  const WordsChoice choice = choose_words(offers);
  EXPECT_EQ(choice.kind, Kind::new_pool);
  EXPECT_EQ(choice.pool, 7u);
}

TEST(WordsChoices, one_without_room_is_enough_for_none) {
  const std::array<WordsOffer, 2> offers{WordsOffer{.name = 7}, WordsOffer{}};
  EXPECT_EQ(choose_words(offers).kind, Kind::alone);
}

TEST(WordsChoices, the_first_slot_that_all_have_free_is_taken) {
  const std::array<WordsOffer, 3> offers{WordsOffer{.pool = 7, .free = 0b111100}, WordsOffer{.pool = 7, .free = 0b011000},
                                         WordsOffer{.pool = 7, .free = 0b110000}};
  const WordsChoice choice = choose_words(offers);
  EXPECT_EQ(choice.kind, Kind::slot);
  EXPECT_EQ(choice.slot, 4u);
}

TEST(WordsChoices, no_slot_that_all_have_free) {
  const std::array<WordsOffer, 2> offers{WordsOffer{.pool = 7, .free = 1}, WordsOffer{.pool = 7, .free = 2}};
  EXPECT_EQ(choose_words(offers).kind, Kind::alone);
}

TEST(WordsChoices, members_with_different_pools) {
  const std::array<WordsOffer, 2> two_pools{WordsOffer{.pool = 7, .free = all_free}, WordsOffer{.pool = 8, .free = all_free}};
  EXPECT_EQ(choose_words(two_pools).kind, Kind::alone);
  const std::array<WordsOffer, 2> one_has_none{WordsOffer{.name = 7}, WordsOffer{.pool = 8, .free = all_free}};
  EXPECT_EQ(choose_words(one_has_none).kind, Kind::alone);
}

struct TwoMembers : testing::Test {
  static constexpr std::size_t bytes = WordsPools::slots * WordsPools::slot_bytes(2);
  static constexpr std::size_t self = 1;

  std::array<WindowMember, 2> members{WindowMember{.peer = Peer{4}}, WindowMember{.peer = Peer{2}}};
  alignas(cache_line) std::array<std::array<std::byte, bytes>, 2> memories{};
  WordsPools pools;

  WordsOffer added(std::uint64_t name = 7) { return pools.add(name, members, self, {memories[0].data(), memories[1].data()}); }
  WordsOffer offered() { return pools.offer(members, 3); }
};

TEST_F(TwoMembers, have_no_pool_at_first_and_could_make_one) {
  const WordsOffer first = offered();
  const WordsOffer second = offered();
  EXPECT_EQ(first.pool, 0u);
  EXPECT_EQ(first.name >> 32, 3u);
  EXPECT_NE(first.name, second.name);
}

TEST_F(TwoMembers, take_slots_that_lie_apart) {
  const auto first = pools.take(added(), 0);
  const auto second = pools.take(offered(), 5);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 2u);
  second[self].arrivals() = 3;
  second[0].completed(self) = 4;
  EXPECT_EQ(first[self].arrivals(), 0u);
  EXPECT_EQ(offered().free, all_free & ~std::uint64_t{1} & ~(std::uint64_t{1} << 5));
}

TEST_F(TwoMembers, offer_nothing_twice) {
  pools.withdraw(added());
  const WordsOffer first = offered();
  EXPECT_EQ(first.free, all_free);
  EXPECT_EQ(offered().free, 0u);
  pools.take(first, 63);
  EXPECT_EQ(offered().free, all_free >> 1);
}

TEST_F(TwoMembers, give_words_back_as_zeros_and_leave_those_of_others) {
  const auto words = pools.take(added(), 0);
  const auto neighbour = pools.take(offered(), 1);
  words[self].arrivals() = 9;
  words[self].posted(0) = 9;
  words[0].arrivals() = 9;
  neighbour[self].arrivals() = 8;
  pools.give_back(7, 0);
  EXPECT_EQ(words[self].arrivals(), 0u);
  EXPECT_EQ(words[self].posted(0), 0u);
  EXPECT_EQ(words[0].arrivals(), 9u);  // its rank does that
  EXPECT_EQ(neighbour[self].arrivals(), 8u);
  EXPECT_EQ(offered().free, all_free & ~std::uint64_t{2});
}

TEST_F(TwoMembers, are_others_in_another_order) {
  pools.withdraw(added());
  const std::array<WindowMember, 2> turned{members[1], members[0]};
  EXPECT_EQ(pools.offer(turned, 3).pool, 0u);
  EXPECT_EQ(pools.offer({members.data(), 1}, 3).pool, 0u);
  EXPECT_EQ(offered().pool, 7u);
}

TEST_F(TwoMembers, have_room_for_so_many_pools) {
  for (std::uint64_t name = 1; name <= WordsPools::max_pools; ++name) {
    const std::array<WindowMember, 2> others{members[0], WindowMember{.peer = Peer{static_cast<int>(100 + name)}}};
    EXPECT_NE(pools.offer(others, 3).name, 0u);
    pools.add(name, others, 0, {memories[0].data(), memories[1].data()});
  }
  EXPECT_EQ(offered().pool, 0u);
  EXPECT_EQ(offered().name, 0u);
}

}  // namespace
}  // namespace sluice
