#include "runtime/process/signal_mask.hpp"

#include <gtest/gtest.h>

namespace sluice::signal_mask {
namespace {

constexpr Bits segv = bit(SIGSEGV);
constexpr Bits others = bit(SIGUSR1) | bit(SIGTERM) | bit(SIGCHLD);

TEST(SignalMaskTest, the_kernel_never_gets_sigsegv) {
  EXPECT_EQ(for_kernel(everything) & segv, 0u);
  EXPECT_EQ(for_kernel(segv), bit(stand_in));
}

TEST(SignalMaskTest, the_program_finds_what_it_asked_for) {
  for (const Bits asked : {Bits{0}, segv, others, segv | others, everything & ~segv & ~bit(stand_in), everything}) {
    EXPECT_EQ(for_program(for_kernel(asked)) & ~bit(stand_in), asked & ~bit(stand_in));
  }
  EXPECT_EQ(for_program(for_kernel(everything)), everything);
  EXPECT_EQ(for_program(for_kernel(segv)), segv);
}

TEST(SignalMaskTest, other_signals_stay_as_they_are) { EXPECT_EQ(for_kernel(others), others); }

TEST(SignalMaskTest, unblocking_the_stand_in_alone_changes_nothing) { EXPECT_EQ(for_kernel(bit(stand_in)), 0u); }

TEST(SignalMaskTest, sets_are_read_and_written_as_the_kernel_does) {
  sigset_t set{};
  sigaddset(&set, SIGUSR2);
  EXPECT_EQ(load(set), bit(SIGUSR2));
  store(set, bit(SIGINT));
  EXPECT_EQ(sigismember(&set, SIGINT), 1);
  EXPECT_EQ(sigismember(&set, SIGUSR2), 0);
}

}  // namespace
}  // namespace sluice::signal_mask
