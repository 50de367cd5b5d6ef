#include "runtime/alias/children_views.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace sluice {
namespace {

struct flock byte_lock(short type, off_t mark) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = mark;
  lock.l_len = 1;
  return lock;
}

}  // namespace

void ChildrenViews::expect_child(const PageSet& pages) {
  if (pages.empty()) return;
  look();
  const auto same = std::find_if(views_.begin(), views_.end(), [&](const View& view) { return view.pages == pages; });
  if (same != views_.end()) {
    if (same->mark != for_ever && !inherit_mark(same->mark)) same->mark = for_ever;
    return;
  }
  const off_t mark = free_mark();
  views_.push_back({inherit_mark(mark) ? mark : for_ever, pages});
}

bool ChildrenViews::inherit_mark(off_t mark) {
  if (!marks_) marks_ = Descriptor(memfd_create("sluice-children", MFD_CLOEXEC));
  if (!marks_ || ftruncate(marks_.get(), page_bytes) != 0) return false;
  std::array<char, 32> name;
  std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", marks_.get());
  const Descriptor anew(open(name.data(), O_RDWR | O_CLOEXEC));
  struct flock lock = byte_lock(F_RDLCK, mark);
  if (!anew || fcntl(anew.get(), F_OFD_SETLK, &lock) != 0) return false;
  void* const start = mmap(nullptr, page_bytes, PROT_NONE, MAP_SHARED, anew.get(), 0);
  if (start == MAP_FAILED) return false;
  inherited_ = Mapping(start, page_bytes);
  return true;
}

/// The mark stays mapped, for as long as this process is what it is.
void ChildrenViews::abandon() { marks_.reset(); }

bool ChildrenViews::is_marked(off_t mark) const {
  struct flock lock = byte_lock(F_WRLCK, mark);
  return mark == for_ever || fcntl(marks_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

off_t ChildrenViews::free_mark() const {
  off_t mark = 0;
  for (const View& view : views_) mark = std::max(mark, view.mark + 1);
  return mark;
}

void ChildrenViews::look() {
  std::erase_if(views_, [&](const View& view) { return !is_marked(view.mark); });
}

bool ChildrenViews::overlap(PageRange pages) const {
  return std::any_of(views_.begin(), views_.end(), [&](const View& view) { return view.pages.overlaps(pages); });
}

void ChildrenViews::add_to(PageSet& pages) const {
  for (const View& view : views_) view.pages.for_each([&](PageRange run) { pages.add(run); });
}

}  // namespace sluice
