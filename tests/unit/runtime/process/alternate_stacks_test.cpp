#include "runtime/process/alternate_stacks.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "tests/unit/support/patterned_memory.hpp"

namespace sluice {
namespace {

TEST(alternate_stacks, pages_of_a_stack_are_known_until_the_thread_has_none) {
  const ByteRange stack{10 * page_bytes + 100, 12 * page_bytes + 100};
  EXPECT_FALSE(alternate_stacks::share_pages_with(stack));
  alternate_stacks::note(stack);
  EXPECT_TRUE(alternate_stacks::share_pages_with({10 * page_bytes, 10 * page_bytes + 1}));
  EXPECT_TRUE(alternate_stacks::share_pages_with({12 * page_bytes + 200, 13 * page_bytes}));
  EXPECT_FALSE(alternate_stacks::share_pages_with({13 * page_bytes, 14 * page_bytes}));
  EXPECT_FALSE(alternate_stacks::share_pages_with({9 * page_bytes, 10 * page_bytes}));
  alternate_stacks::note({20 * page_bytes, 21 * page_bytes});
  EXPECT_FALSE(alternate_stacks::share_pages_with(stack));
  alternate_stacks::note({});
  EXPECT_FALSE(alternate_stacks::share_pages_with({20 * page_bytes, 21 * page_bytes}));
}

TEST(alternate_stacks, threads_that_end_make_room) {
  constexpr std::uintptr_t far = std::uintptr_t{1} << 40;
  for (std::size_t i = 0; i < 1000; ++i) {
    const ByteRange stack{far + i * page_bytes, far + (i + 1) * page_bytes};
    std::thread([&] { alternate_stacks::note(stack); }).join();
    EXPECT_TRUE(alternate_stacks::share_pages_with(stack)) << i;
  }
  EXPECT_FALSE(alternate_stacks::share_pages_with({far - page_bytes, far}));
}

TEST(alternate_stacks, memory_beside_one_does_not_become_a_block) {
  AliasArena arena(10000);
  const Memory memory(4);
  alternate_stacks::note({memory.range().begin + 100, memory.range().begin + 5000});
  EXPECT_EQ(arena.migrate({memory.range().begin + 6000, memory.range().end}), Ineligible::stack);
  EXPECT_EQ(arena.migrate({memory.range().begin + 2 * page_bytes, memory.range().end}), Ineligible::none);
  alternate_stacks::note({});
  EXPECT_EQ(arena.migrate(memory.range()), Ineligible::none);
}

}  // namespace
}  // namespace sluice
