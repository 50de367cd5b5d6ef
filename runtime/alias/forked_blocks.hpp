// What becomes of alias blocks around a fork: those that no operation uses become views, the others are for the child to copy
// (fork.hpp). Later, memory that no child shows any more may become blocks again.
//
// Owns the fork that is under way, and whether there may be views. What children show is kept in ChildrenViews, which the books
// ask as well.
//
// Threading: as AliasArena, but for `bring_to_child`.
#pragma once

#include <cstdint>

#include "runtime/alias/books.hpp"
#include "runtime/alias/children_views.hpp"
#include "runtime/alias/file.hpp"
#include "runtime/alias/fork.hpp"
#include "runtime/alias/own_pins.hpp"
#include "runtime/alias/page_set.hpp"
#include "runtime/base/types.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

class ForkedBlocks {
 public:
  struct Parts {
    AliasFile& file;
    ProcessMaps& maps;
    AliasBooks& books;
    ChildrenViews& children;
    own_pins::Others& others;
  };
  explicit ForkedBlocks(const Parts& parts) : parts_(parts) {}

  /// Blocks in use by operations, which stay blocks of the parent's.
  struct InUse {
    PageSet pages;
    bool all = false;
  };
  /// From pthread_atfork handlers. The child's memory is its own, and its arena is not usable any more.
  /// `hears_faults`: a fault of this thread on its way through the child is told to `bring_to_child`.
  void prepare(bool hears_faults, const InUse& in_use);
  void prepare(bool hears_faults) { prepare(hears_faults, InUse()); }
  /// True when the caller is such a thread and its blocks were missing; now they are there. [fault handler]
  bool bring_to_child();
  void after_in_parent();
  void after_in_child();

  /// Blocks in `bytes` become private mappings of their pages, at once.
  void make_views(ByteRange bytes);
  /// A part of the memory that a fork has made private and that no child shows any more; it lies behind `from`. Empty: there is
  /// none.
  [[nodiscard]] ByteRange next_to_return(std::uintptr_t from) const;

 private:
  [[nodiscard]] bool is_held() const;
  void make_view(const ProcessMapping& block, ForkPlan& plan);

  const Parts parts_;
  AliasFork fork_;
  bool has_views_ = false;  // a fork has made some
};

}  // namespace sluice
