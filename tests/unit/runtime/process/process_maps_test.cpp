#include "runtime/process/process_maps.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <string>

namespace sluice {
namespace {

class ProcessMapsTest : public testing::TestWithParam<ProcessMaps::Source> {
 protected:
  ProcessMaps maps_{GetParam()};
};

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

TEST_P(ProcessMapsTest, tells_range_and_protection_of_an_anonymous_mapping) {
  void* middle = mmap(nullptr, 3 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::byte* page = static_cast<std::byte*>(middle) + page_bytes;
  ASSERT_EQ(mprotect(page, page_bytes, PROT_READ | PROT_WRITE), 0);

  ProcessMapping found;
  ASSERT_TRUE(maps_.find(address_of(page) + 5, found));

  EXPECT_EQ(found.bytes.begin, address_of(page));
  EXPECT_EQ(found.bytes.size(), page_bytes);
  EXPECT_TRUE(found.readable && found.writable);
  EXPECT_FALSE(found.executable || found.shared);
  EXPECT_EQ(found.inode, 0u);
  munmap(middle, 3 * page_bytes);
}

TEST_P(ProcessMapsTest, finds_the_next_mapping_above_a_gap) {
  void* area = mmap(nullptr, 3 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::uintptr_t hole = address_of(area) + page_bytes;
  munmap(reinterpret_cast<void*>(hole), page_bytes);

  ProcessMapping found;
  ASSERT_TRUE(maps_.find(hole, found));

  EXPECT_EQ(found.bytes.begin, hole + page_bytes);
  munmap(area, 3 * page_bytes);
}

TEST_P(ProcessMapsTest, recognises_a_mapped_file_with_its_offset_and_name) {
  std::string path = testing::TempDir() + "process_maps_XXXXXX";
  const Descriptor file(mkstemp(path.data()));
  ASSERT_EQ(ftruncate(file.get(), 2 * page_bytes), 0);
  void* shared = mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, file.get(), page_bytes);

  ProcessMapping found;
  std::array<char, 4200> name{};
  ASSERT_TRUE(maps_.find(address_of(shared), found, name));

  struct stat identity {};
  fstat(file.get(), &identity);
  EXPECT_TRUE(found.is_file(identity));
  EXPECT_EQ(found.file_offset, page_bytes);
  EXPECT_TRUE(found.shared);
  EXPECT_EQ(name.data(), path);
  munmap(shared, page_bytes);
  unlink(path.c_str());
}

TEST_P(ProcessMapsTest, finds_nothing_above_the_last_mapping) {
  ProcessMapping found;
  EXPECT_FALSE(maps_.find(~std::uintptr_t{0} - page_bytes, found));
}

TEST_P(ProcessMapsTest, a_walk_tells_every_mapping_once_and_in_order) {
  constexpr std::size_t pages = 40;  // their lines do not fit into one reading
  std::byte* const area =
      static_cast<std::byte*>(mmap(nullptr, pages * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (std::size_t page = 1; page < pages; page += 2) ASSERT_EQ(mprotect(area + page * page_bytes, page_bytes, PROT_READ), 0);

  ProcessMaps::Walk walk(maps_, address_of(area) + page_bytes);
  for (std::size_t page = 1; page < pages; ++page) {
    ProcessMapping found;
    ASSERT_TRUE(walk.next(found));
    EXPECT_EQ(found.bytes.begin, address_of(area) + page * page_bytes);
    EXPECT_EQ(found.readable, page % 2 == 1);
    if (page + 1 < pages) {  // what follows the last is not this test's
      EXPECT_EQ(found.bytes.size(), page_bytes);
    }
  }
  munmap(area, pages * page_bytes);
}

TEST_P(ProcessMapsTest, a_walk_ends_after_the_last_mapping) {
  ProcessMaps::Walk walk(maps_, 0);
  ProcessMapping found;
  std::uintptr_t end = 0;
  while (walk.next(found)) {
    ASSERT_GE(found.bytes.begin, end);
    end = found.bytes.end;
  }
  EXPECT_GT(end, address_of(&end));
}

INSTANTIATE_TEST_SUITE_P(Sources, ProcessMapsTest, testing::Values(ProcessMaps::Source::best, ProcessMaps::Source::text),
                         [](const auto& source) { return source.param == ProcessMaps::Source::best ? "best" : "text"; });

}  // namespace
}  // namespace sluice
