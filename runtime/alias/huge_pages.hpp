// Which memory lies in transparent huge pages, or will once it is touched. Alias blocks show a file in pages of 4 KB, and whoever
// computes on them would miss the huge ones, long after the messages. So such memory does not become a block.
//
//   there is a huge page   ioctl PAGEMAP_SCAN tells of each page (Linux 6.7). Before that, /proc/self/smaps tells of a mapping
//   there will be one      the extent, 2 MB that begin at a multiple of that, holds nothing yet, and the machine makes huge pages
//                          everywhere; or the program has asked for them (madvise), whatever is there by now, as the kernel
//                          collapses such memory behind the program's back
//
// An extent that is not wholly inside one mapping never is a huge page.
//
// Explicit huge pages (hugetlb) are mappings of their own kind: eligibility.hpp.
//
// Threading: as AliasArena; the static functions and `huge_kb_in` from any thread. What the machine is set to is one word,
// relaxed: whoever finds it unset asks, and all get the same answer.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/alias/held_pages.hpp"
#include "runtime/base/types.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

class HugePages {
 public:
  /// For which memory the kernel makes huge pages by itself.
  enum class Setting : std::uint8_t { none, advised, all };

  /// By the texts of /sys/kernel/mm/transparent_hugepage/enabled and of hugepages-2048kB/enabled below it, which may be empty,
  /// and by prctl(PR_GET_THP_DISABLE).
  static Setting parse(std::string_view enabled, std::string_view of_this_size, int disabled);
  /// Asked once for a process. An allocator that gives such advice unseen (glibc.malloc.hugetlb) makes it `all`.
  static Setting setting();

  /// The extents that `part` of a mapping lies in and that are wholly inside it.
  static PageRange extents_inside(ByteRange mapping, ByteRange part);

  explicit HugePages(const HeldPages& held, Setting setting = HugePages::setting()) : held_(held), setting_(setting) {}

  /// Some byte of `part`, which lies in that mapping, is in a huge page or will be.
  [[nodiscard]] bool hold(const ProcessMapping& mapping, ByteRange part);

 private:
  [[nodiscard]] bool are_there(const ProcessMapping& mapping, PageRange pages);
  [[nodiscard]] bool are_there_by_text(ByteRange mapping);
  [[nodiscard]] bool will_be_there(PageRange extents) const;

  const HeldPages& held_;
  Setting setting_;
  // What smaps said last: reading it takes long, so it may be so old that all readings take a small share of the time.
  ByteRange found_by_text_;
  std::uint64_t read_at_ns_ = 0;
  std::uint64_t read_for_ns_ = 0;
};

/// /proc/self/smaps, or a text like it: huge pages, in KB, of the mappings in `bytes`. -1 when the file cannot be read.
long huge_kb_in(const char* smaps, ByteRange bytes);

}  // namespace sluice
