// The threads of this process, without a byte from the application's heap (which opendir would take): this is asked with the
// engine lock held, when pages of that heap may be closed.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "runtime/base/posix.hpp"

namespace sluice {

/// Calls visit(tid) for every thread.
template <typename Visit>
void for_each_thread(Visit&& visit) {
  struct Entry {
    std::uint64_t inode;
    std::int64_t next;
    std::uint16_t bytes;
    std::uint8_t type;
    char name[1];
  };
  const Descriptor tasks(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(Entry) std::array<char, 1024> buffer;
  for (;;) {
    const long bytes = syscall(SYS_getdents64, tasks.get(), buffer.data(), buffer.size());
    if (bytes <= 0) return;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer.data() + at);
      if (const int tid = std::atoi(entry->name); tid > 0) visit(tid);
      at += entry->bytes;
    }
  }
}

}  // namespace sluice
