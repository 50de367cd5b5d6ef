#include "runtime/trace/call_paths.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice::trace {
namespace {

/// Words that lie as return addresses do on a stack.
class FakeStack {
 public:
  explicit FakeStack(std::vector<std::uintptr_t> words) : words_(std::move(words)) {}

  std::uintptr_t& operator[](std::size_t word) { return words_[word]; }
  /// The frame below which the innermost return address lies.
  [[nodiscard]] std::uintptr_t frame() const { return reinterpret_cast<std::uintptr_t>(&words_[1]); }
  [[nodiscard]] CallPath path_through(const std::vector<std::size_t>& places) const {
    CallPath path;
    for (const std::size_t place : places)
      path.levels[path.depth++] = {words_[place], reinterpret_cast<std::uintptr_t>(&words_[place])};
    return path;
  }

 private:
  std::vector<std::uintptr_t> words_;
};

TEST(known_paths, are_told_by_the_words_on_the_stack) {
  FakeStack stack({11, 1, 12, 2, 13});
  KnownPaths paths;
  EXPECT_EQ(paths.find(11, stack.frame()), 0U);

  paths.add(stack.frame(), stack.path_through({0, 2, 4}), 7);
  EXPECT_EQ(paths.find(11, stack.frame()), 7U);
  EXPECT_EQ(paths.find(10, stack.frame()), 0U) << "another call";
  EXPECT_EQ(paths.find(11, stack.frame() + sizeof(std::uintptr_t)), 0U) << "another frame";

  stack[1] = 99;  // of nobody's return
  EXPECT_EQ(paths.find(11, stack.frame()), 7U);
  stack[4] = 14;  // called from elsewhere, far above
  EXPECT_EQ(paths.find(11, stack.frame()), 0U);
}

TEST(known_paths, with_the_same_end_are_kept_side_by_side) {
  FakeStack stack({11, 12, 13});
  KnownPaths paths;
  for (std::uint32_t caller = 1; caller <= 8; ++caller) {
    stack[2] = caller;
    paths.add(stack.frame(), stack.path_through({0, 1, 2}), caller);
  }
  for (std::uint32_t caller = 1; caller <= 8; ++caller) {
    stack[2] = caller;
    EXPECT_EQ(paths.find(11, stack.frame()), caller);
  }
}

TEST(known_paths, that_find_no_room_are_unknown) {
  FakeStack stack({11, 12});
  KnownPaths paths;
  for (std::uint32_t caller = 1; caller <= 2 * KnownPaths::capacity; ++caller) {
    stack[1] = caller;
    paths.add(stack.frame(), stack.path_through({0, 1}), caller);
  }
  stack[1] = 2 * KnownPaths::capacity;
  EXPECT_EQ(paths.find(11, stack.frame()), 0U);
  stack[1] = 1;
  EXPECT_EQ(paths.find(11, stack.frame()), 1U);
}

TEST(known_paths, are_those_of_one_thread) {
  FakeStack stack({11, 12});
  KnownPaths paths;
  paths.add(stack.frame(), stack.path_through({0, 1}), 7);
  std::uint32_t found_by_another = 1;
  std::thread([&] { found_by_another = paths.find(11, stack.frame()); }).join();
  EXPECT_EQ(found_by_another, 0U);
  EXPECT_EQ(paths.find(11, stack.frame()), 7U);
}

TEST(known_paths, can_be_forgotten) {
  FakeStack stack({11, 12});
  KnownPaths paths;
  paths.add(stack.frame(), stack.path_through({0, 1}), 7);
  paths.forget();
  EXPECT_EQ(paths.find(11, stack.frame()), 0U);
  paths.add(stack.frame(), stack.path_through({0, 1}), 8);
  EXPECT_EQ(paths.find(11, stack.frame()), 8U);
}

TEST(known_paths, of_several_threads_are_whole) {
  FakeStack stack({11, 12});
  KnownPaths paths;
  std::vector<std::thread> threads;
  for (std::uint32_t number = 1; number <= 4; ++number) {
    threads.emplace_back([&stack, &paths, number] {
      FakeStack own({11, 100 + number});
      for (int turn = 0; turn < 1000; ++turn) {
        if (turn % 100 == 0) paths.add(own.frame(), own.path_through({0, 1}), number);
        EXPECT_EQ(paths.find(11, own.frame()), number);
        EXPECT_EQ(paths.find(11, stack.frame()), 0U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct Caller {
  std::uintptr_t return_address = 0;
  std::uintptr_t frame = 0;
};

[[gnu::noinline]] Caller caller_of_this() {
  return {reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa())};
}

/// Stands for an MPI function: its own callers are looked for.
[[gnu::noinline]] CallPath walk(std::size_t depth) {
  CallPath path;
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  EXPECT_TRUE(StackWalk::find(address, reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()), depth, path));
  EXPECT_EQ(path.levels[0].address, address);
  return path;
}

[[gnu::noinline]] CallPath walk_from_here(std::size_t depth, Caller& caller) {
  caller = {reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),
            reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa())};
  volatile std::size_t same = depth;  // no tail call
  CallPath path = walk(same);
  same = path.depth;
  return path;
}

TEST(stack_walk, tells_who_called_and_where_it_stands_on_the_stack) {
  ASSERT_EQ(StackWalk::load(), "");
  Caller caller;
  const CallPath path = walk_from_here(max_frames, caller);

  ASSERT_GE(path.depth, 3U);
  EXPECT_EQ(path.levels[1].address, caller.return_address);
  EXPECT_EQ(path.levels[1].at, caller.frame - sizeof(std::uintptr_t));
  EXPECT_EQ(walk_from_here(2, caller).depth, 2U) << "as deep as asked for";
}

TEST(stack_walk, finds_no_function_that_is_not_running) {
  ASSERT_EQ(StackWalk::load(), "");
  const Caller gone = caller_of_this();
  CallPath path;
  EXPECT_FALSE(StackWalk::find(gone.return_address + 1, gone.frame, max_frames, path));
}

TEST(stack_walk, is_known_again_by_its_words) {
  ASSERT_EQ(StackWalk::load(), "");
  KnownPaths paths;
  int walks = 0;
  for (int turn = 0; turn < 100; ++turn) {
    // One line of the program: its frame and its return address are the same in each turn.
    [&paths, &walks ]() __attribute__((noinline)) {
      const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
      const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
      if (paths.find(address, frame) != 0) return;
      ++walks;
      CallPath path;
      ASSERT_TRUE(StackWalk::find(address, frame, max_frames, path));
      paths.add(frame, path, 1);
    }
    ();
  }
  EXPECT_EQ(walks, 1);
}

}  // namespace
}  // namespace sluice::trace
