#include "runtime/alias/migration.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "runtime/alias/copy_out.hpp"
#include "runtime/base/fatal.hpp"

namespace sluice {
namespace {

void* as_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

bool protect(PageRange pages, int protection) {
  return mprotect(as_pointer(pages.bytes().begin), pages.bytes().size(), protection) == 0;
}

bool is_anonymous(const ProcessMapping& mapping) { return mapping.inode == 0; }

}  // namespace

AliasMigration::Moved AliasMigration::move_still(PageRange pages, Untouched untouched) const {
  const auto refused = [](int error, Ineligible lack) { return error == ENOMEM || error == ENOSPC ? lack : Ineligible::failed; };
  Moved moved;
  bool stored = false;
  if (!protect(pages, PROT_READ)) {
    moved.outcome = refused(errno, Ineligible::map_budget);
  } else {
    find_held(pages, untouched, moved.held);
    const int error = file_.store(pages, moved.held);
    stored = error == 0;
    if (untouched == Untouched::is_made) moved.held.set();
    if (!stored) {
      moved.outcome = refused(error, Ineligible::out_of_memory);
    } else if (!file_.map_over(pages, moved.held)) {
      moved.outcome = refused(errno, Ineligible::out_of_memory);
    }
  }
  if (moved.outcome != Ineligible::none) moved.outcome = back_out(pages, moved.held, moved.outcome, stored);
  return moved;
}

/// Puts the segment back as it was. A kernel before 6.12 may have unmapped it when mapping the file over it failed; then the
/// copy in the file is all there is, and the segment becomes a block after all.
Ineligible AliasMigration::back_out(PageRange pages, const SegmentSet& held, Ineligible reason, bool stored) const {
  if (protect(pages, PROT_READ | PROT_WRITE)) {
    if (!shows_file(pages)) file_.punch(pages.bytes());
    return reason;
  }
  // Sealed memory (mseal) is where both changes stopped: what lies before it is writable again.
  if (!stored && errno == EPERM) return reason;
  if (stored && file_.map_over(pages, held)) return Ineligible::none;
  fatal("%zu bytes at %p cannot be made writable again (errno %d)", pages.bytes().size(), as_pointer(pages.bytes().begin), errno);
}

/// Calls visit(mapping, pages of it) in order.
template <typename Visit>
void AliasMigration::for_each_mapping(PageRange pages, Visit&& visit) const {
  const ByteRange bytes = pages.bytes();
  ProcessMaps::Walk walk(maps_, bytes.begin);
  ProcessMapping mapping;
  while (walk.next(mapping) && mapping.bytes.begin < bytes.end) {
    visit(mapping, PageRange::covering({std::max(mapping.bytes.begin, bytes.begin), std::min(mapping.bytes.end, bytes.end)}));
    if (mapping.bytes.end >= bytes.end) return;
  }
}

/// Of a mapping of another file, what the process has not changed is that file's: all of it moves.
void AliasMigration::find_held(PageRange pages, Untouched untouched, SegmentSet& held) const {
  for_each_mapping(pages, [&](const ProcessMapping& mapping, PageRange part) {
    if (is_view_in_place(mapping)) return held_.find(part, HeldPages::Of::private_file, held);
    if (is_anonymous(mapping) && untouched != Untouched::is_copied)
      return held_.find(part, HeldPages::Of::anonymous_memory, held);
    for (std::uintptr_t page = part.begin; page < part.end; ++page) held.set(index_in_segment(page));
  });
}

bool AliasMigration::move_out(ByteRange bytes, std::uint64_t file_offset) const {
  auto* const reserved = static_cast<std::byte*>(reserve_copy(bytes.size()));
  if (!reserved) return false;
  const PageRange all = PageRange::covering(bytes);
  PageRange segment = first_segment(all);
  for (; !segment.empty(); segment = first_segment({segment.end, all.end})) {
    const std::size_t before = segment.bytes().begin - bytes.begin;
    if (!move_out_segment(segment, file_offset + before, reserved + before)) break;
  }
  if (!segment.empty()) munmap(reserved + (segment.bytes().begin - bytes.begin), bytes.end - segment.bytes().begin);
  return segment.empty();
}

bool AliasMigration::move_out_segment(PageRange segment, std::uint64_t file_offset, void* reserved) const {
  const ByteRange bytes = segment.bytes();
  alias_gate::close(bytes);
  const bool kept = protect(segment, PROT_READ);  // who writes now waits at the gate
  const bool moved = kept && copy_out_part(file_.descriptor(), file_offset, bytes, reserved, PROT_READ | PROT_WRITE);
  if (!moved) protect(segment, PROT_READ | PROT_WRITE);
  alias_gate::open();
  if (moved) file_.punch({file_offset, file_offset + bytes.size()});
  return moved;
}

bool AliasMigration::is_view_in_place(const ProcessMapping& mapping) const {
  return file_.is_view(mapping) && mapping.file_offset == mapping.bytes.begin;
}

bool AliasMigration::shows_file(PageRange pages) const {
  bool any = false;
  for_each_mapping(pages, [&](const ProcessMapping& mapping, PageRange) { any = any || is_view_in_place(mapping); });
  return any;
}

std::size_t AliasMigration::count_untouched(PageRange pages) const {
  std::size_t untouched = 0;
  for_each_mapping(pages, [&](const ProcessMapping& mapping, PageRange part) {
    if (is_anonymous(mapping)) untouched += part.size() - held_.count(part);
  });
  return untouched;
}

}  // namespace sluice
