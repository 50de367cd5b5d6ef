#include "apps/npb/lu.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "apps/support/hash.hpp"

namespace npb {

namespace {

constexpr double slowest_gain = 0.9;  // of what is missing, so much may be left by an iteration, in the mean
constexpr double rounding = 1e-12;    // less is not to be had in doubles

std::size_t number_of(Side side) { return static_cast<std::size_t>(side); }
/// A message is named by the side that it leaves by.
int edge_tag(Side side) { return static_cast<int>(side); }
int halo_tag(Side side) { return static_cast<int>(sides.size()) + static_cast<int>(side); }

}  // namespace

Lu::Lu(const LuClass& size, apps::World world)
    : size_(size), world_(world), grid_(size.edge, world), block_(size.edge, grid_.rows(), grid_.columns()) {
  for (const Side side : sides) {
    if (grid_.neighbour(side) == MPI_PROC_NULL) continue;
    halo_in_[number_of(side)].resize(block_.halo_values(side));
    halo_out_[number_of(side)].resize(block_.halo_values(side));
    edge_.resize(std::max(edge_.size(), block_.edge_values(side)));
  }
}

void Lu::run() {
  block_.compute_residual();  // the solution is zero, and so are its halos
  first_norm_ = norm();
  for (int iteration = 0; iteration < size_.iterations; ++iteration) {
    post_halo();
    sweep(LuBlock::Sweep::lower);
    sweep(LuBlock::Sweep::upper);
    block_.update();
    exchange_halo();
    block_.compute_residual();
  }
  last_norm_ = norm();
}

void Lu::sweep(LuBlock::Sweep which) {
  const bool is_lower = which == LuBlock::Sweep::lower;
  const std::size_t planes = block_.planes();
  for (std::size_t number = 0; number < planes; ++number) {
    const std::size_t plane = is_lower ? number : planes - 1 - number;
    for (const Side side : is_lower ? std::array{Side::north, Side::west} : std::array{Side::south, Side::east}) {
      receive_edge(side, plane);
    }
    block_.sweep(which, plane);
    for (const Side side : is_lower ? std::array{Side::south, Side::east} : std::array{Side::north, Side::west}) {
      send_edge(side, plane);
    }
  }
}

void Lu::receive_edge(Side side, std::size_t plane) {
  const int neighbour = grid_.neighbour(side);
  if (neighbour == MPI_PROC_NULL) return;
  const std::size_t values = block_.edge_values(side);
  waits_.time([&] {
    MPI_Recv(edge_.data(), static_cast<int>(values), MPI_DOUBLE, neighbour, edge_tag(opposite(side)), MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  });
  block_.unpack_edge(side, plane, edge_);
}

void Lu::send_edge(Side side, std::size_t plane) {
  const int neighbour = grid_.neighbour(side);
  if (neighbour == MPI_PROC_NULL) return;
  block_.pack_edge(side, plane, edge_);
  const std::size_t values = block_.edge_values(side);
  waits_.time([&] { MPI_Send(edge_.data(), static_cast<int>(values), MPI_DOUBLE, neighbour, edge_tag(side), MPI_COMM_WORLD); });
}

void Lu::post_halo() {
  for (const Side side : sides) {
    std::vector<double>& values = halo_in_[number_of(side)];
    MPI_Irecv(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, grid_.neighbour(side), halo_tag(opposite(side)),
              MPI_COMM_WORLD, receives_.add());
  }
}

void Lu::exchange_halo() {
  for (const Side side : sides) {
    std::vector<double>& values = halo_out_[number_of(side)];
    const int neighbour = grid_.neighbour(side);
    if (neighbour == MPI_PROC_NULL) continue;
    block_.pack_halo(side, values);
    waits_.time(
        [&] { MPI_Send(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, neighbour, halo_tag(side), MPI_COMM_WORLD); });
  }
  waits_.time([&] { receives_.wait(); });
  for (const Side side : sides) {
    if (grid_.neighbour(side) != MPI_PROC_NULL) block_.unpack_halo(side, halo_in_[number_of(side)]);
  }
}

double Lu::norm() {
  double sum = block_.square_of_residual();
  if (world_.ranks > 1) {
    const double mine = sum;
    waits_.time([&] { MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
  }
  return std::sqrt(sum);
}

std::uint64_t Lu::combine(const std::vector<std::uint64_t>& hashes) {
  std::uint64_t hash = apps::hash_start;
  for (const std::uint64_t one : hashes) hash = apps::mix(hash, one);
  return hash;
}

std::uint64_t Lu::results() {
  const std::vector<std::uint64_t> mine = block_.column_hashes();
  std::vector<std::uint64_t> all(mine.size());
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return results_ = combine(all);
}

Kernel::Verdict Lu::verdict() {
  const double left = last_norm_ / first_norm_;
  std::array<char, 120> text{};
  std::snprintf(text.data(), text.size(), "residual %.6e, of the first one %.2e", last_norm_, left);
  return {left <= std::max(rounding, std::pow(slowest_gain, size_.iterations)), text.data()};
}

bool Lu::equals_serial() {
  Lu serial(size_, {0, 1});
  serial.run();
  return combine(serial.block_.column_hashes()) == results_;
}

}  // namespace npb
