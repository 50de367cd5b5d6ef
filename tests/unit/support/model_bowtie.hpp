// BOWTIE (RV section 4.1.1) on the model of an adapter: the processes of one adapter and those of another exchange messages in
// pairs, all at the same time, again and again. Time is the model's, so the figure is the same in each run, on any machine.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "runtime/config/config.hpp"
#include "tests/unit/support/model_adapter.hpp"

namespace sluice {

struct ModelBowtie {
  Rendezvous protocol{};
  std::size_t bytes = 0;
  bool equal_last = false;  // every message ends with the byte that putnr puts there before: its worst case

  /// RV's machine as far as the paper tells, table 1: 6.79 GB/s, 16 processes on an adapter. It says that a notification takes
  /// hundreds of cycles at 2.6 GHz; of the cost of control messages only that it is multiplied by the number of processes. That
  /// cost is chosen so that the first of the paper's figures nearly comes out (24.6 %); the others follow from it. Latency is
  /// what adapters of those years are known for.
  static AdapterKnobs papers_machine();
};

/// Of one exchange, from start to end on each process, in the mean, ns.
double nanoseconds_of(const ModelBowtie& bowtie, const AdapterKnobs& knobs = ModelBowtie::papers_machine());

/// All protocols at the sizes of the paper's figures.
class BowtieTimes {
 public:
  enum Column : std::size_t { rput, getcqe, get, putnr_worst, put_worst, put };
  static constexpr std::array<std::size_t, 6> sizes{1024, 2048, 4096, 8192, 16384, 32768};
  static constexpr std::size_t columns = 6;

  BowtieTimes();
  [[nodiscard]] double at(Column column, std::size_t size) const { return times_[column][size]; }
  /// As docs/results/rendezvous-model.md has them.
  [[nodiscard]] std::string tables() const;

 private:
  [[nodiscard]] std::string gain(const char* claim, const char* paper, Column slow, Column fast) const;

  std::array<std::array<double, sizes.size()>, columns> times_{};
};

}  // namespace sluice
