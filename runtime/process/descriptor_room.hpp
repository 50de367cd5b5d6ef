// Where Sluice's own descriptors lie: above those of the program. A program that uses select(), closes a few low numbers, or
// counts on getting them, then finds them as it would without Sluice; and it may open as many as its limit (RLIMIT_NOFILE) says.
//
// The kernel asks for the limit only when a descriptor is given out. So the soft limit is raised for as long as Sluice's own are
// made, and put back: neither the program nor what it starts sees another one.
//
// Threading: the functions belong to MPI_Init. A program that opens files in other threads meanwhile may get a number above its
// limit, nothing worse.
#pragma once

#include <sys/resource.h>

#include <cstddef>

#include "runtime/base/posix.hpp"

namespace sluice {

class DescriptorRoom {
 public:
  /// Has the process's table of descriptors grow to where Sluice's will lie. Later, with more than one thread, the kernel waits
  /// for all processors before it goes on (10 ms and more).
  static void prepare_process();

  /// Room for so many descriptors, and those that are being handed over, until this is gone.
  explicit DescriptorRoom(std::size_t descriptors);
  ~DescriptorRoom();
  DescriptorRoom(const DescriptorRoom&) = delete;
  DescriptorRoom& operator=(const DescriptorRoom&) = delete;

  /// The same file under a number above the program's, where there is one; else what was given.
  static Descriptor moved_up(Descriptor low);

 private:
  rlimit before_{};
  bool raised_ = false;
};

}  // namespace sluice
