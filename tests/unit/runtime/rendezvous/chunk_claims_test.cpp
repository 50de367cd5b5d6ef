#include "runtime/rendezvous/chunk_claims.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint32_t total = 5;

struct ChunkClaimsTest : testing::Test {
  std::atomic<std::uint64_t> word{0};
  ChunkClaims claims{word};
};

TEST_F(ChunkClaimsTest, both_sides_claim_from_their_ends_until_they_meet) {
  EXPECT_EQ(claims.claim_front(0, total).view.front, 1u);
  EXPECT_EQ(claims.claim_back(0, total).view.back, 1u);
  EXPECT_EQ(claims.claim_front(0, total).view.front, 2u);
  EXPECT_EQ(claims.claim_front(0, total).view.front, 3u);
  EXPECT_EQ(claims.claim_back(0, total).view.back, 2u);
  EXPECT_FALSE(claims.claim_front(0, total).claimed);
  const auto last = claims.claim_back(0, total);
  EXPECT_FALSE(last.claimed);
  EXPECT_EQ(last.view.front, 3u);
  EXPECT_EQ(last.view.back, 2u);
}

TEST_F(ChunkClaimsTest, who_comes_with_an_old_generation_claims_nothing) {
  ASSERT_TRUE(claims.claim_back(0, total).claimed);
  const auto seen = claims.close();
  EXPECT_EQ(seen.front, 0u);
  EXPECT_EQ(seen.back, 1u);
  EXPECT_FALSE(claims.claim_front(0, total).claimed);
  EXPECT_EQ(claims.view().generation, 1u);
  EXPECT_EQ(claims.claim_front(1, total).view.front, 1u);
}

TEST_F(ChunkClaimsTest, as_many_chunks_as_can_be_counted_do_not_run_over) {
  for (std::uint32_t i = 0; i < ChunkClaims::max_chunks; i++) ASSERT_TRUE(claims.claim_back(0, ChunkClaims::max_chunks).claimed);
  EXPECT_FALSE(claims.claim_back(0, ChunkClaims::max_chunks).claimed);
  EXPECT_EQ(claims.view().front, 0u);
  claims.close();
  EXPECT_EQ(claims.view().generation, 1u);
  EXPECT_EQ(claims.view().back, 0u);
}

TEST_F(ChunkClaimsTest, two_threads_claim_every_chunk_once) {
  constexpr std::uint32_t chunks = 20000;
  std::vector<std::atomic<int>> taken(chunks);
  std::thread receiver([&] {
    for (auto claim = claims.claim_back(0, chunks); claim.claimed; claim = claims.claim_back(0, chunks)) {
      taken[chunks - claim.view.back]++;
    }
  });
  for (auto claim = claims.claim_front(0, chunks); claim.claimed; claim = claims.claim_front(0, chunks)) {
    taken[claim.view.front - 1]++;
  }
  receiver.join();
  for (std::uint32_t i = 0; i < chunks; i++) ASSERT_EQ(taken[i], 1) << i;
}

TEST(ChunkBytes, are_those_of_four_chunks_or_of_two_alike) {
  constexpr std::size_t kb = 1024;
  constexpr std::size_t any = 64 * kb * kb;
  EXPECT_EQ(chunk_bytes_of(32 * kb, any), 32 * kb) << "not cut";
  EXPECT_EQ(chunk_bytes_of(32 * kb + 1, any), 20 * kb) << "whole pages";
  EXPECT_EQ(chunk_bytes_of(40 * kb, any), 20 * kb);
  EXPECT_EQ(chunk_bytes_of(96 * kb, any), 48 * kb);
  EXPECT_EQ(chunk_bytes_of(128 * kb, any), 32 * kb);
  EXPECT_EQ(chunk_bytes_of(1024 * kb, any), 256 * kb);
}

TEST(ChunkBytes, are_no_more_than_a_copy_may_be_cut_into_nor_too_few_to_be_counted) {
  EXPECT_EQ(chunk_bytes_of(96 * 1024, 5003), 5003U);
  constexpr std::size_t gb = std::size_t{1} << 30;
  const std::size_t least = chunk_bytes_of(gb, 4096);
  EXPECT_GT(least, 4096U);
  EXPECT_LE((gb + least - 1) / least, ChunkClaims::max_chunks);
}

}  // namespace
}  // namespace sluice
