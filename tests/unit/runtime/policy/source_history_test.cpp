#include "runtime/policy/source_history.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kb = 1024;
constexpr std::size_t cache = 1024 * kb;
constexpr std::uint64_t address = 0x7f00'0000'1000;
constexpr Peer peer{3};

class SourceHistoryTest : public testing::Test {
 protected:
  /// A message of these bytes, all the same.
  void read(int value, std::size_t bytes = 64 * kb, std::uint64_t from = address, Peer of = peer) {
    history_.note_read(of, from, std::vector<std::byte>(bytes, static_cast<std::byte>(value)));
  }
  [[nodiscard]] WrittenAnew written_anew(std::size_t bytes = 64 * kb, std::uint64_t from = address, Peer of = peer) const {
    return history_.written_anew(of, from, bytes);
  }
  [[nodiscard]] bool is_written_anew(std::size_t bytes = 64 * kb, std::uint64_t from = address, Peer of = peer) const {
    return written_anew(bytes, from, of) != WrittenAnew::no;
  }

  SourceHistory history_{cache};
};

TEST_F(SourceHistoryTest, says_it_of_a_buffer_that_had_changed_when_it_was_read_again) {
  EXPECT_FALSE(is_written_anew()) << "never read";
  read(1);
  EXPECT_FALSE(is_written_anew()) << "read once";
  read(2);
  EXPECT_TRUE(is_written_anew());
  read(3);
  EXPECT_TRUE(is_written_anew());
}

TEST_F(SourceHistoryTest, does_not_say_it_of_a_buffer_that_is_sent_again_as_it_was) {
  read(1);
  read(2);
  read(2);
  EXPECT_FALSE(is_written_anew());
}

TEST_F(SourceHistoryTest, tells_peers_addresses_and_lengths_apart) {
  read(1);
  read(2);
  EXPECT_FALSE(is_written_anew(64 * kb, address, Peer{4}));
  EXPECT_FALSE(is_written_anew(64 * kb, address + 64 * kb));
  EXPECT_FALSE(is_written_anew(32 * kb));
}

TEST_F(SourceHistoryTest, knows_what_may_still_be_in_a_cache_of_its_reader) {
  read(1);
  read(2);
  read(7, cache / 2 - 64 * kb, address + cache);
  EXPECT_EQ(written_anew(), WrittenAnew::just_now) << "with all copies";
  read(7, 4 * kb, address + 4 * cache);
  EXPECT_EQ(written_anew(), WrittenAnew::lately);
  read(7, cache / 2 - 4 * kb, address + 5 * cache);
  EXPECT_EQ(written_anew(), WrittenAnew::lately);
  read(7, 4 * kb, address + 4 * cache);
  EXPECT_EQ(written_anew(), WrittenAnew::long_ago);
  for (const std::size_t bytes : {cache / 2, cache / 2 + kb}) {
    read(1, bytes);
    read(2, bytes);
    EXPECT_EQ(written_anew(bytes), bytes == cache / 2 ? WrittenAnew::just_now : WrittenAnew::long_ago);
  }
}

TEST_F(SourceHistoryTest, sees_a_change_in_the_first_word_and_the_last_one) {
  for (const bool first : {true, false}) {
    std::vector<std::byte> message(64 * kb);
    history_.note_read(peer, address, message);
    (first ? message.front() : message.back()) = std::byte{1};
    history_.note_read(peer, address, message);
    EXPECT_TRUE(is_written_anew());
    history_.note_read(peer, address, message);
    EXPECT_FALSE(is_written_anew());
  }
}

TEST_F(SourceHistoryTest, knows_messages_that_are_shorter_than_a_word) {
  for (const int value : {1, 2, 2}) read(value, 3);
  EXPECT_FALSE(is_written_anew(3));
}

}  // namespace
}  // namespace sluice
