#include "runtime/alias/held_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "tests/unit/support/page_of_zeros.hpp"

namespace sluice {
namespace {

/// Anonymous memory that nobody has touched.
class Untouched {
 public:
  explicit Untouched(std::size_t pages)
      : mapping_(mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                 pages * page_bytes) {
    madvise(mapping_.start(), mapping_.bytes(), MADV_NOHUGEPAGE);
  }
  [[nodiscard]] volatile char& page(std::size_t index) const {
    return *reinterpret_cast<volatile char*>(mapping_.start() + index * page_bytes);
  }
  [[nodiscard]] PageRange pages() const { return PageRange::covering(ByteRange::of(mapping_.start(), mapping_.bytes())); }

 private:
  Mapping mapping_;
};

class HeldPagesTest : public testing::TestWithParam<HeldPages::Source> {
 protected:
  /// Indices of the held pages of `pages`, from its first on.
  std::vector<std::size_t> find(PageRange pages, HeldPages::Of kind) const {
    std::vector<std::size_t> found;
    for (PageRange segment = first_segment(pages); !segment.empty(); segment = first_segment({segment.end, pages.end})) {
      SegmentSet held;
      held_.find(segment, kind, held);
      for (std::uintptr_t page = segment.begin; page < segment.end; ++page) {
        if (held[index_in_segment(page)]) found.push_back(page - pages.begin);
      }
    }
    return found;
  }
  HeldPages held_{GetParam()};
};

TEST_P(HeldPagesTest, pages_that_were_written_to_are_held) {
  const Untouched memory(1200);
  for (const std::size_t index : {0, 5, 6, 700, 1199}) memory.page(index) = 1;
  EXPECT_EQ(find(memory.pages(), HeldPages::Of::anonymous_memory), (std::vector<std::size_t>{0, 5, 6, 700, 1199}));
  EXPECT_EQ(held_.count(memory.pages()), 5u);
}

TEST_P(HeldPagesTest, the_page_of_zeros_is_not) {
  if (!has_page_of_zeros()) GTEST_SKIP() << "this kernel has no page of zeros";
  const Untouched memory(8);
  for (std::size_t index = 0; index < 8; ++index) EXPECT_EQ(memory.page(index), 0);
  memory.page(3) = 1;
  EXPECT_EQ(find(memory.pages(), HeldPages::Of::anonymous_memory), (std::vector<std::size_t>{3}));
}

TEST_P(HeldPagesTest, pages_that_a_child_of_fork_shows_as_well_are_held) {
  const Untouched memory(4);
  memory.page(1) = 7;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    char over = 0;
    close(ends[1]);
    read(ends[0], &over, 1);
    _exit(0);
  }
  EXPECT_EQ(find(memory.pages(), HeldPages::Of::anonymous_memory), (std::vector<std::size_t>{1}));
  close(ends[0]);
  close(ends[1]);
  waitpid(child, nullptr, 0);
}

TEST_P(HeldPagesTest, of_a_private_mapping_of_a_file_those_are_held_that_were_changed) {
  const Descriptor file(memfd_create("pages", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 6 * page_bytes), 0);
  const Mapping mapping(mmap(nullptr, 6 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0), 6 * page_bytes);
  volatile char sum = 0;
  for (std::size_t index = 0; index < 6; ++index)
    sum = static_cast<char>(sum + static_cast<char>(mapping.start()[index * page_bytes]));
  mapping.start()[2 * page_bytes] = std::byte{1};
  const PageRange pages = PageRange::covering(ByteRange::of(mapping.start(), mapping.bytes()));
  EXPECT_EQ(find(pages, HeldPages::Of::private_file), (std::vector<std::size_t>{2}));
}

INSTANTIATE_TEST_SUITE_P(Sources, HeldPagesTest, testing::Values(HeldPages::Source::best, HeldPages::Source::words));

TEST(SegmentTest, memory_is_cut_at_multiples_of_the_segment) {
  const PageRange first = first_segment({segment_pages - 1, 3 * segment_pages});
  EXPECT_EQ(first.end, segment_pages);
  EXPECT_EQ(first_segment({first.end, 3 * segment_pages}).size(), segment_pages);
  EXPECT_TRUE(first_segment({5, 5}).empty());
}

TEST(SegmentTest, runs_are_those_of_members) {
  SegmentSet set;
  for (const std::size_t place : {1, 2, 5, 511}) set.set(place);
  std::vector<std::size_t> runs;
  for_each_run({segment_pages, 2 * segment_pages}, set, [&](PageRange run) {
    runs.push_back(run.begin - segment_pages);
    runs.push_back(run.size());
    return true;
  });
  EXPECT_EQ(runs, (std::vector<std::size_t>{1, 2, 5, 1, 511, 1}));
}

}  // namespace
}  // namespace sluice
