// Which pages of private memory hold something of their own. A migration moves these and no others: a page that was never written
// to, and so does not exist or is the kernel's page of zeros, stays a hole in the memory file. It would cost memory there that it
// does not cost where it is.
//
// The kernel tells by ioctl PAGEMAP_SCAN (Linux 6.7), else by /proc/self/pagemap, which does not tell the page of zeros from one
// that several processes share: that is then looked at. Where neither is to be had, every page is taken to hold something.
//
// Threading: any thread; no lock, no allocation. The answer is true as long as nobody may write to the pages.
#pragma once

#include <bitset>
#include <cstddef>

#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

/// Memory moves in segments of one large page, which start at multiples of it: so that one segment at most exists twice, and that
/// the large pages of the program are given back one by one.
inline constexpr std::size_t segment_bytes = std::size_t{2} << 20;
inline constexpr std::size_t segment_pages = segment_bytes / page_bytes;

/// The first part of `rest` that lies in one segment.
PageRange first_segment(PageRange rest);

/// Pages of one segment, counted from its multiple of segment_pages.
using SegmentSet = std::bitset<segment_pages>;

inline std::size_t index_in_segment(std::uintptr_t page) { return page % segment_pages; }

/// Calls visit(PageRange) for every run of members of `set` inside `pages`, which lie in one segment, until it returns false.
template <typename Visit>
bool for_each_run(PageRange pages, const SegmentSet& set, Visit&& visit) {
  for (PageRange run{pages.begin, pages.begin}; run.begin < pages.end; run = {run.end, run.end}) {
    const bool member = set[index_in_segment(run.begin)];
    while (run.end < pages.end && set[index_in_segment(run.end)] == member) ++run.end;
    if (member && !visit(run)) return false;
  }
  return true;
}

class HeldPages {
 public:
  enum class Source { best, words };
  enum class Of {
    anonymous_memory,  // pages that exist and are not the page of zeros
    private_file       // pages that the process has replaced by its own
  };

  /// `words` never asks by ioctl: what kernels before 6.7 do.
  explicit HeldPages(Source source = Source::best);

  /// Adds those of `pages`, all in one segment, to `held`.
  void find(PageRange pages, Of kind, SegmentSet& held) const;
  /// How many there are in anonymous memory, of any length.
  [[nodiscard]] std::size_t count(PageRange pages) const;

  enum class Answer { no, yes, unknown };
  /// Some of `pages` are parts of huge pages. Only the ioctl tells.
  [[nodiscard]] Answer find_huge(PageRange pages) const;

 private:
  bool scan(PageRange pages, Of kind, SegmentSet& held) const;
  bool read_words(PageRange pages, Of kind, SegmentSet& held) const;

  Descriptor pagemap_;
  bool scans_ = false;
};

}  // namespace sluice
