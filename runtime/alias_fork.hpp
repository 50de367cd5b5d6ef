// A child of fork must see copies of its parent's blocks, but blocks are shared mappings. The child therefore copies every one
// of them before fork returns there, and the parent waits for that, so that what it writes next is not in the copies.
//
//   parent  prepare()          opens a pipe, when there is anything to copy
//   child   copy_everything()  copies, then writes one byte
//   parent  wait_for_child()   closes its end for writing, reads: the byte, or the end of the file when the child died
//
// Other threads of the parent are not stopped meanwhile: as POSIX has it, a child of a threaded process can rely on nothing
// that they were changing.
#pragma once

#include "runtime/alias_file.hpp"
#include "runtime/posix.hpp"
#include "runtime/process_maps.hpp"

namespace sluice {

class AliasFork {
 public:
  void prepare();
  void wait_for_child();
  void copy_everything(const AliasFile& file, ProcessMaps& maps);

 private:
  Descriptor done_reading_;
  Descriptor done_writing_;
};

}  // namespace sluice
