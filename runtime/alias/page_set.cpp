#include "runtime/alias/page_set.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {

PageSet::Intervals::const_iterator PageSet::first_ending_after(std::uintptr_t page) const {
  auto it = intervals_.upper_bound(page);
  if (it != intervals_.begin() && std::prev(it)->second > page) --it;
  return it;
}

void PageSet::add(PageRange pages) {
  if (pages.empty()) return;
  remove(pages);
  pages_ += pages.size();
  auto next = intervals_.lower_bound(pages.begin);
  if (next != intervals_.end() && next->first == pages.end) {
    pages.end = next->second;
    next = intervals_.erase(next);
  }
  if (next != intervals_.begin() && std::prev(next)->second == pages.begin) {
    std::prev(next)->second = pages.end;
  } else {
    intervals_.emplace_hint(next, pages.begin, pages.end);
  }
}

void PageSet::remove(PageRange pages) {
  if (pages.empty()) return;
  auto it = first_ending_after(pages.begin);
  while (it != intervals_.end() && it->first < pages.end) {
    const PageRange old{it->first, it->second};
    it = intervals_.erase(it);
    if (old.begin < pages.begin) intervals_.emplace(old.begin, pages.begin);
    if (old.end > pages.end) intervals_.emplace(pages.end, old.end);
    pages_ -= std::min(old.end, pages.end) - std::max(old.begin, pages.begin);
  }
}

bool PageSet::contains(PageRange pages) const {
  if (pages.empty()) return true;
  const auto it = first_ending_after(pages.begin);
  return it != intervals_.end() && it->first <= pages.begin && it->second >= pages.end;
}

bool PageSet::overlaps(PageRange pages) const {
  const auto it = first_ending_after(pages.begin);
  return !pages.empty() && it != intervals_.end() && it->first < pages.end;
}

}  // namespace sluice
