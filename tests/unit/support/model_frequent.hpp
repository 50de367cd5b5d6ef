// The micro-benchmarks of FB (section 5.1.1) in counts, which are the same in each run on any machine: how many copies are saved
// and how many buffers registered. Messages go through two engines and the model of an adapter; where the paper's own thresholds
// are asked for, through the rule alone (runtime/registration/frequent_sends.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {

/// What became of some messages.
struct FrequentCounts {
  std::uint64_t messages = 0;
  std::uint64_t saved = 0;       // copies
  std::uint64_t registered = 0;  // buffers, or what the adapter was asked for
};

/// The paper's n, its table 2.
struct PaperUses {
  std::size_t bytes = 0;
  unsigned fast_path = 0;
  unsigned other_path = 0;
  unsigned one_sided = 0;
};

class ModelFrequent {
 public:
  enum class Layout : std::uint8_t { back_to_back, separate_pages };

  static constexpr std::array<PaperUses, 9> paper{{{512, 432, 1568, 196},
                                                   {1024, 200, 448, 128},
                                                   {2048, 110, 224, 128},
                                                   {3072, 76, 131, 125},
                                                   {4096, 60, 95, 56},
                                                   {5120, 48, 75, 33},
                                                   {6144, 40, 65, 29},
                                                   {7168, 36, 55, 26},
                                                   {8192, 32, 49, 25}}};
  static constexpr unsigned round_trips = 10'000;
  static constexpr unsigned buffers = 1000;

  /// Figure 4: there and back again and again, each side from one buffer. A buffer is frequent with its second use.
  [[nodiscard]] static FrequentCounts ping_pong(std::size_t bytes, unsigned trips = round_trips);
  /// Figures 5: the i-th buffer is sent i times, one buffer after another. Likewise.
  [[nodiscard]] static FrequentCounts spectrum(std::size_t bytes, Layout layout, unsigned number = buffers);
  /// The same by the rule, where n is known and a buffer is registered after a share of it, percent.
  [[nodiscard]] static FrequentCounts spectrum_by_rule(std::size_t bytes, unsigned n, unsigned share, unsigned number = buffers);

  /// As docs/results/frequent-buffers.md has them: figure 4, figure 5 with the second use, figure 5 by the rule.
  [[nodiscard]] static std::string ping_pongs();
  [[nodiscard]] static std::string spectra();
  [[nodiscard]] static std::string spectra_by_rule();
  /// A line of the second one.
  [[nodiscard]] static std::string spectrum_row(std::size_t bytes, Layout layout);
};

}  // namespace sluice
