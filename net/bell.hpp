// An eventfd by which a thread is woken that sleeps on descriptors.
//
// Threading: any thread rings; whoever is woken silences.
#pragma once

#include <sys/eventfd.h>

#include <cstdint>

#include "net/system.hpp"
#include "runtime/base/posix.hpp"

namespace sluice {

class Bell {
 public:
  Bell() : event_(checked(static_cast<int>(::syscall(SYS_eventfd2, 0, EFD_NONBLOCK | EFD_CLOEXEC)), "eventfd")) {}

  /// Readable from a ring to the next silence.
  [[nodiscard]] int descriptor() const { return event_.get(); }
  void ring() const {
    const std::uint64_t one = 1;
    ::syscall(SYS_write, event_.get(), &one, sizeof one);
  }
  void silence() const {
    std::uint64_t times = 0;
    ::syscall(SYS_read, event_.get(), &times, sizeof times);
  }

 private:
  Descriptor event_;
};

}  // namespace sluice
