#include "tools/report/totals.hpp"

#include <fmt/format.h>

namespace sluice {

namespace {

constexpr std::uint64_t smallest_class = 256;

}  // namespace

std::size_t size_class(std::uint64_t bytes) {
  std::size_t number = 0;
  for (std::uint64_t limit = smallest_class; bytes > limit && limit < std::uint64_t{1} << 60; limit *= 4) ++number;
  return number;
}

std::uint64_t bytes_of_size_class(std::size_t size_class) { return smallest_class << (2 * size_class); }

std::string name_of_size_class(std::size_t size_class) {
  const std::uint64_t limit = bytes_of_size_class(size_class);
  if (limit >= std::uint64_t{1} << 30) return fmt::format("up to {} GB", limit >> 30);
  if (limit >= std::uint64_t{1} << 20) return fmt::format("up to {} MB", limit >> 20);
  if (limit >= std::uint64_t{1} << 10) return fmt::format("up to {} KB", limit >> 10);
  return fmt::format("up to {} bytes", limit);
}

Waiting ReportTotals::all() const {
  Waiting sum;
  for (const auto& [rank, waiting] : ranks) sum += waiting;
  return sum;
}

}  // namespace sluice
