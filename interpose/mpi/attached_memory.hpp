// What this process has attached to a dynamic window (MPI-3.1 11.2.4).
//
// Threading: any.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "runtime/base/types.hpp"

namespace sluice {

class AttachedMemory {
 public:
  void add(const void* base, std::size_t bytes) {
    const ByteRange region = ByteRange::of(base, bytes);
    const std::scoped_lock guard(lock_);
    end_of_[region.begin] = region.end;
  }

  void remove(const void* base) {
    const std::scoped_lock guard(lock_);
    end_of_.erase(reinterpret_cast<std::uintptr_t>(base));
  }

  /// All of it lies in regions.
  [[nodiscard]] bool holds(ByteRange range) const {
    const std::scoped_lock guard(lock_);
    while (!range.empty()) {
      const auto after = end_of_.upper_bound(range.begin);
      if (after == end_of_.begin()) return false;
      const std::uintptr_t end = std::prev(after)->second;
      if (end <= range.begin) return false;
      range.begin = end;
    }
    return true;
  }

 private:
  mutable std::mutex lock_;
  std::map<std::uintptr_t, std::uintptr_t> end_of_;  // by where a region begins; they do not overlap
};

}  // namespace sluice
