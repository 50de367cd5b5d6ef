#include "runtime/policy/buffer_lines.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kb = 1024;
constexpr std::size_t cache = 1024 * kb;
constexpr std::size_t largest = 4 * cache;

class BufferLinesTest : public testing::Test {
 protected:
  [[nodiscard]] std::byte* at(std::size_t offset) { return memory_.data() + offset; }

  BufferLines lines_{{.own_bytes = cache, .largest_bytes = largest}};

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(8 * cache);
};

TEST_F(BufferLinesTest, are_unknown_of_a_buffer_that_no_message_has_used) {
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::unknown);
  EXPECT_EQ(lines_.overwrite(at(64 * kb), 64 * kb), TargetLines::unknown) << "another one";
}

TEST_F(BufferLinesTest, are_the_receivers_own_after_a_message_has_come) {
  lines_.overwrite(at(0), 64 * kb);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::own);
  EXPECT_EQ(lines_.overwrite(at(0), 32 * kb), TargetLines::own) << "a shorter one";
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::unknown) << "the rest of it was last used before that";
}

TEST_F(BufferLinesTest, are_the_senders_own_when_the_peer_that_read_them_has_handed_them_back) {
  lines_.note_read_by_peer(at(0), 64 * kb);
  lines_.note_handed_back(at(0), 64 * kb);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::own);
}

TEST_F(BufferLinesTest, are_shared_from_a_peers_reading_to_the_next_message) {
  lines_.overwrite(at(0), 64 * kb);
  lines_.note_read_by_peer(at(0), 64 * kb);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::shared);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::own);
}

TEST_F(BufferLinesTest, are_outer_when_more_has_gone_through_a_processors_own_cache_since_a_peer_read_them) {
  lines_.note_read_by_peer(at(0), 64 * kb);
  lines_.overwrite(at(cache), cache);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::shared) << "as much as it holds";
  lines_.note_read_by_peer(at(0), 64 * kb);
  lines_.overwrite(at(cache), cache);
  lines_.overwrite(at(2 * cache), 4 * kb);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::outer);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::own);
}

TEST_F(BufferLinesTest, are_unknown_when_more_has_gone_through_all_caches_since) {
  lines_.note_read_by_peer(at(0), 64 * kb);
  lines_.overwrite(at(cache), largest);
  lines_.overwrite(at(cache), 4 * kb);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::unknown);
}

TEST_F(BufferLinesTest, are_unknown_when_more_has_gone_through_the_receivers_own_cache_since_a_message_came) {
  lines_.overwrite(at(0), 64 * kb);
  lines_.overwrite(at(cache), cache + 4 * kb);
  EXPECT_EQ(lines_.overwrite(at(0), 64 * kb), TargetLines::unknown);
}

TEST_F(BufferLinesTest, of_what_is_longer_than_a_processors_own_cache_are_never_in_it) {
  lines_.overwrite(at(0), 2 * cache);
  EXPECT_EQ(lines_.overwrite(at(0), 2 * cache), TargetLines::unknown);
  lines_.note_read_by_peer(at(0), 2 * cache);
  EXPECT_EQ(lines_.overwrite(at(0), 2 * cache), TargetLines::outer);
  lines_.note_read_by_peer(at(0), largest + kb);
  EXPECT_EQ(lines_.overwrite(at(0), largest + kb), TargetLines::unknown);
}

TEST_F(BufferLinesTest, are_kept_of_many_buffers_at_round_addresses) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < 32; ++i) lines_.overwrite(at(i * 256 * kb), 16 * kb);
  for (std::size_t i = 0; i < 32; ++i) kept += lines_.overwrite(at(i * 256 * kb), 16 * kb) == TargetLines::own ? 1 : 0;
  EXPECT_GE(kept, 24U) << "at most a few of them share a place";
}

}  // namespace
}  // namespace sluice
