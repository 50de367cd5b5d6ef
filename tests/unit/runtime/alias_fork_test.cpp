#include "runtime/alias_fork.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patterned_memory.hpp"
#include "runtime/alias_arena.hpp"

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
  arena_.prepare_fork();
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
  arena_.prepare_fork();
  const pid_t child = fork();
  if (child == 0) _exit(3);
  arena_.parent_after_fork();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

}  // namespace
}  // namespace sluice
