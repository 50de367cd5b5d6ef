// Large pages for blocks that are released again and again.
//
// The price of a protection change grows with the pages that are mapped, and the kernel changes pages of one large folio in
// batches: protect and unprotect of 64 pages take 9.5 µs in single pages and 4.9 µs in a large one, of 256 pages 33 µs and
// 14 µs (measured, Linux 6.18). MADV_COLLAPSE makes a large folio of an aligned 2 MB extent of the memory file whatever the
// system's settings for transparent huge pages are. It costs 0.2 to 0.4 ms an extent once, and memory for the part of the
// extent that is no block, so it is done on the third release of an extent and within a limit.
//
// The application's mapping keeps small page-table entries (MADV_NOHUGEPAGE in AliasFile::map_over): opening a part of a huge
// one would unmap all of it, and every page would fault once more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "runtime/alias/file.hpp"
#include "runtime/alias/page_set.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

class AliasLargePages {
 public:
  /// A release of `pages`, all of them in `blocks`.
  void note_release(PageRange pages, const PageSet& blocks, const AliasFile& file);

  /// File pages of extents that are large. Those outside blocks occupy memory, too.
  [[nodiscard]] const PageSet& extents() const { return extents_; }
  /// Their file pages have been freed.
  void forget(PageRange extents);

 private:
  [[nodiscard]] bool worth_it(PageRange extent, const PageSet& blocks) const;
  void collapse(PageRange extents, const PageSet& blocks, const AliasFile& file);

  std::unordered_map<std::uintptr_t, unsigned> releases_;  // by number of the extent
  PageSet extents_;
  bool possible_ = true;
};

}  // namespace sluice
