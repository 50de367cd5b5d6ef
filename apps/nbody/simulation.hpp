// The time steps of one rank, with either way of communicating.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/nbody/options.hpp"
#include "apps/nbody/particles.hpp"
#include "apps/support/parts.hpp"
#include "apps/support/requests.hpp"

namespace nbody {

class Simulation {
 public:
  Simulation(const Options& options, apps::World world);

  /// All steps.
  void run();
  [[nodiscard]] double computing() const { return computing_.seconds(); }
  /// Of this rank's particles, and of what it received last.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  /// Particles of another rank, and what is under way to them.
  struct Block {
    std::vector<double> values;
    apps::Requests arrival;
  };
  using Received = std::vector<Block>;  // by their place in others_

  void step_blocking(Received& received, Received* next);
  void step_by_hand(Received& received, Received* next);
  void feel_in_pieces(Records others, Received& under_way);
  void post_receives(Received& received);
  [[nodiscard]] Records records_of(const Block& block) const;
  [[nodiscard]] std::size_t message_numbers(int of) const;

  const Options& options_;
  apps::World world_;
  Particles own_;
  std::vector<int> others_;           // in the order in which their particles are felt
  std::array<Received, 2> received_;  // by turns: one is used while the other is filled
  apps::Requests sends_;
  apps::Stopwatch computing_;
};

/// What rank 0 gets as the hash of the ranks' hashes, computed by this process alone.
std::uint64_t serial_hash(const Options& options, int ranks);

}  // namespace nbody
