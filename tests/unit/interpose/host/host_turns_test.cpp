#include "interpose/host/host_turns.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <thread>

namespace sluice {
namespace {

bool may_of_another_thread(bool outside_of_calls) {
  bool may = false;
  std::thread([&] {
    if (outside_of_calls) {
      const OutsideOfCalls here;
      may = may_progress_host();
    } else {
      may = may_progress_host();
    }
  }).join();
  return may;
}

TEST(HostTurns, are_for_any_thread_that_may_call_at_any_time) {
  expect_thread_level(MPI_THREAD_MULTIPLE);
  const OutsideOfCalls here;
  EXPECT_TRUE(may_progress_host());
  EXPECT_TRUE(may_of_another_thread(true));
}

TEST(HostTurns, are_for_the_main_thread_where_only_that_may_call) {
  for (const int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED}) {
    expect_thread_level(level);
    const OutsideOfCalls here;
    EXPECT_TRUE(may_progress_host());
    EXPECT_FALSE(may_of_another_thread(true));
  }
}

TEST(HostTurns, are_for_calls_where_another_thread_may_be_in_one) {
  expect_thread_level(MPI_THREAD_SERIALIZED);
  EXPECT_TRUE(may_of_another_thread(false)) << "it is in a carried call";
  EXPECT_FALSE(may_of_another_thread(true));
  {
    const OutsideOfCalls here;
    const OutsideOfCalls nested;
    EXPECT_FALSE(may_progress_host());
  }
  EXPECT_TRUE(may_progress_host());
}

}  // namespace
}  // namespace sluice
