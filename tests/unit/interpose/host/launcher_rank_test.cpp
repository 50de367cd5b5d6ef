#include "interpose/host/launcher_rank.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice {
namespace {

TEST(LauncherRank, is_not_told_where_no_launcher_is) {
  const std::array<const char*, 3> environment{"HOME=/", "RANK=3", nullptr};
  EXPECT_EQ(rank_told_by_launcher(environment.data()), std::nullopt);
}

TEST(LauncherRank, is_that_of_mpich_s_launcher) {
  const std::array<const char*, 3> environment{"PMI_SIZE=4", "PMI_RANK=2", nullptr};
  EXPECT_EQ(rank_told_by_launcher(environment.data()), 2);
}

TEST(LauncherRank, of_a_launcher_inside_a_job_script_comes_before_the_script_s_own) {
  const std::array<const char*, 3> environment{"SLURM_PROCID=0", "PMI_RANK=5", nullptr};
  EXPECT_EQ(rank_told_by_launcher(environment.data()), 5);
}

TEST(LauncherRank, is_not_taken_from_what_is_no_number) {
  const std::array<const char*, 4> environment{"PMI_RANK=one", "PMIX_RANK=", "FLUX_TASK_RANK=7", nullptr};
  EXPECT_EQ(rank_told_by_launcher(environment.data()), 7);
}

TEST(LauncherRank, is_not_taken_from_a_variable_with_a_longer_name) {
  const std::array<const char*, 2> environment{"PMI_RANKS=1", nullptr};
  EXPECT_EQ(rank_told_by_launcher(environment.data()), std::nullopt);
}

}  // namespace
}  // namespace sluice
