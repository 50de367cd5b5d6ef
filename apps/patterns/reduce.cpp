#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/patterns/pattern.hpp"
#include "apps/support/parts.hpp"
#include "apps/support/payload.hpp"
#include "apps/support/requests.hpp"

namespace patterns {

namespace {

constexpr int root = 0;
constexpr int scattering = 0;
constexpr int gathering = 1;

/// Rank r contributes (r + 1) times this: whole numbers so small that their sums are exact in any order.
double term(std::size_t place, int trial) {
  const auto mixed = (static_cast<std::uint32_t>(place) + static_cast<std::uint32_t>(trial) * 7919U) * 2654435761U;
  return static_cast<double>(mixed >> 12U);
}

class Reduce : public Pattern {
 public:
  Reduce(apps::World world, std::size_t bytes)
      : world_(world), mine_(bytes / sizeof(double)), sums_(mine_.size()), incoming_(part(world.rank).count) {}

  void prepare(int trial) override {
    for (std::size_t place = 0; place < mine_.size(); ++place) mine_[place] = (world_.rank + 1) * term(place, trial);
  }

  void run(MPI_Comm comm, apps::Look look) override {
    scatter_and_add(comm);
    gather_sums(comm, look);
  }

  [[nodiscard]] bool correct(int trial) const override {
    if (world_.rank != root) return true;
    const double shares = world_.ranks * (world_.ranks + 1) / 2.0;
    bool right = true;
    for (std::size_t place = 0; place < sums_.size(); ++place) right &= sums_[place] == shares * term(place, trial);
    return right;
  }

 private:
  [[nodiscard]] apps::Part part(int rank) const { return apps::part_of(mine_.size(), rank, world_.ranks); }

  /// To every rank its part, without blocking; what comes is added in turn.
  void scatter_and_add(MPI_Comm comm) {
    for (int step = 1; step < world_.ranks; ++step) {
      const int target = (world_.rank + step) % world_.ranks;
      const apps::Part theirs = part(target);
      MPI_Isend(mine_.data() + theirs.first, static_cast<int>(theirs.count), MPI_DOUBLE, target, scattering, comm,
                requests_.add());
    }
    const apps::Part own = part(world_.rank);
    std::copy_n(mine_.data() + own.first, own.count, sums_.data() + own.first);
    for (int step = 1; step < world_.ranks; ++step) {
      const int source = (world_.rank - step + world_.ranks) % world_.ranks;
      MPI_Recv(incoming_.data(), static_cast<int>(own.count), MPI_DOUBLE, source, scattering, comm, MPI_STATUS_IGNORE);
      for (std::size_t index = 0; index < own.count; ++index) sums_[own.first + index] += incoming_[index];
    }
    requests_.wait();
  }

  void gather_sums(MPI_Comm comm, apps::Look look) {
    if (world_.rank != root) {
      const apps::Part own = part(world_.rank);
      MPI_Send(sums_.data() + own.first, static_cast<int>(own.count), MPI_DOUBLE, root, gathering, comm);
      return;
    }
    for (int source = root + 1; source < world_.ranks; ++source) {
      const apps::Part theirs = part(source);
      MPI_Irecv(sums_.data() + theirs.first, static_cast<int>(theirs.count), MPI_DOUBLE, source, gathering, comm,
                requests_.add());
    }
    requests_.wait();
    apps::look_at(std::as_bytes(std::span(sums_)), look);
  }

  apps::World world_;
  std::vector<double> mine_;
  std::vector<double> sums_;
  std::vector<double> incoming_;
  apps::Requests requests_;
};

}  // namespace

std::unique_ptr<Pattern> reduce(apps::World world, std::size_t bytes) { return std::make_unique<Reduce>(world, bytes); }

}  // namespace patterns
