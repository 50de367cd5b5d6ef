// The kernel's userfaultfd for minor faults on shared memory: its system calls, and what a machine must permit for them.
//
// A page of a watched mapping that has no page-table entry but exists in its file is not mapped when a thread touches it: the
// thread stops, and the descriptor tells the page. `map` gives it the entry and lets the threads go on. With
// `kernel_faults`, that holds for the kernel's accesses in system calls, too; without, those fail with EFAULT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

class FaultDescriptor {
 public:
  FaultDescriptor() = default;
  /// When it cannot be had, `missing` says what the machine lacks.
  static FaultDescriptor open(std::string& missing);

  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  [[nodiscard]] int get() const { return descriptor_.get(); }
  [[nodiscard]] bool kernel_faults() const { return kernel_faults_; }
  void close() { descriptor_.reset(); }

  /// From now on, touches of unmapped pages stop. Cheaper when it was so already (docs/results/guard.md).
  [[nodiscard]] bool watch(ByteRange bytes) const;

  enum class Outcome : std::uint8_t {
    mapped,       // all of it, or as far as `begin` has advanced
    is_mapped,    // the first page has an entry already
    no_page,      // the file has no such page
    not_watched,  // not within one watched mapping
    try_again,
    failed,
  };
  /// Maps pages from bytes.begin on and wakes who waits for them; advances bytes.begin past what was mapped.
  [[nodiscard]] Outcome map(ByteRange& bytes) const;

  /// Threads that wait for these pages look again.
  void wake(ByteRange bytes) const;

  /// Pages that were touched since the last call. Does not wait.
  [[nodiscard]] std::span<const std::uintptr_t> read(std::span<std::uintptr_t> pages) const;

 private:
  Descriptor descriptor_;
  bool kernel_faults_ = false;
};

}  // namespace sluice
