// The threads that answer touches for the userfaultfd mechanism.
//
// A thread that touches an unmapped page of a block stops in the kernel until the page is mapped. Two kinds of pages are
// unmapped:
//
//   closed    a release holds it; it is mapped when its data is there, which may need this process to progress
//   dropped   no release holds it: the kernel took the entry away (memory pressure, MADV_DONTNEED, MADV_COLLAPSE)
//
// Whoever progresses holds the engine lock and may touch a dropped page (it copies from the application's memory), so a
// dropped page must be mapped by somebody who never waits for that lock. Hence two threads, which change roles:
//
//   attending    waits for touches; maps dropped pages at once; takes the guard's lock only, a leaf
//   driving      lets the engine progress while somebody waits for a closed page
//   idle         waits until the other gives up attending
//
//   idle -> attending          the role is free
//   attending -> driving       a closed page was touched and nobody drives: gives the role away, the other attends
//   driving -> idle            nobody waits for a closed page any more
//
// Pages are opened by whoever progresses, and opening wakes their waiters: usually that is the driving thread, but any
// application thread in a call and the helper thread do it as well.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"
#include "runtime/guard/descriptor.hpp"

namespace sluice {

/// What the guard does about a touch.
class TouchAnswerer {
 public:
  /// A thread waits for this page. Maps it and returns true, unless a release holds it.
  virtual bool answer_touch(std::uintptr_t page) = 0;
  [[nodiscard]] virtual bool is_closed_page(std::uintptr_t page) const = 0;
  /// Brings closed pages nearer to their data.
  virtual void progress(unsigned attempt) = 0;
  /// A closed page was waited for between these times.
  virtual void note_wait(std::uint64_t began, std::uint64_t now) = 0;
  /// Maps those of `pages` that no release holds.
  virtual void map_free(PageRange pages) = 0;

 protected:
  ~TouchAnswerer() = default;
};

class TouchThreads {
 public:
  /// Throws std::system_error when threads cannot be made.
  TouchThreads(TouchAnswerer& answerer, const FaultDescriptor& faults);
  ~TouchThreads();
  TouchThreads(const TouchThreads&) = delete;
  TouchThreads& operator=(const TouchThreads&) = delete;

  /// In a child of a fork: the threads exist in the parent only.
  void abandon();

 private:
  struct Wait {
    std::uintptr_t page = 0;
    std::uint64_t since = 0;
  };

  void run();
  /// Attends until it has to drive (true) or the threads are to end (false).
  bool attend();
  void drive();
  bool wait_for_touches() const;
  /// True when the caller has to drive.
  bool enter(std::uintptr_t page);
  bool anybody_waits();
  void stop();

  TouchAnswerer& answerer_;
  const FaultDescriptor& faults_;
  Descriptor stopping_;  // an eventfd
  std::atomic<bool> stopped_{false};
  std::mutex attending_;  // the role
  std::mutex waits_lock_;
  std::vector<Wait> waits_;  // for closed pages. Both under waits_lock_
  bool driven_ = false;
  std::thread first_;
  std::thread second_;
};

}  // namespace sluice
