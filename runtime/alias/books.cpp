#include "runtime/alias/books.hpp"

#include <algorithm>

#include "runtime/alias/eligibility.hpp"
#include "runtime/alias/watched_memory.hpp"

namespace sluice {
namespace {

/// A sweep asks the kernel for every mapping, some 50 µs in a large program: once per so many bytes migrated or found dead.
constexpr std::size_t sweep_bytes = std::size_t{64} << 20;

}  // namespace

ByteRange AliasBooks::first_in_place(ByteRange bytes) const {
  ByteRange found{bytes.begin, bytes.begin};
  ProcessMaps::Walk walk(maps_, bytes.begin);
  while (found.end < bytes.end) {
    ProcessMapping mapping;
    if (!walk.next(mapping) || mapping.bytes.begin >= bytes.end) break;
    const bool gap = mapping.bytes.begin > found.end;
    const bool lives = file_.backs_in_place(mapping);
    if (!found.empty() && (gap || !lives)) break;
    if (found.empty()) found.begin = lives ? std::max(mapping.bytes.begin, bytes.begin) : std::min(mapping.bytes.end, bytes.end);
    found.end = lives ? std::min(mapping.bytes.end, bytes.end) : found.begin;
  }
  return found;
}

ByteRange AliasBooks::first_mapping_in_place(ByteRange bytes) const {
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps_, bytes.begin); walk.next(mapping) && mapping.bytes.begin < bytes.end;) {
    const ByteRange part{std::max(mapping.bytes.begin, bytes.begin), std::min(mapping.bytes.end, bytes.end)};
    if (file_.backs_in_place(mapping)) return part;
  }
  return {bytes.begin, bytes.begin};
}

bool AliasBooks::all_usable(PageRange pages, OperationTime time) {
  if (time.begun <= last_usable_at_ && last_usable_.contains(pages.bytes())) return true;
  const bool reads_text = !maps_.asks_by_ioctl();
  ByteRange rest = reads_text ? known_.without_known(pages.bytes()) : pages.bytes();
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps_, rest.begin); !rest.empty(); rest.begin = mapping.bytes.end) {
    if (!walk.next(mapping) || !mapping.bytes.contains(rest.begin)) return false;
    if (!file_.backs_in_place(mapping) || !is_protected_like_a_block(mapping, sent_, rest)) return false;
    if (reads_text) known_.note(mapping);
  }
  if (time.begun != OperationTime::none && mapping.readable && mapping.writable) {
    last_usable_ = mapping.bytes;
    last_usable_at_ = time.latest;
  }
  return true;
}

void AliasBooks::count_mappings() {
  // Each run of blocks, and each seam in it, splits what was one mapping in three at most.
  mappings_added_.store(2 * (blocks_.intervals() + seams_.intervals()), std::memory_order_relaxed);
}

void AliasBooks::enter(PageRange pages, bool seam) {
  const std::size_t known = blocks_.pages();
  blocks_.add(pages);
  occupied_.add(pages);
  if (seam) seams_.add({pages.begin, pages.begin + 1});
  unswept_bytes_ += (blocks_.pages() - known) * page_bytes;
  count_mappings();
}

void AliasBooks::strike(PageRange pages) {
  watched_memory::note_end(pages.bytes());
  blocks_.remove(pages);
  seams_.remove(pages);
  unswept_bytes_ += pages.size() * page_bytes;
  count_mappings();
}

void AliasBooks::note_release(PageRange pages) {
  if (blocks_.contains(pages)) large_.note_release(pages, blocks_, file_);
}

void AliasBooks::note_send(PageRange pages, bool pending) {
  if (pending) {
    sends_.push_back(pages);
    sent_.add(pages);
    return;
  }
  const auto same = [&](PageRange other) { return other.begin == pages.begin && other.end == pages.end; };
  sends_.erase(std::find_if(sends_.begin(), sends_.end(), same));
  sent_ = {};
  for (const PageRange other : sends_) sent_.add(other);
}

void AliasBooks::drop_dead(PageRange pages) {
  PageSet dead;
  blocks_.for_each_inside(pages, [&](PageRange run) { dead.add(run); });
  for (ByteRange rest = pages.bytes(); !rest.empty();) {
    const ByteRange live = first_in_place(rest);
    if (live.empty()) break;
    dead.remove(PageRange::covering(live));
    rest.begin = live.end;
  }
  dead.for_each([&](PageRange run) {
    strike(run);
    ++dead_blocks_;
  });
  if (unswept_bytes_ >= sweep_bytes) sweep();
}

std::size_t AliasBooks::look() {
  PageSet dead;
  const auto find_dead = [&](PageRange run) {
    dead.add(run);
    for (ByteRange live = first_in_place(run.bytes()); !live.empty(); live = first_in_place({live.end, run.bytes().end})) {
      dead.remove(PageRange::covering(live));
    }
  };
  // Pages that are no blocks any more, or a kernel that has to be asked for everything at once: the sweep finds out.
  const bool all_are_blocks = maps_.asks_by_ioctl() && occupied_.pages() == blocks_.pages();
  if (all_are_blocks) blocks_.for_each(find_dead);
  if (!occupied_.empty() && (!all_are_blocks || !dead.empty())) sweep();
  return occupied_.pages() * page_bytes;
}

void AliasBooks::sweep_if_due() {
  if (unswept_bytes_ >= std::max(sweep_bytes, blocks_.pages() * page_bytes)) sweep();
}

/// Frees file pages that nobody sees any more. Only here, since a page that left its address may have been moved, not unmapped.
void AliasBooks::sweep() {
  PageSet shown;
  PageSet moved;
  PageSet gone = blocks_;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps_, 0); walk.next(mapping);) {
    const bool is_view = file_.is_view(mapping);
    if (!is_view && (!file_.backs(mapping) || file_.is_window(mapping))) continue;
    const PageRange pages = AliasFile::pages_of(mapping);
    shown.add(pages);
    if (is_view) continue;
    if (file_.backs_in_place(mapping)) {
      gone.remove(pages);
    } else {
      moved.add(pages);
    }
  }
  gone.for_each([&](PageRange run) {
    strike(run);
    ++dead_blocks_;
  });
  sent_.for_each([&](PageRange run) { shown.add(run); });
  children_.look();
  children_.add_to(shown);
  free_unseen(shown);
  moved_blocks_ = moved.intervals();
  unswept_bytes_ = 0;
}

void AliasBooks::free_unseen(const PageSet& shown) {
  PageSet unseen = occupied_;
  shown.for_each([&](PageRange run) { unseen.remove(run); });
  // A large page is freed as a whole or not at all.
  constexpr std::uintptr_t step = AliasFile::extent_bytes / page_bytes;
  large_.extents().for_each([&](PageRange run) {
    for (PageRange extent{run.begin, run.begin + step}; extent.begin < run.end; extent = {extent.end, extent.end + step}) {
      shown.overlaps(extent) ? unseen.remove(extent) : unseen.add(extent);
    }
  });
  unseen.for_each([&](PageRange run) {
    file_.punch(run.bytes());
    occupied_.remove(run);
    large_.forget(run);
  });
}

}  // namespace sluice
