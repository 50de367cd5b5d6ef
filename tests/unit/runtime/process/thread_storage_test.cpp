#include "runtime/process/thread_storage.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sluice {
namespace {

thread_local int variable = 1;
thread_local char initialised[50000] = {1};

bool lies_in_it(const void* address) { return main_thread_storage().contains(reinterpret_cast<std::uintptr_t>(address)); }

TEST(ThreadStorage, contains_the_main_threads_variables) {
  EXPECT_TRUE(lies_in_it(&variable));
  EXPECT_TRUE(lies_in_it(initialised));
  EXPECT_TRUE(lies_in_it(initialised + sizeof initialised - 1));
  EXPECT_TRUE(lies_in_it(&errno));
  EXPECT_TRUE(lies_in_it(__builtin_thread_pointer()));
}

TEST(ThreadStorage, is_not_much_more) { EXPECT_LT(main_thread_storage().size(), std::size_t{1} << 20); }

}  // namespace
}  // namespace sluice
