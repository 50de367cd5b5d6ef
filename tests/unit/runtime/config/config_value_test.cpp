#include "runtime/config/config_value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

TEST(config_value, choice_is_assigned_by_its_word_and_shown_by_it) {
  constexpr std::array<Choice<int>, 2> choices{{{"none", 0}, {"all", 9}}};
  int value = 5;

  EXPECT_TRUE(assign_choice(value, "all", choices));
  EXPECT_EQ(value, 9);
  EXPECT_EQ(show_choice(value, choices), "all");
}

TEST(config_value, word_that_is_no_choice_changes_nothing) {
  constexpr std::array<Choice<int>, 1> choices{{{"none", 0}}};
  int value = 5;

  EXPECT_FALSE(assign_choice(value, "non", choices));
  EXPECT_EQ(value, 5);
}

TEST(config_value, list_holds_known_items_only) {
  constexpr std::array<std::string_view, 2> known{"tcp", "shmem"};

  EXPECT_TRUE(is_list_of("shmem", known));
  EXPECT_TRUE(is_list_of("shmem,tcp", known));
  for (const char* list : {"", "shmem,", ",shmem", "shmem,,tcp", "shmem, tcp", "pigeon"})
    EXPECT_FALSE(is_list_of(list, known)) << list;
}

TEST(config_value, bytes_are_read_with_their_suffix) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("16384"), 16384U);
  EXPECT_EQ(parse_bytes("16K"), 16384U);
  EXPECT_EQ(parse_bytes("2m"), std::size_t{2} << 20);
  EXPECT_EQ(parse_bytes("3G"), std::size_t{3} << 30);
}

TEST(config_value, what_is_no_number_of_bytes_is_refused) {
  for (const char* text :
       {"", "K", "-1", "+1", "1.5K", "1KB", " 1", "1 ", "0x10", "16384.", "18446744073709551616", "17179869184G"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(config_value, bytes_are_shown_as_they_are_read_back) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1000}, std::size_t{1024}, std::size_t{1536}, std::size_t{3} << 30}) {
    EXPECT_EQ(parse_bytes(show_bytes(bytes)), bytes);
  }
  EXPECT_EQ(show_bytes(16384), "16K");
}

TEST(config_value, edit_distance_counts_single_changes) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
  EXPECT_EQ(edit_distance("abc", "abd"), 1U);
  EXPECT_EQ(edit_distance("abc", "ab"), 1U);
  EXPECT_EQ(edit_distance("ab", "abc"), 1U);
  EXPECT_EQ(edit_distance("abc", "acb"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

}  // namespace
}  // namespace sluice
