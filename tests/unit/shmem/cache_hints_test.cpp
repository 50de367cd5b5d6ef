#include "shmem/cache_hints.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::size_t shortest = 4096;

TEST(CacheHints, LapsAreShortWhereProcessesShareProcessors) {
  for (const std::size_t processes : {1U, 2U, 100U}) EXPECT_EQ(cache_hints::lap_bytes(processes, false), shortest);
}

TEST(CacheHints, LapsAreTheShorterTheMoreProcessesThereAre) {
  std::size_t before = cache_hints::lap_bytes(1, true);
  for (std::size_t processes = 2; processes <= 4096; processes *= 2) {
    const std::size_t lap = cache_hints::lap_bytes(processes, true);
    EXPECT_LE(lap, before);
    EXPECT_GE(lap, shortest);
    EXPECT_TRUE(lap == shortest || lap * processes <= std::size_t{512} << 10) << processes;
    before = lap;
  }
}

}  // namespace
}  // namespace sluice
