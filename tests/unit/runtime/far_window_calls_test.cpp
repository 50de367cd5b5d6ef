// Windows between nodes: engines of one process, of which the target's helper thread does what origins ask.

#include "runtime/far_window_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/engine_process.hpp"

namespace sluice {
namespace {

using Numbers = std::vector<std::int64_t>;
using Flushed = WindowSync::Flushed;
using Use = LockWord::Use;

constexpr std::size_t long_numbers = 100'000;  // no eager message

std::byte* bytes_of(Numbers& numbers) { return reinterpret_cast<std::byte*>(numbers.data()); }
UserBuffer some(Numbers& numbers, std::size_t first, std::size_t count) {
  return {bytes_of(numbers) + first * sizeof(std::int64_t), count * sizeof(std::int64_t), Layout::contiguous(1)};
}
UserBuffer all_of(Numbers& numbers) { return some(numbers, 0, numbers.size()); }
Numbers counted_from(std::int64_t first, std::size_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

const FarOrigin::Combination sum{Reduction::of(ReduceOperation::sum, ElementKind::int64)->code()};

/// Processes that each expose numbers. Those in which no thread calls anything are served by their helper threads.
class FarWindowsOf : public testing::Test {
 protected:
  explicit FarWindowsOf(std::size_t size, std::size_t numbers = long_numbers) : network(size) {
    for (std::size_t rank = 0; rank < size; ++rank) {
      processes.push_back(std::make_unique<Process>(network, static_cast<Peer>(rank), size));
      memories.emplace_back(numbers);
    }
    open(false);
  }
  ~FarWindowsOf() override { windows.clear(); }

  void open(bool is_dynamic) {
    windows.clear();
    ++id;
    for (std::size_t rank = 0; rank < processes.size(); ++rank) {
      const ByteRange exposed = ByteRange::of(memories[rank].data(), memories[rank].size() * sizeof(std::int64_t));
      windows.push_back(std::make_unique<FarWindowCalls>(processes[rank]->engine,
                                                         FarWindowCalls::Opening{.id = ContextId{id},
                                                                                 .members = *processes[rank]->world,
                                                                                 .is_dynamic = is_dynamic,
                                                                                 .exposed = is_dynamic ? ByteRange{} : exposed}));
    }
  }
  FarWindowCalls& of(std::size_t rank) { return *windows[rank]; }
  void on_all(auto work) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < windows.size(); ++rank) threads.emplace_back([&, rank] { work(rank); });
    for (std::thread& thread : threads) thread.join();
  }
  /// What this rank sees in its own memory, without a call.
  std::int64_t seen(std::size_t rank, std::size_t number) {
    return std::atomic_ref(memories[rank][number]).load(std::memory_order_acquire);
  }

  LoopbackNetwork network;
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<Numbers> memories;
  std::vector<std::unique_ptr<FarWindowCalls>> windows;
  std::uint64_t id = 10;
};

class FarWindowsOfTwo : public FarWindowsOf {
 protected:
  FarWindowsOfTwo() : FarWindowsOf(2) {}
};

class FarWindowsOfThree : public FarWindowsOf {
 protected:
  FarWindowsOfThree() : FarWindowsOf(3) {}
};

TEST_F(FarWindowsOfTwo, a_target_that_makes_no_call_has_what_was_put_once_that_is_flushed) {
  ASSERT_TRUE(of(0).lock_all(true));
  Numbers word{7};
  ASSERT_TRUE(of(0).put(1, all_of(word), some(memories[1], 3, 1), nullptr));
  ASSERT_TRUE(of(0).flush(1, Flushed::at_target));
  EXPECT_EQ(seen(1, 3), 7);
  Numbers many = counted_from(5, long_numbers);
  ASSERT_TRUE(of(0).put(1, all_of(many), all_of(memories[1]), nullptr));
  ASSERT_TRUE(of(0).flush(1, Flushed::at_target));
  EXPECT_EQ(memories[1], many);
  ASSERT_TRUE(of(0).unlock_all());
  EXPECT_EQ(processes[1]->engine.statistics().window_operations_served, 2U);
}

TEST_F(FarWindowsOfTwo, what_is_got_is_there_once_the_origin_has_flushed_here) {
  std::iota(memories[1].begin(), memories[1].end(), 100);
  ASSERT_TRUE(of(0).lock(1, {Use::shared, true}));
  Numbers word(1);
  Numbers many(long_numbers);
  ASSERT_TRUE(of(0).get(1, all_of(word), some(memories[1], 9, 1), nullptr));
  ASSERT_TRUE(of(0).get(1, all_of(many), all_of(memories[1]), nullptr));
  ASSERT_TRUE(of(0).flush(1, Flushed::at_origin));
  EXPECT_EQ(word[0], 109);
  EXPECT_EQ(many, memories[1]);
  ASSERT_TRUE(of(0).unlock(1));
}

TEST_F(FarWindowsOfTwo, data_goes_between_layouts_of_both_sides) {
  LayoutBuilder builder;
  builder.add({0, 8, 24, 50});
  const auto third = builder.finish(24 * 50);
  Numbers sent = counted_from(1, 50);
  ASSERT_TRUE(of(0).lock(1, {Use::exclusive, true}));
  ASSERT_TRUE(of(0).put(1, all_of(sent), {bytes_of(memories[1]), 1, third}, nullptr));
  Numbers got(150);
  ASSERT_TRUE(of(0).flush(1, Flushed::at_target));
  ASSERT_TRUE(of(0).get(1, {bytes_of(got), 1, third}, some(memories[1], 0, 50), nullptr));
  ASSERT_TRUE(of(0).unlock(1));
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(memories[1][3 * i], sent[i]);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(got[3 * i], memories[1][i]);
}

TEST_F(FarWindowsOfTwo, a_request_is_complete_when_its_operation_is_over_here) {
  std::iota(memories[1].begin(), memories[1].end(), 1);
  ASSERT_TRUE(of(0).lock(1, {Use::shared, true}));
  Numbers many(long_numbers);
  Numbers word{1};
  Request* getting = nullptr;
  Request* putting = nullptr;
  ASSERT_TRUE(of(0).get(1, all_of(many), all_of(memories[1]), &getting));
  ASSERT_TRUE(of(0).put(1, all_of(word), some(memories[1], 0, 1), &putting));
  EXPECT_FALSE(putting) << "short data has gone with the message";
  ASSERT_TRUE(getting);
  ASSERT_TRUE(of(0).flush(1, Flushed::at_target)) << "waits for it, too";
  EXPECT_TRUE(Engine::is_complete(*getting));
  EXPECT_EQ(many, counted_from(1, long_numbers));
  processes[0]->engine.take(getting);
  ASSERT_TRUE(of(0).get(1, all_of(many), all_of(memories[1]), &getting));
  processes[0]->engine.wait_all({&getting, 1}, here);
  processes[0]->engine.take(getting);
  EXPECT_EQ(many.back(), static_cast<std::int64_t>(long_numbers));
  ASSERT_TRUE(of(0).unlock(1));
}

TEST_F(FarWindowsOfThree, accumulates_of_all_lengths_lose_nothing) {
  constexpr int times = 20;
  on_all([&](std::size_t rank) {
    Numbers ones(long_numbers, 1);
    ASSERT_TRUE(of(rank).lock_all(true));
    for (int i = 0; i < times; ++i) {
      Numbers one{1};
      Numbers before{-1};
      const UserBuffer long_operand = all_of(ones);
      const UserBuffer operand = all_of(one);
      const UserBuffer result = all_of(before);
      ASSERT_TRUE(of(rank).accumulate(0, sum, &long_operand, nullptr, all_of(memories[0]), nullptr));
      ASSERT_TRUE(of(rank).accumulate(0, sum, &operand, &result, some(memories[0], 5, 1), nullptr));
      ASSERT_TRUE(of(rank).flush(0, Flushed::at_target));
      EXPECT_GE(before[0], 1);
    }
    ASSERT_TRUE(of(rank).unlock_all());
  });
  Numbers expected(long_numbers, 3 * times);
  expected[5] += 3 * times;
  EXPECT_EQ(memories[0], expected);
}

TEST_F(FarWindowsOfTwo, accumulates_of_one_origin_keep_their_order) {
  const FarOrigin::Combination replace{FarOperation::replace};
  Numbers many(long_numbers, 1);
  Numbers word{2};
  const UserBuffer first = all_of(many);
  const UserBuffer second = all_of(word);
  ASSERT_TRUE(of(0).lock(1, {Use::shared, true}));
  ASSERT_TRUE(of(0).accumulate(1, replace, &first, nullptr, all_of(memories[1]), nullptr));
  ASSERT_TRUE(of(0).accumulate(1, replace, &second, nullptr, some(memories[1], long_numbers - 1, 1), nullptr));
  ASSERT_TRUE(of(0).unlock(1));
  EXPECT_EQ(memories[1][0], 1);
  EXPECT_EQ(memories[1][long_numbers - 1], 2);
}

TEST_F(FarWindowsOfTwo, what_is_compared_is_swapped_if_it_is_equal) {
  memories[1][0] = 5;
  Numbers compared{5};
  Numbers value{6};
  Numbers found{0};
  const auto swap = [&] {
    return of(0).compare_and_swap(1, all_of(compared), all_of(value), all_of(found), some(memories[1], 0, 1));
  };
  ASSERT_TRUE(of(0).lock(1, {Use::shared, true}));
  ASSERT_TRUE(swap());
  ASSERT_TRUE(of(0).flush(1, Flushed::at_origin));
  EXPECT_EQ(found[0], 5);
  value = {7};
  ASSERT_TRUE(swap());
  ASSERT_TRUE(of(0).unlock(1));
  EXPECT_EQ(found[0], 6);
  EXPECT_EQ(memories[1][0], 6);
}

TEST_F(FarWindowsOfThree, an_exclusive_lock_excludes_all_others) {
  constexpr int times = 100;
  on_all([&](std::size_t rank) {
    for (int i = 0; i < times; ++i) {
      Numbers value{0};
      ASSERT_TRUE(of(rank).lock(1, {Use::exclusive, true}));
      ASSERT_TRUE(of(rank).get(1, all_of(value), some(memories[1], 0, 1), nullptr));
      ASSERT_TRUE(of(rank).flush(1, Flushed::at_origin));
      ++value[0];
      ASSERT_TRUE(of(rank).put(1, all_of(value), some(memories[1], 0, 1), nullptr));
      ASSERT_TRUE(of(rank).unlock(1));
    }
  });
  EXPECT_EQ(memories[1][0], 3 * times);
}

TEST_F(FarWindowsOfTwo, a_rank_that_locks_itself_waits_until_it_holds_the_lock) {
  ASSERT_TRUE(of(0).lock(1, {Use::exclusive, true}));
  Numbers value{3};
  ASSERT_TRUE(of(0).put(1, all_of(value), some(memories[1], 0, 1), nullptr));
  ASSERT_TRUE(of(0).flush(1, Flushed::at_target));
  std::atomic<bool> has_it = false;
  std::thread owner([&] {
    ASSERT_TRUE(of(1).lock(1, {Use::exclusive, true}));
    has_it = true;
    EXPECT_EQ(memories[1][0], 4);
    ASSERT_TRUE(of(1).unlock(1));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(has_it);
  value = {4};
  ASSERT_TRUE(of(0).put(1, all_of(value), some(memories[1], 0, 1), nullptr));
  ASSERT_TRUE(of(0).unlock(1));
  owner.join();
}

TEST_F(FarWindowsOfThree, a_reader_that_waits_long_goes_beside_another_before_a_writer) {
  ASSERT_TRUE(of(0).lock(0, {Use::shared, true}));
  Numbers value{8};
  std::atomic<bool> has_asked{false};
  std::thread writer([&] {
    ASSERT_TRUE(of(1).lock(0, {Use::exclusive, true}));
    ASSERT_TRUE(of(1).put(0, all_of(value), some(memories[0], 0, 1), nullptr));
    has_asked = true;
    ASSERT_TRUE(of(1).unlock(0));
  });
  while (!has_asked) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  Numbers got{1};
  ASSERT_TRUE(of(2).lock(0, {Use::shared, true}));
  ASSERT_TRUE(of(2).get(0, all_of(got), some(memories[0], 0, 1), nullptr));
  ASSERT_TRUE(of(2).unlock(0));
  EXPECT_EQ(got[0], 0) << "the writer still waits";
  ASSERT_TRUE(of(0).unlock(0));
  writer.join();
  EXPECT_EQ(memories[0][0], 8);
}

TEST_F(FarWindowsOfThree, a_fence_ends_what_all_have_asked_for) {
  on_all([&](std::size_t rank) {
    const std::size_t right = (rank + 1) % 3;
    Numbers sent = counted_from(static_cast<std::int64_t>(rank), long_numbers);
    ASSERT_TRUE(of(rank).fence(true));
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(of(rank).put(right, all_of(sent), all_of(memories[right]), nullptr));
      ASSERT_TRUE(of(rank).fence(true));
      EXPECT_EQ(memories[rank], counted_from(static_cast<std::int64_t>((rank + 2) % 3) + i, long_numbers));
      for (std::int64_t& number : sent) ++number;
      ASSERT_TRUE(of(rank).fence(i < 9));
    }
  });
}

TEST_F(FarWindowsOfThree, an_exposure_lasts_until_all_its_origins_have_completed) {
  on_all([&](std::size_t rank) {
    Numbers sent(1, static_cast<std::int64_t>(rank));
    for (int i = 0; i < 20; ++i) {
      if (rank == 0) {
        ASSERT_TRUE(of(0).post({1, 2}));
        ASSERT_TRUE(i % 2 == 0 ? of(0).wait() : [&] {
          while (!*of(0).test()) processes[0]->engine.progress();
          return true;
        }());
        EXPECT_EQ(memories[0][1], 1 + i);
        EXPECT_EQ(memories[0][2], 2 + i);
      } else {
        ASSERT_TRUE(of(rank).start({0}));
        ASSERT_TRUE(of(rank).put(0, all_of(sent), some(memories[0], rank, 1), nullptr));
        ASSERT_TRUE(of(rank).complete());
        ++sent[0];
      }
    }
  });
}

TEST_F(FarWindowsOfTwo, a_dynamic_window_refuses_what_is_not_attached) {
  open(true);
  Numbers word{5};
  Numbers many(long_numbers, 5);
  Numbers got{9};
  ASSERT_TRUE(of(0).lock_all(true));
  const UserBuffer place = some(memories[1], 2, 1);
  const UserBuffer operand = all_of(word);
  EXPECT_FALSE(of(0).put(1, all_of(word), place, nullptr));
  EXPECT_FALSE(of(0).get(1, all_of(got), place, nullptr));
  EXPECT_FALSE(of(0).accumulate(1, sum, &operand, nullptr, place, nullptr));
  EXPECT_FALSE(of(0).compare_and_swap(1, all_of(word), all_of(word), all_of(got), place));
  EXPECT_FALSE(of(0).put(1, all_of(many), all_of(memories[1]), nullptr));
  EXPECT_EQ(got[0], 9);
  EXPECT_EQ(memories[1], Numbers(long_numbers));
  of(1).expose(ByteRange::of(&memories[1][2], 16));
  EXPECT_TRUE(of(0).put(1, all_of(word), place, nullptr));
  EXPECT_EQ(memories[1][2], 5);
  EXPECT_TRUE(of(0).put(1, all_of(word), some(memories[1], 3, 1), nullptr));
  EXPECT_FALSE(of(0).put(1, all_of(word), some(memories[1], 4, 1), nullptr));
  of(1).withdraw(&memories[1][2]);
  EXPECT_FALSE(of(0).get(1, all_of(got), place, nullptr));
  ASSERT_TRUE(of(0).unlock_all());
}

TEST_F(FarWindowsOfTwo, calls_that_do_not_go_with_the_epochs_change_nothing) {
  EXPECT_FALSE(of(0).unlock(1));
  EXPECT_FALSE(of(0).unlock_all());
  EXPECT_FALSE(of(0).flush(1, Flushed::at_target));
  EXPECT_FALSE(of(0).flush_all(Flushed::at_origin));
  EXPECT_FALSE(of(0).complete());
  EXPECT_FALSE(of(0).wait());
  EXPECT_EQ(of(0).test(), std::nullopt);
  ASSERT_TRUE(of(0).lock(1, {Use::shared, true}));
  EXPECT_FALSE(of(0).lock(1, {Use::shared, true}));
  EXPECT_FALSE(of(0).lock_all(true));
  EXPECT_FALSE(of(0).fence(true));
  EXPECT_FALSE(of(0).start({1}));
  ASSERT_TRUE(of(0).unlock(1));
}

TEST_F(FarWindowsOfTwo, an_operation_that_comes_before_its_target_has_opened_the_window_waits) {
  windows.pop_back();
  ++id;
  windows.front() = std::make_unique<FarWindowCalls>(
      processes[0]->engine, FarWindowCalls::Opening{.id = ContextId{id}, .members = *processes[0]->world});
  Numbers word{4};
  ASSERT_TRUE(of(0).lock(1, {Use::shared, true}));
  ASSERT_TRUE(of(0).put(1, all_of(word), some(memories[1], 0, 1), nullptr));
  std::thread flushing([&] { ASSERT_TRUE(of(0).unlock(1)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  windows.push_back(std::make_unique<FarWindowCalls>(
      processes[1]->engine,
      FarWindowCalls::Opening{
          .id = ContextId{id}, .members = *processes[1]->world, .exposed = ByteRange::of(memories[1].data(), 64)}));
  flushing.join();
  EXPECT_EQ(memories[1][0], 4);
}

}  // namespace
}  // namespace sluice
