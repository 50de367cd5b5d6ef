// A set of pages as disjoint, merged intervals. Because a file offset is an application address, this is all the store that
// alias blocks need: neighbouring blocks become one entry, and a buffer finds its block whatever address it starts at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "runtime/base/types.hpp"

namespace sluice {

class PageSet {
 public:
  void add(PageRange pages);
  void remove(PageRange pages);
  bool operator==(const PageSet&) const = default;
  [[nodiscard]] bool contains(PageRange pages) const;
  [[nodiscard]] bool overlaps(PageRange pages) const;

  [[nodiscard]] std::size_t intervals() const { return intervals_.size(); }
  [[nodiscard]] std::size_t pages() const { return pages_; }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }

  /// Calls visit(PageRange) for every maximal run of members inside `pages`, in order.
  template <typename Visit>
  void for_each_inside(PageRange pages, Visit&& visit) const {
    for (auto it = first_ending_after(pages.begin); it != intervals_.end() && it->first < pages.end; ++it) {
      visit(PageRange{it->first < pages.begin ? pages.begin : it->first, it->second < pages.end ? it->second : pages.end});
    }
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [begin, end] : intervals_) visit(PageRange{begin, end});
  }

 private:
  using Intervals = std::map<std::uintptr_t, std::uintptr_t>;  // begin -> end
  [[nodiscard]] Intervals::const_iterator first_ending_after(std::uintptr_t page) const;

  Intervals intervals_;
  std::size_t pages_ = 0;
};

}  // namespace sluice
