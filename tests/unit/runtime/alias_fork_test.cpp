#include "runtime/alias_fork.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patterned_memory.hpp"
#include "runtime/alias_arena.hpp"
#include "runtime/page_guard.hpp"

namespace sluice {
namespace {

class AliasForkTest : public testing::Test {
 protected:
  AliasArena arena_{10000};
};

TEST_F(AliasForkTest, a_child_of_fork_has_its_own_copy_as_of_the_fork) {
  const Memory memory(4096);  // takes the child milliseconds to copy
  std::byte& last = memory.start()[memory.size() - 1];
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  arena_.prepare_fork(false);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    arena_.child_after_fork();
    char go = 0;
    read(report[0], &go, 1);
    const bool as_before = memory.intact() && !arena_.usable();
    memory.start()[1] = std::byte{250};
    _exit(as_before ? 0 : 1);
  }
  arena_.parent_after_fork();
  last = std::byte{200};
  write(report[1], "g", 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(last, std::byte{200});
  EXPECT_EQ(memory.start()[1], Memory::pattern(1));
  EXPECT_TRUE(arena_.is_live(memory.range()));
  close(report[0]);
  close(report[1]);
}

TEST_F(AliasForkTest, a_child_that_dies_before_it_copied_does_not_hold_its_parent_up) {
  const Memory memory(4);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  arena_.prepare_fork(false);
  const pid_t child = fork();
  if (child == 0) _exit(3);
  arena_.parent_after_fork();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

struct NobodyWaits final : FaultWaiter {
  void wait_a_little(unsigned) override {}
};

/// As the C library does, which writes to its heap in the child before any handler runs there.
TEST_F(AliasForkTest, what_a_child_writes_before_its_handlers_run_is_its_own) {
  NobodyWaits waiter;
  const PageGuard guard(waiter, &arena_);
  const Memory memory(64);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  for (int round = 0; round < 2; ++round) {
    arena_.prepare_fork(true);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      memory.start()[1] = std::byte{250};
      const bool at_once = memory.start()[2] == Memory::pattern(2);
      arena_.child_after_fork();
      _exit(at_once && memory.start()[1] == std::byte{250} && memory.start()[3] == Memory::pattern(3) ? 0 : 1);
    }
    arena_.parent_after_fork();
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << round;
    EXPECT_TRUE(memory.intact());
    EXPECT_TRUE(arena_.is_live(memory.range()));
  }
}

/// The frame of a signal handler needs it.
TEST_F(AliasForkTest, a_block_that_holds_a_stack_is_inherited) {
  const Memory memory(64);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  stack_t before{};
  stack_t alternate{};
  alternate.ss_sp = memory.start() + 8 * page_bytes;
  alternate.ss_size = 16 * page_bytes;
  ASSERT_EQ(sigaltstack(&alternate, &before), 0);
  arena_.prepare_fork(true);
  const pid_t child = fork();
  if (child == 0) _exit(memory.intact() ? 0 : 1);  // no handler would bring them
  arena_.parent_after_fork();
  sigaltstack(&before, nullptr);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sluice
