// The iteration, with either way of communicating.
#pragma once

#include "apps/pes/exchange.hpp"
#include "apps/pes/field.hpp"
#include "apps/pes/options.hpp"

namespace pes {

class Solver {
 public:
  Solver(Field& field, const Options& options, apps::World world);

  /// All iterations.
  void solve();
  [[nodiscard]] double computing() const { return computing_.seconds(); }

 private:
  void solve_blocking();
  void solve_by_hand();
  void sweep_inner_rows();
  [[nodiscard]] std::size_t extra_rows(int iteration) const;
  void repeat(std::size_t rows);

  Field& field_;
  const Options& options_;
  apps::World world_;
  GhostExchange ghosts_;
  apps::Stopwatch computing_;
};

}  // namespace pes
