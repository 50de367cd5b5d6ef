// One network with its nodes, from an empty start: how much of what they could send arrives. The same figures in each run.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/bench/dragonfly/nodes.hpp"

namespace sluice::dragonfly {

class Simulation {
 public:
  static constexpr unsigned sample_cycles = 1000;

  explicit Simulation(const Settings& settings);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Goes on for that long, in whole samples.
  void run(unsigned cycles);
  /// Nobody sends any more; goes on until nothing moves. Whether everything is as it was before the start.
  bool run_until_empty();

  // Flits that arrived for each node and cycle: 1 is what the links of the nodes carry.
  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }
  /// Of the last half of all samples.
  [[nodiscard]] double throughput() const;
  /// By the paper's rule: of the first sample that differs from the one before by less than 5 %, three times running. And its
  /// number; that of the last sample where there is none.
  struct Converged {
    double throughput;
    unsigned sample;
  };
  [[nodiscard]] Converged converged() const;
  /// The least of any node that is not slow itself, and the mean of these; of the last half of all samples.
  [[nodiscard]] double worst_fast_node() const;
  [[nodiscard]] double mean_fast_node() const;
  /// Cycles from the start of a packet to its end, in the mean; and if none had met another one on its minimal way.
  [[nodiscard]] double latency() const;
  [[nodiscard]] double least_latency() const;
  [[nodiscard]] std::uint64_t in_flight() const { return packets_.alive(); }
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t events() const { return calendar_.events(); }

 private:
  void handle(const Event& event);
  void keep_half();

  const Settings settings_;
  const Topology topology_;
  Calendar calendar_;
  Packets packets_;
  Random random_;
  Fabric fabric_;
  Nodes nodes_;
  std::vector<double> samples_;
  // When the last half of the samples began.
  struct Mark {
    Nodes::Totals totals;
    std::vector<std::uint64_t> drained;
  };
  Mark half_;
};

}  // namespace sluice::dragonfly
