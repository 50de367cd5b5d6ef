#include "runtime/alias/windows.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/process/window_span.hpp"

namespace sluice {
namespace {

constexpr std::uintptr_t window = std::uintptr_t{1} << 36;

struct Freed final : RegistrationWatcher {
  void note_freed(ByteRange alias) override { begins.push_back(alias.begin); }
  [[nodiscard]] bool pins(PageRange) const override { return false; }

  std::vector<std::uintptr_t> begins;
};

class AliasWindowsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ftruncate(file_.get(), off_t{1} << AliasWindows::address_bits), 0); }
  void TearDown() override { windows_.unmap(nullptr); }

  [[nodiscard]] ProcessMapping mapping_at(std::uintptr_t address) {
    ProcessMapping mapping;
    EXPECT_TRUE(maps_.find(address, mapping));
    return mapping;
  }

  Descriptor file_{memfd_create("windows", MFD_CLOEXEC)};
  ProcessMaps maps_;
  AliasWindows windows_;
};

TEST_F(AliasWindowsTest, what_crosses_a_border_or_is_no_user_address_has_no_alias) {
  EXPECT_TRUE(AliasWindows::fit({window - page_bytes, window}));
  EXPECT_FALSE(AliasWindows::fit({window - page_bytes, window + page_bytes}));
  EXPECT_FALSE(AliasWindows::fit({window, window}));
  const std::uintptr_t end = std::uintptr_t{1} << AliasWindows::address_bits;
  EXPECT_FALSE(AliasWindows::fit({end, end + page_bytes}));
}

TEST_F(AliasWindowsTest, an_alias_shows_the_byte_of_the_file_at_its_address) {
  const std::uintptr_t address = 3 * window + 5 * window_span::extent_bytes + 12;
  ASSERT_TRUE(windows_.map({address, address + 1}, file_.get()));
  *windows_.alias(address) = std::byte{7};
  std::byte seen{};
  ASSERT_EQ(pread(file_.get(), &seen, 1, static_cast<off_t>(address)), 1);
  EXPECT_EQ(seen, std::byte{7});
}

TEST_F(AliasWindowsTest, a_window_is_known_from_a_mapping_in_place) {
  const std::uintptr_t address = 3 * window;
  ASSERT_TRUE(windows_.map({address, address + 1}, file_.get()));
  EXPECT_TRUE(windows_.include(mapping_at(reinterpret_cast<std::uintptr_t>(windows_.alias(address)))));
  void* const elsewhere = mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, file_.get(), static_cast<off_t>(address));
  ASSERT_NE(elsewhere, MAP_FAILED);
  EXPECT_FALSE(windows_.include(mapping_at(reinterpret_cast<std::uintptr_t>(elsewhere))));
  munmap(elsewhere, page_bytes);
}

TEST_F(AliasWindowsTest, each_part_that_is_unmapped_is_told_once_and_lies_in_one_window) {
  const std::size_t extent = window_span::extent_bytes;
  ASSERT_TRUE(windows_.map({window - extent, window}, file_.get()));
  ASSERT_TRUE(windows_.map({window, window + 1}, file_.get()));
  const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(windows_.alias(window - extent));
  const std::uintptr_t behind = reinterpret_cast<std::uintptr_t>(windows_.alias(window));
  Freed freed;
  windows_.unmap(&freed);
  EXPECT_EQ(freed.begins, (std::vector<std::uintptr_t>{before, behind}));
  EXPECT_FALSE(windows_.any());
  windows_.unmap(&freed);
  EXPECT_EQ(freed.begins.size(), 2u);
}

TEST_F(AliasWindowsTest, only_bytes_with_a_place_are_visited) {
  ASSERT_TRUE(windows_.map({window, window + 1}, file_.get()));
  std::size_t visited = 0;
  windows_.for_each_alias({window - page_bytes, window + page_bytes}, [&](ByteRange alias) {
    EXPECT_EQ(alias.begin, reinterpret_cast<std::uintptr_t>(windows_.alias(window)));
    EXPECT_EQ(alias.size(), page_bytes);
    ++visited;
  });
  EXPECT_EQ(visited, 1u);
}

}  // namespace
}  // namespace sluice
