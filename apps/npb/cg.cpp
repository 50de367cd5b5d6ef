#include "apps/npb/cg.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "apps/support/hash.hpp"

namespace npb {

namespace {

constexpr int steps_of_solution = 25;  // as in NPB
constexpr int tag = 1;
// Sums of other numbers of ranks differ in their last bits; NPB allows zeta as much.
constexpr double allowed_difference = 1e-10;
constexpr double allowed_residual = 1e-10;  // of a solution whose right-hand side has norm 1

}  // namespace

Cg::Cg(const CgClass& size, apps::World world)
    : size_(size), world_(world), grid_(size.rows, world), matrix_(size, grid_.matrix_rows(), grid_.matrix_columns()) {
  const std::size_t own = grid_.matrix_columns().count;
  for (Vector* vector : {&z_, &p_, &r_, &product_}) vector->resize(own);
  x_.assign(own, 1.0);
  partial_.resize(grid_.matrix_rows().count);
  incoming_.resize(grid_.matrix_rows().count);
}

void Cg::run() {
  for (int iteration = 0; iteration < size_.iterations; ++iteration) {
    residual_ = solve();
    zeta_ = size_.shift + 1 / dot(x_, z_);
    const double length = std::sqrt(dot(z_, z_));
    for (std::size_t place = 0; place < x_.size(); ++place) x_[place] = z_[place] / length;
  }
}

double Cg::solve() {
  std::fill(z_.begin(), z_.end(), 0.0);
  r_ = x_;
  p_ = r_;
  double rho = dot(r_, r_);
  const double length = std::sqrt(rho);
  for (int step = 0; step < steps_of_solution; ++step) {
    multiply(p_);
    const double alpha = rho / dot(p_, product_);
    for (std::size_t place = 0; place < z_.size(); ++place) {
      z_[place] += alpha * p_[place];
      r_[place] -= alpha * product_[place];
    }
    const double before = rho;
    rho = dot(r_, r_);
    for (std::size_t place = 0; place < p_.size(); ++place) p_[place] = r_[place] + rho / before * p_[place];
  }
  multiply(z_);
  for (std::size_t place = 0; place < r_.size(); ++place) r_[place] = x_[place] - product_[place];
  return std::sqrt(dot(r_, r_)) / length;
}

void Cg::multiply(const Vector& vector) {
  matrix_.multiply(vector, partial_);
  for (const CgGrid::Step& step : grid_.steps()) {
    swap_with(step.partner, &partial_[step.sent.first], step.sent.count, incoming_.data(), step.received.count);
    for (std::size_t place = 0; place < step.received.count; ++place) partial_[step.received.first + place] += incoming_[place];
  }
  const apps::Part complete = grid_.complete();
  if (world_.ranks == 1) {
    product_ = partial_;
  } else {
    swap_with(grid_.transposed(), &partial_[complete.first], complete.count, product_.data(), product_.size());
  }
}

double Cg::dot(const Vector& first, const Vector& second) {
  double mine = 0;
  for (std::size_t place = 0; place < first.size(); ++place) mine += first[place] * second[place];
  return sum(mine);
}

double Cg::sum(double mine) {
  for (const CgGrid::Step& step : grid_.steps()) {
    double others = 0;
    swap_with(step.partner, &mine, 1, &others, 1);
    mine += others;
  }
  return mine;
}

void Cg::swap_with(int partner, const double* outgoing, std::size_t sent, double* incoming, std::size_t received) {
  waits_.time([&] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(incoming, static_cast<int>(received), MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &request);
    MPI_Send(outgoing, static_cast<int>(sent), MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

std::uint64_t Cg::results() {
  const std::uint64_t mine = apps::mix(apps::mix(apps::hash_start, &zeta_, 1), x_.data(), x_.size());
  std::vector<std::uint64_t> all(static_cast<std::size_t>(world_.ranks));
  MPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  std::uint64_t hash = apps::hash_start;
  for (const std::uint64_t one : all) hash = apps::mix(hash, one);
  return hash;
}

Kernel::Verdict Cg::verdict() {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "zeta %.12f, residual %.2e", zeta_, residual_);
  return {residual_ <= allowed_residual, text.data()};
}

bool Cg::equals_serial() {
  Cg serial(size_, {0, 1});
  serial.run();
  return std::abs(serial.zeta_ - zeta_) <= allowed_difference * std::abs(serial.zeta_);
}

}  // namespace npb
