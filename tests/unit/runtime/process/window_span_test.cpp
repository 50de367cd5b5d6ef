#include "runtime/process/window_span.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/posix.hpp"

namespace sluice::window_span {
namespace {

struct WindowSpanTest : testing::Test {
  Descriptor file{memfd_create("window", MFD_CLOEXEC)};
  void SetUp() override { ASSERT_EQ(ftruncate(file.get(), 4 * extent_bytes), 0); }
};

TEST_F(WindowSpanTest, windows_lie_apart_and_are_told_from_other_memory) {
  const std::uintptr_t first = take(2 * extent_bytes);
  const std::uintptr_t second = take(extent_bytes);
  ASSERT_NE(first, 0u);
  ASSERT_NE(second, 0u);
  EXPECT_GE(second, first + 2 * extent_bytes);
  EXPECT_EQ(first % extent_bytes, 0u);
  EXPECT_TRUE(contains(first));
  EXPECT_TRUE(contains(second + extent_bytes - 1));
  int local = 0;
  EXPECT_FALSE(contains(reinterpret_cast<std::uintptr_t>(&local)));
  EXPECT_FALSE(contains(reinterpret_cast<std::uintptr_t>(&take)));
}

TEST_F(WindowSpanTest, a_mapped_extent_shows_its_part_of_the_file) {
  const std::uintptr_t window = take(4 * extent_bytes);
  const ByteRange third{window + 2 * extent_bytes, window + 3 * extent_bytes};
  ASSERT_TRUE(map(third, file.get(), 2 * extent_bytes));
  std::memcpy(reinterpret_cast<void*>(third.begin + 5), "there", 5);
  char seen[5];
  ASSERT_EQ(pread(file.get(), seen, sizeof seen, 2 * extent_bytes + 5), 5);
  EXPECT_EQ(std::memcmp(seen, "there", 5), 0);
  munmap(reinterpret_cast<void*>(third.begin), third.size());
}

TEST_F(WindowSpanTest, a_mapping_of_somebody_else_is_not_replaced) {
  const std::uintptr_t window = take(2 * extent_bytes);
  void* const wanted = reinterpret_cast<void*>(window + extent_bytes);
  void* const theirs = mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(theirs, wanted);
  std::memset(theirs, 7, 4096);
  EXPECT_FALSE(map({window, window + 2 * extent_bytes}, file.get(), 0));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(*static_cast<char*>(theirs), 7);
  munmap(theirs, 4096);
}

TEST_F(WindowSpanTest, a_place_that_was_given_back_is_taken_again) {
  constexpr std::size_t bytes = std::size_t{3} << 30;
  const std::uintptr_t first = take(bytes);
  const std::uintptr_t second = take(bytes);
  give_back(first, bytes);
  EXPECT_EQ(take(bytes), first);
  give_back(first, bytes);
  give_back(second, bytes);
}

TEST_F(WindowSpanTest, more_than_there_is_cannot_be_had) { EXPECT_EQ(take(std::size_t{1} << 47), 0u); }

}  // namespace
}  // namespace sluice::window_span
