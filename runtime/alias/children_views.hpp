// Children of fork that show pages of the memory file, and for how long.
//
// A fork makes the blocks private mappings of the same file pages, in the parent and so in the child: both read the same pages,
// and each writes its own. These file pages must keep their contents as long as a child, or a child of that, may show one.
// Nothing tells a process that its grandchildren are gone, or that they have become other programs, and a child may close any
// descriptor. So each child inherits a mapping that it has no use for, of a file that has a lock for it:
//
//   parent  before the fork   opens the file of marks anew, locks one byte of it (F_OFD_SETLK), maps it, closes the descriptor
//           after it          unmaps it: from here on only descendants have it
//           later             asks whether that byte is locked. It is until the last mapping of that opening is gone, by exit,
//                             exec or a signal
//
// Forks whose children show the same pages share a byte.
//
// Threading: as AliasArena.
#pragma once

#include <sys/types.h>

#include <vector>

#include "runtime/alias/page_set.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

class ChildrenViews {
 public:
  /// A child is about to be made that shows these pages of the file. Without descriptors for a mark it is taken to live for ever.
  void expect_child(const PageSet& pages);
  /// In the parent.
  void child_is_made() { inherited_ = Mapping(); }
  /// In the child, which has no views to keep account of.
  void abandon();

  /// Asks who is gone.
  void look();
  /// Some child may show some of these pages, by the last look.
  [[nodiscard]] bool overlap(PageRange pages) const;
  void add_to(PageSet& pages) const;
  [[nodiscard]] bool any() const { return !views_.empty(); }

 private:
  static constexpr off_t for_ever = -1;
  struct View {
    off_t mark;
    PageSet pages;
  };
  [[nodiscard]] bool inherit_mark(off_t mark);
  [[nodiscard]] bool is_marked(off_t mark) const;
  [[nodiscard]] off_t free_mark() const;

  Descriptor marks_;
  Mapping inherited_;
  std::vector<View> views_;
};

}  // namespace sluice
