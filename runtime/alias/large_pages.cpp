#include "runtime/alias/large_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace sluice {
namespace {

constexpr std::uintptr_t extent_pages = AliasFile::extent_bytes / page_bytes;
constexpr unsigned releases_before_collapse = 3;
/// Below that, protection changes of single pages are as cheap.
constexpr std::size_t fewest_block_pages = 16;
/// Memory that extents may occupy outside blocks: so much, and as much again as the blocks themselves.
constexpr std::size_t spare_pages = (std::size_t{64} << 20) / page_bytes;

constexpr int advice_collapse = 25;  // MADV_COLLAPSE, Linux 6.1

}  // namespace

void AliasLargePages::note_release(PageRange pages, const PageSet& blocks, const AliasFile& file) {
  if (!possible_ || pages.empty()) return;
  PageRange ready;
  for (std::uintptr_t extent = pages.begin / extent_pages; extent * extent_pages < pages.end; ++extent) {
    const PageRange range{extent * extent_pages, (extent + 1) * extent_pages};
    if (++releases_[extent] != releases_before_collapse || !worth_it(range, blocks)) continue;
    if (ready.end != range.begin) collapse(ready, blocks, file);
    ready = {ready.end == range.begin ? ready.begin : range.begin, range.end};
  }
  collapse(ready, blocks, file);
}

bool AliasLargePages::worth_it(PageRange extent, const PageSet& blocks) const {
  std::size_t covered = 0;
  blocks.for_each_inside(extent, [&](PageRange run) { covered += run.size(); });
  return covered >= fewest_block_pages && extents_.pages() + extent_pages <= 2 * blocks.pages() + spare_pages;
}

void AliasLargePages::collapse(PageRange extents, const PageSet& blocks, const AliasFile& file) {
  if (extents.empty()) return;
  if (madvise(file.windows().alias(extents.bytes().begin), extents.bytes().size(), advice_collapse) != 0) {
    // EINVAL: no such advice or no huge pages. Anything else is a matter of the moment, and the moment has passed.
    if (errno == EINVAL) possible_ = false;
  } else {
    extents_.add(extents);
  }
  // The pages are unmapped now; without this the application would fault on each of them.
  blocks.for_each_inside(extents, [&](PageRange run) { file.populate(run); });
}

void AliasLargePages::forget(PageRange extents) {
  extents_.remove(extents);
  for (std::uintptr_t extent = extents.begin / extent_pages; extent * extent_pages < extents.end; ++extent)
    releases_.erase(extent);
}

}  // namespace sluice
