#include "runtime/process/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace sluice {
namespace {

using Processors = std::vector<int>;

TEST(processors, are_read_from_lists_as_the_kernel_writes_them) {
  EXPECT_EQ(parse_processors("0-3,8"), (Processors{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_processors("5"), Processors{5});
  EXPECT_EQ(parse_processors(""), Processors{});
}

TEST(processors, of_something_else_are_none) {
  for (const char* text : {"a", "1-", "3-1", "-1", "1,,2", "0-99999999999", "0-70000", "1 2"})
    EXPECT_TRUE(parse_processors(text).empty()) << text;
}

TEST(processors, to_measure_between_are_of_two_cores) {
  const ProcessorPair pair = choose_pair(0, {0, 1, 2, 3}, {0, 1});
  EXPECT_TRUE(pair.found);
  EXPECT_EQ(pair.second, 2);
  EXPECT_EQ(choose_pair(0, {0, 1, 2, 3}, {0, 2}).second, 1);
}

TEST(processors, to_measure_between_follow_one_another_round_the_end) {
  EXPECT_EQ(choose_pair(3, {0, 1, 2, 3}, {2, 3}).second, 0);
}

TEST(processors, to_measure_between_need_a_second_core) {
  EXPECT_FALSE(choose_pair(0, {0}, {0}).found);
  EXPECT_FALSE(choose_pair(0, {0, 1}, {0, 1}).found);
  EXPECT_FALSE(choose_pair(0, {}, {}).found);
}

TEST(processors, that_a_thread_may_run_on_are_those_that_it_was_bound_to) {
  std::thread([] {
    ASSERT_TRUE(stay_on(sched_getcpu()));
    EXPECT_EQ(count(allowed_processors()), 1);
  }).join();
}

TEST(processors, are_shared_by_more_processes) {
  EXPECT_FALSE((ProcessorShare{.processes = 2, .processors = 2}.oversubscribed()));
  EXPECT_TRUE((ProcessorShare{.processes = 3, .processors = 2}.oversubscribed()));
  EXPECT_FALSE((ProcessorShare{.processes = 7, .processors = 2}.crowded()));
  EXPECT_TRUE((ProcessorShare{.processes = 8, .processors = 2}.crowded()));
}

TEST(processors, are_to_spare_for_processes_that_are_not_bound_to_one) {
  EXPECT_TRUE((ProcessorShare{.processes = 2, .processors = 4, .own = 4}.has_spare()));
  EXPECT_FALSE((ProcessorShare{.processes = 2, .processors = 4, .own = 1}.has_spare()));
  EXPECT_FALSE((ProcessorShare{.processes = 3, .processors = 4, .own = 4}.has_spare()));
}

TEST(ProcessorCaches, have_sizes_that_a_processor_may_have) {
  const ProcessorCaches found = processor_caches();
  EXPECT_GE(found.own_bytes, std::size_t{64} << 10);
  EXPECT_LE(found.largest_bytes, std::size_t{1} << 36);
  EXPECT_LE(found.own_bytes, found.largest_bytes);
}

}  // namespace
}  // namespace sluice
