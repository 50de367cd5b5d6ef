// What master and slaves do, with either way of communicating.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/m3/matrix.hpp"
#include "apps/m3/options.hpp"
#include "apps/support/parts.hpp"
#include "apps/support/requests.hpp"

namespace m3 {

/// Where the data of an iteration come from, the same on every call.
Generator source_of(int iteration);

/// Rank 0. Makes a matrix in every iteration, hands its rows out and gets those of the product back.
class Master {
 public:
  Master(const Options& options, apps::World world);
  void run();
  /// Hash of all products.
  [[nodiscard]] std::uint64_t results() const { return results_; }
  [[nodiscard]] double computing() const { return computing_.seconds(); }

 private:
  void run_blocking();
  void run_by_hand();
  void send_slices(const std::vector<double>& matrix);
  void post_receives(std::vector<double>& product, apps::Requests& receives) const;
  void digest(const std::vector<double>& product);

  const Options& options_;
  int slaves_;
  std::uint64_t results_;
  apps::Stopwatch computing_;
};

/// Any other rank: multiplies its rows.
class Slave {
 public:
  /// `transposed` must outlive this.
  Slave(const Options& options, apps::World world, const std::vector<double>& transposed);
  void run() { options_.by_hand ? run_by_hand() : run_blocking(); }
  [[nodiscard]] double computing() const { return computing_.seconds(); }

 private:
  void run_blocking();
  void run_by_hand();

  const Options& options_;
  apps::Part part_;
  const std::vector<double>& transposed_;
  apps::Stopwatch computing_;
};

}  // namespace m3
