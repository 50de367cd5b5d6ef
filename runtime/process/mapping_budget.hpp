// How many mappings Sluice may add to the process (page-guard rule 13). The kernel grants vm.max_map_count to all together, and a
// program that meets the limit has its mmap and mprotect refused, in the middle of free as well. So Sluice takes a quarter of
// what the program leaves: of nearly everything in most programs, and of next to nothing in one that has used nearly everything
// itself.
//
// The kernel tells the count only by naming every mapping. So it is counted at a rate that makes this a small
// part of the time, whatever the number is. What the program adds between two counts it finds granted: no more is taken of it
// than a quarter of what was free.
//
// Threading: `refresh_if_due` with the engine lock held; `allows` from any thread: the count is a bare number, relaxed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/process/process_maps.hpp"

namespace sluice {

class MappingBudget {
 public:
  /// `most`: what Sluice takes in any case at most. `granted`: vm.max_map_count.
  explicit MappingBudget(std::size_t max, std::size_t granted = granted_to_a_process()) : max_(max), granted_(granted) {}

  /// Sluice may have so many in all.
  [[nodiscard]] bool allows(std::size_t own) const { return own <= max_ && own <= share_of(granted_, program()); }

  /// Counts anew when the last count was long enough ago. `own`: of the mappings that there are, how many Sluice has added.
  void refresh_if_due(const ProcessMaps& maps, std::size_t own);

  /// A quarter of what a program with so many mappings leaves.
  [[nodiscard]] static std::size_t share_of(std::size_t granted, std::size_t program);
  [[nodiscard]] static std::size_t granted_to_a_process();

 private:
  [[nodiscard]] std::size_t program() const { return program_.load(std::memory_order_relaxed); }

  const std::size_t max_;
  const std::size_t granted_;
  std::atomic<std::size_t> program_{0};  // mappings that are not Sluice's, when last counted
  std::uint64_t due_ = 0;
};

}  // namespace sluice
