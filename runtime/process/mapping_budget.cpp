#include "runtime/process/mapping_budget.hpp"

#include <algorithm>
#include <cstdio>

#include "runtime/base/clock.hpp"

namespace sluice {
namespace {

/// A count takes this part of the time at most.
constexpr std::uint64_t times_its_cost = 256;

std::size_t count_mappings(const ProcessMaps& maps) {
  std::size_t count = 0;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps, 0); walk.next(mapping);) ++count;
  return count;
}

}  // namespace

std::size_t MappingBudget::share_of(std::size_t granted, std::size_t program) {
  constexpr std::size_t share = 4;
  return (granted - std::min(program, granted)) / share;
}

void MappingBudget::refresh_if_due(const ProcessMaps& maps, std::size_t own) {
  const std::uint64_t started = now_ns();
  if (started < due_) return;
  const std::size_t all = count_mappings(maps);
  program_.store(all - std::min(own, all), std::memory_order_relaxed);
  const std::uint64_t counted = now_ns();
  due_ = counted + times_its_cost * (counted - started);
}

std::size_t MappingBudget::granted_to_a_process() {
  constexpr std::size_t kernel_default = 65530;
  std::size_t limit = kernel_default;
  if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "r")) {
    if (std::fscanf(file, "%zu", &limit) != 1) limit = kernel_default;
    std::fclose(file);
  }
  return limit;
}

}  // namespace sluice
