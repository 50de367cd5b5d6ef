// What the kernel keeps with a mapping and does not tell in /proc/self/maps, asked for one mapping at a time without changing it.
//
//   the program's own userfaultfd   another descriptor is refused (EBUSY) where one watches; whoever watched
//                                   nothing gives the page back at once. Write-protection is asked for, which
//                                   no page has: nobody's touch stops meanwhile.
//   memory policy (mbind)           get_mempolicy answers `default` for a mapping that has none of its own
//
// Where the kernel refuses userfaultfd to this process altogether, the program has none either.
//
// Threading: the engine lock is held.
#pragma once

#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"
#include "runtime/process/numa_placement.hpp"

namespace sluice {

class MappingProbe {
 public:
  /// A memory file's pages would lose something there. `part` lies in one private mapping.
  [[nodiscard]] bool finds_kept(ByteRange part);

 private:
  [[nodiscard]] bool is_watched(ByteRange page);
  [[nodiscard]] bool has_policy(ByteRange page) const;

  Descriptor watcher_;
  bool opened_ = false;
  std::size_t numa_nodes_ = count_numa_nodes();
};

}  // namespace sluice
