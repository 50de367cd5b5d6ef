#include "runtime/process/descriptor_room.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/wait.h>

#include <cstdlib>
#include <functional>
#include <vector>

namespace sluice {
namespace {

Descriptor fresh() { return Descriptor(::eventfd(0, EFD_CLOEXEC)); }

rlimit limit_now() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

/// In a process of its own, whose limits may go down. The number of the check that failed, or 0.
int under_limits(rlim_t soft, rlim_t hard, const std::function<int()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{soft, hard};
    _exit(::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? check() : 99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

TEST(DescriptorRoom, OwnOnesLieAboveWhatSelectTakesAndTheLimitIsAsBefore) {
  EXPECT_EQ(under_limits(64, 4096,
                         [] {
                           std::vector<Descriptor> own;
                           {
                             const DescriptorRoom room(200);
                             for (int i = 0; i < 200; ++i) own.push_back(DescriptorRoom::moved_up(fresh()));
                           }
                           for (const Descriptor& one : own) {
                             if (one.get() < FD_SETSIZE || ::fcntl(one.get(), F_GETFD) != FD_CLOEXEC) return 1;
                           }
                           return limit_now().rlim_cur == 64 && limit_now().rlim_max == 4096 ? 0 : 2;
                         }),
            0);
}

TEST(DescriptorRoom, TheProgramGetsAsManyAsItsLimitSays) {
  EXPECT_EQ(under_limits(64, 4096,
                         [] {
                           std::vector<Descriptor> own;
                           {
                             const DescriptorRoom room(200);
                             for (int i = 0; i < 200; ++i) own.push_back(DescriptorRoom::moved_up(fresh()));
                           }
                           std::vector<Descriptor> programs;
                           while (Descriptor next = fresh()) programs.push_back(std::move(next));
                           return programs.back().get() == 63 ? 0 : 1;
                         }),
            0);
}

TEST(DescriptorRoom, WhereTheHardLimitIsLowTheyStayWhereTheyAre) {
  EXPECT_EQ(under_limits(64, 64,
                         [] {
                           const DescriptorRoom room(200);
                           const Descriptor low = DescriptorRoom::moved_up(fresh());
                           return low && low.get() < 64 && ::fcntl(low.get(), F_GETFD) == FD_CLOEXEC ? 0 : 1;
                         }),
            0);
}

TEST(DescriptorRoom, BelowSelectsLimitTheyKeepOffTheLowNumbers) {
  EXPECT_EQ(under_limits(FD_SETSIZE, FD_SETSIZE,
                         [] {
                           const DescriptorRoom room(1);
                           return DescriptorRoom::moved_up(fresh()).get() >= FD_SETSIZE / 2 ? 0 : 1;
                         }),
            0);
}

TEST(DescriptorRoom, PreparingLeavesNothingOpen) {
  const Descriptor before = fresh();
  DescriptorRoom::prepare_process();
  const Descriptor after = fresh();
  EXPECT_EQ(after.get(), before.get() + 1);
}

TEST(DescriptorRoom, NoDescriptorStaysNone) { EXPECT_FALSE(DescriptorRoom::moved_up(Descriptor())); }

}  // namespace
}  // namespace sluice
