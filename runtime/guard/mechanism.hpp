// What closing and opening pages means. The releases, their protection counts and who waits are page_guard.cpp's; a mechanism
// only changes what the page tables say, and is one of
//
//   mprotect      PROT_NONE; a touch raises SIGSEGV in the thread that made it       mprotect.hpp
//   userfaultfd   no page-table entry; a touch stops its thread in the kernel         userfaultfd.hpp
//
// Threading: every function is called with the guard's lock held, so it calls nothing and touches no application memory.
#pragma once

#include <cstddef>

#include "runtime/base/types.hpp"

namespace sluice {

class GuardMechanism {
 public:
  virtual ~GuardMechanism() = default;
  GuardMechanism() = default;
  GuardMechanism(const GuardMechanism&) = delete;
  GuardMechanism& operator=(const GuardMechanism&) = delete;

  /// Nobody gets at these pages any more. False: refused, and some of them may be closed.
  virtual bool close(PageRange pages) = 0;
  /// Opens pages that no receive holds, up to `most`: writers stay outside where a send is released. Those that are not blocks
  /// (any more) are left alone. False: the kernel has no mapping left, and some are still closed.
  virtual bool open(PageRange pages, Access allowed) = 0;
  /// Closed pages are closed by their protection, which is not to be changed then.
  [[nodiscard]] virtual bool closes_by_protection() const = 0;
  /// How many mappings a release adds to the process while it lasts.
  [[nodiscard]] virtual std::size_t mappings_per_release() const = 0;
  /// Touches of closed pages still reach the guard.
  [[nodiscard]] virtual bool hears_touches() const = 0;
  /// System calls that touch a closed page wait; otherwise they fail with EFAULT.
  [[nodiscard]] virtual bool kernel_waits() const = 0;
  /// In a child of a fork, which has none of the guard's threads.
  virtual void abandon() {}
};

}  // namespace sluice
