// Memory that this process has brought to a window: with MPI_Win_create, or attached to a dynamic one (MPI-3.1 11.2.4). Peers
// read and write it at any time, so its pages stay what they are, and are never closed, until it is taken back.
//
// Threading: any.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "interpose/session/session.hpp"
#include "runtime/alias/kept_memory.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

class BroughtMemory {
 public:
  /// Returns when nothing of it is under guard.
  void add(const void* base, std::size_t bytes) {
    if (bytes == 0) return;
    const ByteRange region = ByteRange::of(base, bytes);
    {
      const std::scoped_lock guard(lock_);
      if (!end_of_.try_emplace(region.begin, region.end).second) return;
    }
    kept_memory::begin_use(region);
    Engine::Windows(engine()).see_kept_memory();
    engine().memory().settle(region, Access::write);
  }

  void take_back(const void* base) {
    const std::scoped_lock guard(lock_);
    const auto found = end_of_.find(reinterpret_cast<std::uintptr_t>(base));
    if (found == end_of_.end()) return;
    kept_memory::end_use({found->first, found->second});
    end_of_.erase(found);
  }

  void take_all_back() {
    const std::scoped_lock guard(lock_);
    for (const auto& [begin, end] : end_of_) kept_memory::end_use({begin, end});
    end_of_.clear();
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
