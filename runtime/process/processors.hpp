// Processors of this machine: which two to measure copies between, and how many the processes of a job share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

/// Bit p % 64 of word p / 64 for processor p; as many as a kernel can have.
using ProcessorSet = std::array<std::uint64_t, 128>;
/// Those that the calling thread may run on; all that are online where the kernel does not say.
[[nodiscard]] ProcessorSet allowed_processors();
[[nodiscard]] std::size_t count(const ProcessorSet& set);

/// What the processes of a job have to run on, on one node.
struct ProcessorShare {
  std::size_t processes = 1;
  std::size_t processors = 1;  // on which at least one of them may run: a container or a launcher may grant fewer than there are
  std::size_t own = 1;         // on which this process may run
  [[nodiscard]] bool oversubscribed() const { return processes > processors; }
  /// So many share each processor that who reads what several others send has its turn rarely, and all of these together often.
  [[nodiscard]] bool crowded() const { return processes >= 4 * processors; }
  /// The helper thread has one beside the application's. Launchers bind processes to single processors where there are enough.
  [[nodiscard]] bool has_spare() const { return 2 * processes <= processors && own > 1; }
};

/// What the system says, or what is usual.
struct ProcessorCaches {
  std::size_t own_bytes;      // of one processor: the largest that it shares with no other
  std::size_t largest_bytes;  // of all that it uses
};
[[nodiscard]] ProcessorCaches processor_caches();

}  // namespace sluice
