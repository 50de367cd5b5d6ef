// Processors of this machine: which two to measure copies between.
#pragma once

#include <string_view>
#include <vector>

namespace sluice {

/// The numbers of a list as in /sys/devices/system/cpu/online: "0-3,8". Empty where it is no such list.
[[nodiscard]] std::vector<int> parse_processors(std::string_view list);

/// [calling thread] Binds it to a processor, even one that the process was told not to use, where the system permits it. False:
/// it stays where it was.
bool stay_on(int processor);

struct ProcessorPair {
  bool found = false;
  int first = 0;
  int second = 0;
};
/// The one that the caller runs on, and the next one that is online and no second thread of the same core, whether or not this
/// process is bound: the ranks of a job are usually bound to neighbours.
[[nodiscard]] ProcessorPair two_processors();

/// The choice alone: of `online`, the next one after `first` that is not in `same_core`.
[[nodiscard]] ProcessorPair choose_pair(int first, const std::vector<int>& online, const std::vector<int>& same_core);

}  // namespace sluice
