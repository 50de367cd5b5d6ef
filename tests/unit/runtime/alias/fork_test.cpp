#include "runtime/alias/fork.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/forked_blocks.hpp"
#include "runtime/alias/private_views.hpp"
#include "runtime/guard/page_guard.hpp"
#include "tests/unit/support/patterned_memory.hpp"

namespace sluice {
namespace {

const ForkedBlocks::InUse all_in_use{.pages = {}, .all = true};

class AliasForkTest : public testing::Test {
 protected:
  AliasArena arena_{10000};
};

TEST_F(AliasForkTest, a_child_of_fork_has_its_own_copy_as_of_the_fork) {
  const Memory memory(4096);
  std::byte& last = memory.start()[memory.size() - 1];
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  arena_.forks().prepare(false);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    arena_.forks().after_in_child();
    char go = 0;
    read(report[0], &go, 1);
    const bool as_before = memory.intact() && !arena_.usable();
    memory.start()[1] = std::byte{250};
    _exit(as_before ? 0 : 1);
  }
  arena_.forks().after_in_parent();
  last = std::byte{200};
  write(report[1], "g", 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(last, std::byte{200});
  EXPECT_EQ(memory.start()[1], Memory::pattern(1));
  EXPECT_FALSE(arena_.is_live(memory.range()));
  close(report[0]);
  close(report[1]);
}

TEST_F(AliasForkTest, a_child_that_dies_before_it_copied_does_not_hold_its_parent_up) {
  const Memory memory(4);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  arena_.forks().prepare(false, all_in_use);
  const pid_t child = fork();
  if (child == 0) _exit(3);
  arena_.forks().after_in_parent();
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
    arena_.forks().prepare(true, all_in_use);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      memory.start()[1] = std::byte{250};
      const bool at_once = memory.start()[2] == Memory::pattern(2);
      arena_.forks().after_in_child();
      _exit(at_once && memory.start()[1] == std::byte{250} && memory.start()[3] == Memory::pattern(3) ? 0 : 1);
    }
    arena_.forks().after_in_parent();
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << round;
    EXPECT_TRUE(memory.intact());
    EXPECT_TRUE(arena_.is_live(memory.range()));
  }
}

/// In the child of such a fork.
template <typename Body>
int exit_code_of_child(AliasArena& arena, const ForkedBlocks::InUse& in_use, Body&& body) {
  arena.forks().prepare(false, in_use);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    arena.forks().after_in_child();
    _exit(body() ? 0 : 1);
  }
  arena.forks().after_in_parent();
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::size_t occupied(const AliasArena& arena) {
  struct stat file {};
  fstat(arena.descriptor(), &file);
  return static_cast<std::size_t>(file.st_blocks) * 512;
}

TEST_F(AliasForkTest, pages_in_use_stay_blocks_and_the_rest_is_shared_until_it_is_written_to) {
  const Memory memory(64);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  const ByteRange used{memory.range().begin + 8 * page_bytes, memory.range().begin + 16 * page_bytes};
  ForkedBlocks::InUse in_use;
  in_use.pages.add(PageRange::covering(used));
  EXPECT_EQ(exit_code_of_child(arena_, in_use,
                               [&] {
                                 const bool intact = memory.intact();
                                 memory.start()[9 * page_bytes] = memory.start()[0] = std::byte{77};
                                 return intact;
                               }),
            0);
  EXPECT_TRUE(memory.intact());
  EXPECT_TRUE(arena_.is_live(used));
  EXPECT_FALSE(arena_.is_live(memory.range()));
  *arena_.alias(used.begin + 5) = std::byte{42};
  EXPECT_EQ(memory.start()[8 * page_bytes + 5], std::byte{42});
}

TEST_F(AliasForkTest, memory_is_a_block_again_when_no_child_shows_it) {
  const Memory memory(64);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  arena_.forks().prepare(false);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    arena_.forks().after_in_child();
    char byte = 0;
    read(go[0], &byte, 1);
    _exit(memory.start()[3] == Memory::pattern(3) ? 0 : 1);
  }
  arena_.forks().after_in_parent();
  memory.start()[3] = std::byte{200};
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::child);
  EXPECT_TRUE(arena_.forks().next_to_return(0).empty());
  EXPECT_NE(arena_.look(), 0u);
  write(go[1], "g", 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(memory.start()[3], std::byte{200});
  arena_.look();
  EXPECT_TRUE(arena_.forks().next_to_return(0).contains(memory.range().begin));
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_TRUE(arena_.is_live(memory.range()));
  EXPECT_EQ(memory.start()[3], std::byte{200});
  EXPECT_EQ(memory.start()[4], Memory::pattern(4));
  EXPECT_EQ(*(arena_.alias(memory.range().begin) + 3), std::byte{200});
  EXPECT_EQ(occupied(arena_), memory.size());
  close(go[0]);
  close(go[1]);
}

TEST_F(AliasForkTest, what_is_dropped_from_a_view_reads_zeros) {
  const Memory memory(64);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  const auto drops = [&] {
    private_views::drop({memory.range().begin + page_bytes, memory.range().begin + 3 * page_bytes + 1});
    return memory.start()[page_bytes] == std::byte{0} && memory.start()[3 * page_bytes - 1] == std::byte{0} &&
           memory.start()[3 * page_bytes] == Memory::pattern(3 * page_bytes);
  };
  EXPECT_EQ(exit_code_of_child(arena_, {}, drops), 0);
  EXPECT_TRUE(memory.intact());
  EXPECT_TRUE(drops());
}

TEST_F(AliasForkTest, file_pages_that_nobody_shows_any_more_are_freed) {
  {
    const Memory memory(64);
    ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
    EXPECT_EQ(exit_code_of_child(arena_, {}, [&] { return memory.intact(); }), 0);
    EXPECT_EQ(arena_.look(), memory.size());
  }
  EXPECT_EQ(arena_.look(), 0u);
  EXPECT_EQ(occupied(arena_), 0u);
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
  arena_.forks().prepare(true, all_in_use);
  const pid_t child = fork();
  if (child == 0) _exit(memory.intact() ? 0 : 1);  // no handler would bring them
  arena_.forks().after_in_parent();
  sigaltstack(&before, nullptr);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sluice
