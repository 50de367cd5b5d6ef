#include "bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

namespace {

constexpr std::size_t page = 4096;

std::uint64_t stamp_of(std::uint64_t message, std::size_t offset) { return message * 0x9e3779b97f4a7c15ULL + offset; }

void spin(double units) {
  volatile double sink = 1.0;
  double value = sink;
  for (double done = 0; done < units; done += 1.0) value = value * 0.9999999 + 1e-7;
  sink = value;
}

}  // namespace

int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::size_t parse_size(const std::string& text) {
  char* end = nullptr;
  const std::size_t value = std::strtoull(text.c_str(), &end, 10);
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

std::string show_size(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20 && bytes % (std::size_t{1} << 20) == 0) return std::to_string(bytes >> 20) + "M";
  if (bytes >= 1024 && bytes % 1024 == 0) return std::to_string(bytes >> 10) + "K";
  return std::to_string(bytes);
}

std::string argument(Arguments arguments, std::size_t index, const char* otherwise) {
  return index < arguments.size() ? arguments[index] : otherwise;
}

std::vector<std::size_t> sizes(Arguments arguments, std::size_t index, const char* otherwise) {
  const std::string list = argument(arguments, index, otherwise);
  std::vector<std::size_t> found;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    found.push_back(parse_size(list.substr(start, end - start)));
    start = end + 1;
  }
  return found;
}

bool lists(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void report(const std::string& name, double value, const char* unit) {
  if (rank() != 0) return;
  std::printf("%s %.6g %s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}

void require(bool correct, const char* what) {
  if (correct) return;
  std::fprintf(stderr, "sluice_bench: rank %d: wrong data: %s\n", rank(), what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void stamp(std::span<std::byte> buffer, std::uint64_t message) {
  buffer.back() = static_cast<std::byte>(message);
  for (std::size_t offset = 0; offset + sizeof message <= buffer.size(); offset += page) {
    const std::uint64_t word = stamp_of(message, offset);
    std::memcpy(&buffer[offset], &word, sizeof word);
  }
}

bool has_stamps(std::span<const std::byte> buffer, std::uint64_t message) {
  std::uint64_t difference = 0;
  for (std::size_t offset = 0; offset + sizeof message <= buffer.size(); offset += page) {
    std::uint64_t word = 0;
    std::memcpy(&word, &buffer[offset], sizeof word);
    difference |= word ^ stamp_of(message, offset);
  }
  const bool word_covers_last_byte = buffer.size() % page == sizeof message;
  return difference == 0 && (word_covers_last_byte || buffer.back() == static_cast<std::byte>(message));
}

Work::Work() {
  constexpr double trial_units = 2e6;
  std::vector<double> trials;
  for (int trial = 0; trial < 5; ++trial) {
    const double start = now();
    spin(trial_units);
    trials.push_back(now() - start);
  }
  units_per_second_ = trial_units / *std::min_element(trials.begin(), trials.end());
}

double Work::run(double seconds) const {
  const double start = now();
  spin(seconds * units_per_second_);
  return now() - start;
}

}  // namespace bench
