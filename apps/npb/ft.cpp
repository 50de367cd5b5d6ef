#include "apps/npb/ft.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>

#include "apps/support/all_to_all.hpp"
#include "apps/support/hash.hpp"

namespace npb {

namespace {

constexpr double diffusion = 1e-6;            // as in NPB
constexpr std::size_t checked_points = 1024;  // likewise
constexpr double allowed_error = 1e-12;       // values of the start are below 1
constexpr double allowed_difference = 1e-12;  // of checksums, whose sums have another order

/// The wave number that a place in the spectrum stands for.
double wave_number(std::size_t place, std::size_t length) {
  const auto number = static_cast<double>(place);
  return place < length / 2 ? number : number - static_cast<double>(length);
}

const double* doubles(const std::vector<Complex>& field) { return reinterpret_cast<const double*>(field.data()); }

}  // namespace

Ft::Ft(const FtClass& size, bool by_pairs, apps::World world)
    : size_(size),
      by_pairs_(by_pairs),
      world_(world),
      z_(apps::part_of(size.z, world.rank, world.ranks)),
      x_(apps::part_of(size.x, world.rank, world.ranks)),
      block_(x_.count * size.y * z_.count),
      along_x_(size.x),
      along_y_(size.y),
      along_z_(size.z),
      planes_(block_ * static_cast<std::size_t>(world.ranks)),
      columns_(planes_.size()),
      outgoing_(planes_.size()),
      incoming_(planes_.size()) {}

/// From random numbers of each plane's own, so that any number of ranks starts alike.
void Ft::set_start() {
  const std::size_t plane = size_.y * size_.x;
  for (std::size_t own = 0; own < z_.count; ++own) {
    std::mt19937_64 random(z_.first + own);
    const auto fraction = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    for (std::size_t place = 0; place < plane; ++place) {
      const double real = fraction();
      planes_[own * plane + place] = {real, fraction()};
    }
  }
}

void Ft::run() {
  set_start();
  transform();
  spectrum_ = columns_;
  checksums_.clear();
  for (int time = 1; time <= size_.iterations; ++time) {
    evolve(time);
    invert();
    Complex sum = checksum();
    if (world_.ranks > 1) {
      const Complex mine = sum;
      waits_.time([&] { MPI_Reduce(&mine, &sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); });
    }
    checksums_.push_back(sum);
  }
}

void Ft::transform() {
  transform_planes(Fft::Direction::forward);
  for_each_in_planes([&](std::size_t in_block, std::size_t in_planes) { outgoing_[in_block] = planes_[in_planes]; });
  exchange_blocks();
  for_each_in_columns([&](std::size_t in_block, std::size_t in_columns) { columns_[in_columns] = incoming_[in_block]; });
  transform_columns(Fft::Direction::forward);
}

void Ft::invert() {
  transform_columns(Fft::Direction::inverse);
  for_each_in_columns([&](std::size_t in_block, std::size_t in_columns) { outgoing_[in_block] = columns_[in_columns]; });
  exchange_blocks();
  for_each_in_planes([&](std::size_t in_block, std::size_t in_planes) { planes_[in_planes] = incoming_[in_block]; });
  transform_planes(Fft::Direction::inverse);
  const double scale = 1 / static_cast<double>(size_.x * size_.y * size_.z);
  for (Complex& value : planes_) value *= scale;
}

void Ft::transform_planes(Fft::Direction direction) {
  std::vector<Complex> line(size_.y);
  for (std::size_t plane = 0; plane < z_.count; ++plane) {
    const auto values = std::span(planes_).subspan(plane * size_.y * size_.x, size_.y * size_.x);
    for (std::size_t y = 0; y < size_.y; ++y) along_x_.transform(values.subspan(y * size_.x, size_.x), direction);
    for (std::size_t x = 0; x < size_.x; ++x) {
      for (std::size_t y = 0; y < size_.y; ++y) line[y] = values[y * size_.x + x];
      along_y_.transform(line, direction);
      for (std::size_t y = 0; y < size_.y; ++y) values[y * size_.x + x] = line[y];
    }
  }
}

void Ft::transform_columns(Fft::Direction direction) {
  for (std::size_t begin = 0; begin < columns_.size(); begin += size_.z) {
    along_z_.transform(std::span(columns_).subspan(begin, size_.z), direction);
  }
}

template <class Visit>
void Ft::for_each_in_planes(Visit visit) const {
  std::size_t in_block = 0;  // block after block
  for (std::size_t first = 0; first < size_.x; first += x_.count) {
    for (std::size_t x = first; x < first + x_.count; ++x) {
      for (std::size_t y = 0; y < size_.y; ++y) {
        for (std::size_t z = 0; z < z_.count; ++z) visit(in_block++, (z * size_.y + y) * size_.x + x);
      }
    }
  }
}

template <class Visit>
void Ft::for_each_in_columns(Visit visit) const {
  std::size_t in_block = 0;
  for (std::size_t first = 0; first < size_.z; first += z_.count) {
    for (std::size_t x = 0; x < x_.count; ++x) {
      for (std::size_t y = 0; y < size_.y; ++y) {
        for (std::size_t z = first; z < first + z_.count; ++z) visit(in_block++, (x * size_.y + y) * size_.z + z);
      }
    }
  }
}

void Ft::exchange_blocks() {
  if (world_.ranks == 1) {
    incoming_ = outgoing_;
    return;
  }
  const auto bytes = static_cast<int>(block_ * sizeof(Complex));
  const auto block_in = [this](Field& field) {
    return [this, &field](int rank) { return field.data() + static_cast<std::size_t>(rank) * block_; };
  };
  waits_.time([&] {
    if (by_pairs_) {
      apps::exchange_with_all(block_in(outgoing_), block_in(incoming_), bytes, world_);
    } else {
      MPI_Alltoall(outgoing_.data(), bytes, MPI_BYTE, incoming_.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
  });
}

void Ft::evolve(int time) {
  const double factor = -4 * diffusion * std::numbers::pi * std::numbers::pi * time;
  for (std::size_t x = 0, place = 0; x < x_.count; ++x) {
    const double in_x = wave_number(x_.first + x, size_.x);
    for (std::size_t y = 0; y < size_.y; ++y) {
      const double in_y = wave_number(y, size_.y);
      for (std::size_t z = 0; z < size_.z; ++z, ++place) {
        const double in_z = wave_number(z, size_.z);
        columns_[place] = spectrum_[place] * std::exp(factor * (in_x * in_x + in_y * in_y + in_z * in_z));
      }
    }
  }
}

/// The part of this rank.
Complex Ft::checksum() const {
  Complex sum{};
  for (std::size_t number = 1; number <= checked_points; ++number) {
    const std::size_t z = 5 * number % size_.z;
    if (z < z_.first || z >= z_.first + z_.count) continue;
    sum += planes_[((z - z_.first) * size_.y + 3 * number % size_.y) * size_.x + number % size_.x];
  }
  return sum;
}

std::uint64_t Ft::results() {
  const std::size_t plane = size_.y * size_.x;
  std::vector<std::uint64_t> mine;
  for (std::size_t own = 0; own < z_.count; ++own) {
    mine.push_back(apps::mix(apps::hash_start, doubles(planes_) + 2 * own * plane, 2 * plane));
  }
  std::vector<std::uint64_t> all = mine;
  if (world_.ranks > 1) {
    all.resize(size_.z);
    const auto count = static_cast<int>(mine.size());
    MPI_Gather(mine.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  }
  results_ = apps::hash_start;
  for (const std::uint64_t one : all) results_ = apps::mix(results_, one);
  return results_;
}

/// The inverse transform of the transform is the start. It takes the place of the results.
Kernel::Verdict Ft::verdict() {
  set_start();
  const Field start = planes_;
  transform();
  invert();
  double error = 0;
  for (std::size_t place = 0; place < start.size(); ++place) error = std::max(error, std::abs(planes_[place] - start[place]));
  error = apps::largest(error);
  std::array<char, 120> text{};
  const Complex sum = checksums_.back();
  std::snprintf(text.data(), text.size(), "checksum %.10f %.10f, error of a transform and its inverse %.2e", sum.real(),
                sum.imag(), error);
  return {error <= allowed_error, text.data()};
}

bool Ft::equals_serial() {
  Ft serial(size_, by_pairs_, {0, 1});
  serial.run();
  for (std::size_t time = 0; time < checksums_.size(); ++time) {
    if (std::abs(serial.checksums_[time] - checksums_[time]) > allowed_difference * std::abs(serial.checksums_[time]))
      return false;
  }
  return serial.results() == results_;
}

}  // namespace npb
