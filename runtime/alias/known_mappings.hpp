// Mappings of the memory file that were found in place before, and whether they still are: for kernels before 6.11, where the
// only general answer is all of /proc/self/maps (process_maps.hpp), 0.1 ms in an MPI program and for every large message.
//
// Two questions of 0.7 µs together, measured, tell it for certain:
// * /proc/self/map_files has the name "begin-end" exactly as long as one mapping of a file has these borders.
// * FUTEX_CMP_REQUEUE_PI is refused with EINVAL when its two words, at different addresses, are the same word of the same file;
//   the second must be writable. The kernel asks that first, and with an expected value that is not there does nothing else.
// File, offset and protection are the same for all of a mapping, so one word speaks for it. Not asked is whether the program has
// made a known mapping executable as well; a release would take that from it.
//
// Threading: with the engine lock held.
#pragma once

#include <cstdint>
#include <map>

#include "runtime/alias/file.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

class KnownMappings {
 public:
  explicit KnownMappings(const AliasFile& file);

  /// `mapping` has just been found. Nothing is noted of one that is not in place, readable and writable.
  void note(const ProcessMapping& mapping);

  /// What is left of `bytes` after the mappings at its beginning that are known, and are still in place, readable and writable.
  /// Of the rest that says nothing. Pages of these mappings may come into the page tables.
  ByteRange without_known(ByteRange bytes);

 private:
  /// Where the mapping around `address` ends; 0 when it is not known, or no longer there.
  std::uintptr_t end_of(std::uintptr_t address);
  [[nodiscard]] bool exists(ByteRange mapping) const;
  [[nodiscard]] bool shows_its_page(std::uintptr_t address) const;

  const AliasFile& file_;
  Descriptor names_;
  std::map<std::uintptr_t, std::uintptr_t> ends_;  // by the beginnings; what was noted does not overlap
};

}  // namespace sluice
