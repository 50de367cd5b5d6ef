// A child of fork must see copies of its parent's blocks, but blocks are shared mappings. So before the fork they become views,
// private mappings of the same pages of the file (private_views.hpp), in the parent and thereby in the child. Nothing is copied
// but what either of them writes to, and what is only read is there once. The pages of the file keep their contents while a child
// may show them (children_views.hpp); a view that is no child's any more may become a block again, in place.
//
// Pages of operations under way stay blocks: a peer, or an adapter, may be writing to the file, and a byte that the parent writes
// beside that would hide what comes. The child inherits none of these. It copies them from the memory file, at its first touch or
// when fork is about to return there, whatever comes first. The parent waits for that, so that what it writes next is not in the
// copies.
//
//   parent  plan_fork()        sorts the blocks
//           prepare()          when there are some to copy: opens a pipe, withholds them (MADV_DONTFORK)
//   child   copy_everything()  copies, then writes one byte
//   parent  wait_for_child()   closes its end for writing, reads: the byte, or the end of the file when the child died;
//                              gives the blocks to children again
//
// The first touch comes before any handler of pthread_atfork: glibc resets the locks of its arenas and streams in the child and
// puts all arenas on its free list, and these are in the heap, beside buffers. On a shared page that would be done to the
// parent's: an arena in use would be taken for a free one.
//
// Blocks in use are inherited as shared mappings all the same when the touch could not be answered: the thread's faults do not
// come to the guard, or its stack is in one of them. Then what glibc resets there is reset in the parent as well.
//
// Other threads of the parent are not stopped meanwhile: as POSIX has it, a child of a threaded process can rely on nothing
// that they were changing.
#pragma once

#include <sys/types.h>

#include <vector>

#include "runtime/alias/file.hpp"
#include "runtime/alias/page_set.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

struct ForkPlan {
  std::vector<ProcessMapping> views;    // blocks, or parts of them, that are to become views
  std::vector<ProcessMapping> in_use;   // ... that the child has to copy
  std::vector<ProcessMapping> present;  // views that were there before
};

/// `in_use`: of operations under way.
ForkPlan plan_fork(const AliasFile& file, const ProcessMaps& maps, const PageSet& in_use);

class AliasFork {
 public:
  /// `blocks` are for the child to copy.
  void prepare(std::vector<ProcessMapping> blocks, bool hears_faults);
  void wait_for_child();
  /// False when this is not the child of the fork that this thread prepared, or it has its copies. [fault handler]
  bool copy_everything(const AliasFile& file, ProcessMaps& maps);

 private:
  Descriptor done_reading_;
  Descriptor done_writing_;
  pid_t parent_ = 0;
  std::vector<ProcessMapping> withheld_;  // the child reads what the parent has written
};

}  // namespace sluice
