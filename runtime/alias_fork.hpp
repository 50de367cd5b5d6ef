// A child of fork must see copies of its parent's blocks, but blocks are shared mappings. So it inherits none of them: the child
// copies them all from the memory file, at its first touch or when fork is about to return there, whatever comes first. The
// parent waits for that, so that what it writes next is not in the copies.
//
//   parent  prepare()          opens a pipe, when there is anything to copy; lists the blocks and withholds them (MADV_DONTFORK)
//   child   copy_everything()  copies, then writes one byte
//   parent  wait_for_child()   closes its end for writing, reads: the byte, or the end of the file when the child died;
//                              gives the blocks to children again
//
// The first touch comes before any handler of pthread_atfork: glibc resets the locks of its arenas and streams in the child and
// puts all arenas on its free list, and these are in the heap, beside buffers. On a shared page that would be done to the
// parent's: an arena in use would be taken for a free one.
//
// Blocks are inherited as shared mappings all the same when the touch could not be answered: the thread's faults do not come to
// the guard, or its stack is in a block. Then what glibc resets there is reset in the parent as well.
//
// Other threads of the parent are not stopped meanwhile: as POSIX has it, a child of a threaded process can rely on nothing
// that they were changing.
#pragma once

#include <sys/types.h>

#include <vector>

#include "runtime/alias_file.hpp"
#include "runtime/posix.hpp"
#include "runtime/process_maps.hpp"

namespace sluice {

class AliasFork {
 public:
  void prepare(const AliasFile& file, const ProcessMaps& maps, bool hears_faults);
  void wait_for_child();
  /// False when this is not the child of the fork that this thread prepared, or it has its copies. [fault handler]
  bool copy_everything(const AliasFile& file, ProcessMaps& maps);

 private:
  void withhold(const AliasFile& file, const ProcessMaps& maps);

  Descriptor done_reading_;
  Descriptor done_writing_;
  pid_t parent_ = 0;
  std::vector<ProcessMapping> withheld_;  // the child reads what the parent has written
};

}  // namespace sluice
