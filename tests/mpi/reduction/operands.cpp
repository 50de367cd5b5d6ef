#include "operands.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace reduction_check {
namespace {

using sluice::ElementKind;

constexpr std::size_t long_double_bytes = 10;  // x87; what follows is padding

template <typename First, typename Second>
std::vector<Part> pair_of(Part::Class first, std::size_t first_bytes, Part::Class second) {
  struct Pair {
    First first;
    Second second;
  };
  return {{first, 0, first_bytes}, {second, offsetof(Pair, second), sizeof(Second)}};
}

template <typename Visit>
bool of_real(const std::byte* at, const Part& part, Visit visit) {
  if (part.bytes == sizeof(float)) {
    float value;
    std::memcpy(&value, at + part.offset, sizeof value);
    return visit(value);
  }
  if (part.bytes == sizeof(double)) {
    double value;
    std::memcpy(&value, at + part.offset, sizeof value);
    return visit(value);
  }
  long double value;
  std::memcpy(&value, at + part.offset, part.bytes);
  return visit(value);
}

}  // namespace

std::vector<Part> parts_of(ElementKind kind, bool is_truth) {
  using enum ElementKind;
  using Class = Part::Class;
  if (is_truth) return {{Class::truth, 0, sluice::element_bytes(kind)}};
  switch (kind) {
    case int8:
    case int16:
    case int32:
    case int64:
      return {{Class::signed_integer, 0, sluice::element_bytes(kind)}};
    case uint8:
    case uint16:
    case uint32:
    case uint64:
      return {{Class::unsigned_integer, 0, sluice::element_bytes(kind)}};
    case float32:
    case float64:
      return {{Class::real, 0, sluice::element_bytes(kind)}};
    case long_double:
      return {{Class::real, 0, long_double_bytes}};
    case float_complex:
    case float_float:
      return pair_of<float, float>(Class::real, sizeof(float), Class::real);
    case double_complex:
    case double_double:
      return pair_of<double, double>(Class::real, sizeof(double), Class::real);
    case long_double_complex:
      return {{Class::real, 0, long_double_bytes}, {Class::real, sizeof(long double), long_double_bytes}};
    case float_int:
      return pair_of<float, int>(Class::real, sizeof(float), Class::signed_integer);
    case double_int:
      return pair_of<double, int>(Class::real, sizeof(double), Class::signed_integer);
    case long_double_int:
      return pair_of<long double, int>(Class::real, long_double_bytes, Class::signed_integer);
    case long_int:
      return pair_of<long, int>(Class::signed_integer, sizeof(long), Class::signed_integer);
    case short_int:
      return pair_of<short, int>(Class::signed_integer, sizeof(short), Class::signed_integer);
    case int_int:
      return pair_of<int, int>(Class::signed_integer, sizeof(int), Class::signed_integer);
  }
  return {};
}

template <typename Real>
Real OperandMaker::real() {
  using Limits = std::numeric_limits<Real>;
  static constexpr Real special[] = {0,  Real(-0.0), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::max(),
                                     -1, 1,          Limits::lowest(),   Limits::min(),       Limits::denorm_min()};
  if (random_() % 4 == 0) return special[random_() % std::size(special)];
  const auto mantissa = static_cast<Real>(static_cast<std::int64_t>(random_())) / static_cast<Real>(std::uint64_t{1} << 63);
  return std::ldexp(mantissa, static_cast<int>(random_() % 40) - 20);
}

std::uint64_t OperandMaker::integer(std::size_t bytes) {
  const std::uint64_t least = std::uint64_t{1} << (8 * bytes - 1);
  const std::uint64_t special[] = {0, 1, ~std::uint64_t{0}, least, least - 1, 2};
  switch (random_() % 4) {
    case 0:
      return special[random_() % std::size(special)];
    case 1:
      return random_() % 4;  // some are equal
    default:
      return random_();
  }
}

void OperandMaker::fill(std::byte* elements, std::size_t count, std::size_t element_bytes, std::span<const Part> parts) {
  for (std::size_t i = 0; i < count; ++i) {
    for (const Part& part : parts) {
      std::byte* at = elements + i * element_bytes + part.offset;
      if (part.type == Part::Class::truth) {
        *at = std::byte(random_() % 2);
      } else if (part.type != Part::Class::real) {
        const std::uint64_t value = integer(part.bytes);
        std::memcpy(at, &value, part.bytes);
      } else if (part.bytes == sizeof(float)) {
        const float value = real<float>();
        std::memcpy(at, &value, sizeof value);
      } else if (part.bytes == sizeof(double)) {
        const double value = real<double>();
        std::memcpy(at, &value, sizeof value);
      } else {
        const long double value = real<long double>();
        std::memcpy(at, &value, part.bytes);
      }
    }
  }
}

bool is_nan(const std::byte* at, const Part& part) {
  return part.type == Part::Class::real && of_real(at, part, [](auto value) { return std::isnan(value); });
}

bool is_zero(const std::byte* at, const Part& part) {
  return part.type == Part::Class::real && of_real(at, part, [](auto value) { return value == 0; });
}

bool are_equal(const std::byte* a, const std::byte* b, const Part& part) {
  if (is_nan(a, part) && is_nan(b, part)) return true;
  return std::memcmp(a + part.offset, b + part.offset, part.bytes) == 0;
}

std::int64_t integer_at(const std::byte* at, const Part& part) {
  std::uint64_t value = 0;
  std::memcpy(&value, at + part.offset, part.bytes);
  const auto shift = static_cast<int>(64 - 8 * part.bytes);
  if (part.type == Part::Class::signed_integer) return static_cast<std::int64_t>(value << shift) >> shift;
  return static_cast<std::int64_t>(value);
}

}  // namespace reduction_check
