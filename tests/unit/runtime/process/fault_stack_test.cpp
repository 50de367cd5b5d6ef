#include "runtime/process/fault_stack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace sluice::fault_stack {
namespace {

std::uintptr_t here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

void note_frame(void* frame) { *static_cast<std::uintptr_t*>(frame) = here(); }

/// An alternate stack of which `left` bytes remain below the caller.
stack_t stack_with(std::size_t left) {
  constexpr std::size_t above = 4096;
  return {reinterpret_cast<void*>(here() - left), 0, left + above};
}

TEST(FaultStackTest, runs_the_function_on_another_stack) {
  std::uintptr_t frame = 0;
  run(note_frame, &frame);
  constexpr std::uintptr_t far = 1 << 20;
  EXPECT_GT(frame > here() ? frame - here() : here() - frame, far);
}

TEST(FaultStackTest, a_small_alternate_stack_is_cramped_and_others_are_not) {
  EXPECT_TRUE(is_cramped(stack_with(4096)));
  EXPECT_FALSE(is_cramped(stack_with(4 * roomy)));
  EXPECT_FALSE(is_cramped(stack_t{}));
  static std::array<std::byte, 8192> elsewhere;
  EXPECT_FALSE(is_cramped({elsewhere.data(), 0, elsewhere.size()}));
}

struct Meeting {
  std::atomic<int> inside{0};
  std::atomic<int> wanted{0};
  std::atomic<int> wrong{0};
};

void use_much_stack(void* argument) {
  auto& meeting = *static_cast<Meeting*>(argument);
  volatile unsigned char own[roomy / 2];
  const auto mark = static_cast<unsigned char>(meeting.inside.fetch_add(1) + 1);
  for (std::size_t i = 0; i < sizeof own; ++i) own[i] = mark;
  while (meeting.inside < meeting.wanted) std::this_thread::yield();
  for (std::size_t i = 0; i < sizeof own; ++i) {
    if (own[i] != mark) meeting.wrong = 1;
  }
}

TEST(FaultStackTest, threads_do_not_share_stacks_even_when_there_are_too_few) {
  for (const int threads : {2, 8, 40}) {
    Meeting meeting;
    meeting.wanted = threads;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([&] { run(use_much_stack, &meeting); });
    for (auto& thread : all) thread.join();
    EXPECT_EQ(meeting.wrong, 0) << threads << " threads";
  }
}

}  // namespace
}  // namespace sluice::fault_stack
