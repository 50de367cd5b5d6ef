#include "runtime/collective/reduce_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/collective/kernels/reduce_table.hpp"

namespace sluice {
namespace {

constexpr std::size_t lengths[] = {0, 1, 3, 7, 8, 9, 33, 64, 127, 300};
constexpr std::size_t margin = 64;

template <typename Visit>
void for_all_kernels(Visit visit) {
  for (std::size_t operation = 0; operation < reduce_operations; ++operation) {
    for (std::size_t kind = 0; kind < element_kinds; ++kind) {
      visit(static_cast<ReduceOperation>(operation), static_cast<ElementKind>(kind));
    }
  }
}

ReduceKernel of_width(const ReduceWidth& width, ReduceOperation operation, ElementKind kind) {
  const ReduceKernel kernel = width.table->at(operation, kind);
  return kernel ? kernel : reduce_table_baseline.at(operation, kind);
}

/// Bytes that are any number at all, but no NaN: which of two NaNs stays is the processor's.
class Operands {
 public:
  Operands(ElementKind kind, std::size_t vectors, std::size_t elements, std::size_t shift)
      : bytes_(elements * element_bytes(kind)), shift_(shift) {
    for (std::size_t v = 0; v < vectors; ++v) {
      std::vector<std::byte>& memory = memory_.emplace_back(margin + bytes_ + 2 * margin);
      fill(kind, memory.data() + place(v), elements);
    }
  }

  [[nodiscard]] std::vector<const std::byte*> pointers() const {
    std::vector<const std::byte*> made;
    for (std::size_t v = 0; v < memory_.size(); ++v) made.push_back(memory_[v].data() + place(v));
    return made;
  }
  std::byte* at(std::size_t vector) { return memory_[vector].data() + place(vector); }

 private:
  [[nodiscard]] std::size_t place(std::size_t vector) const { return margin + (shift_ * (vector + 1)) % margin; }

  template <typename Real>
  void fill_real(std::byte* at, std::size_t values) {
    std::uniform_real_distribution<double> magnitude(-3, 3);
    for (std::size_t i = 0; i < values; ++i) {
      Real value = static_cast<Real>(magnitude(random_));
      if (random_() % 8 == 0) value = 0;
      if (random_() % 8 == 0) value = -value * 0;
      std::memcpy(at + i * sizeof(Real), &value, sizeof(Real));
    }
  }

  void fill(ElementKind kind, std::byte* at, std::size_t elements) {
    switch (kind) {
      case ElementKind::float32:
        return fill_real<float>(at, elements);
      case ElementKind::float_complex:
      case ElementKind::float_float:
        return fill_real<float>(at, 2 * elements);
      case ElementKind::float64:
        return fill_real<double>(at, elements);
      case ElementKind::double_complex:
      case ElementKind::double_double:
        return fill_real<double>(at, 2 * elements);
      case ElementKind::long_double:
        return fill_real<long double>(at, elements);
      case ElementKind::long_double_complex:
        return fill_real<long double>(at, 2 * elements);
      default:
        // The bits of a float or a double of a pair are taken as they come; few of them, so that some are equal.
        for (std::size_t i = 0; i < bytes_; ++i) at[i] = static_cast<std::byte>(random_() % 16 == 0 ? random_() & 0x3F : i % 2);
        clear_padding(kind, at, elements);
    }
  }

  /// It is nobody's, so some kernels copy it and others do not.
  static void clear_padding(ElementKind kind, std::byte* at, std::size_t elements) {
    const auto clear = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = 0; i < elements; ++i) std::memset(at + i * element_bytes(kind) + begin, 0, end - begin);
    };
    if (kind == ElementKind::short_int) clear(2, 4);
    if (kind == ElementKind::long_int || kind == ElementKind::double_int) clear(12, 16);
    if (kind == ElementKind::long_double_int) clear(10, 16);
    if (kind == ElementKind::long_double_int) clear(20, 32);
  }

  std::size_t bytes_;
  std::size_t shift_;
  std::vector<std::vector<std::byte>> memory_;
  std::mt19937 random_{7};
};

std::vector<std::byte> result_of(ReduceKernel kernel, ElementKind kind, std::size_t sources, std::size_t elements,
                                 std::size_t shift) {
  const Operands operands(kind, sources, elements, shift);
  std::vector<std::byte> target(elements * element_bytes(kind) + 2 * margin);
  kernel(operands.pointers().data(), sources, target.data() + margin, elements);
  for (std::size_t i = 0; i < margin; ++i) {
    EXPECT_EQ(target[i], std::byte{}) << "before the target";
    EXPECT_EQ(target[target.size() - 1 - i], std::byte{}) << "behind the target";
  }
  return target;
}

TEST(ReduceKernel, exists_where_mpi_defines_it) {
  std::size_t found = 0;
  for_all_kernels([&](ReduceOperation operation, ElementKind kind) { found += reduce_kernel(operation, kind) != nullptr; });
  EXPECT_EQ(found, 8u * 10 + 3 * 4 + 3 * 2 + 8 * 2);
  EXPECT_EQ(reduce_kernel(ReduceOperation::band, ElementKind::float64), nullptr);
  EXPECT_EQ(reduce_kernel(ReduceOperation::max, ElementKind::double_complex), nullptr);
  EXPECT_EQ(reduce_kernel(ReduceOperation::maxloc, ElementKind::int32), nullptr);
  EXPECT_EQ(reduce_kernel(ReduceOperation::sum, ElementKind::int_int), nullptr);
}

TEST(ReduceKernel, gives_the_same_bits_for_every_width_and_alignment) {
  for (const ReduceWidth& width : reduce_widths()) {
    for_all_kernels([&](ReduceOperation operation, ElementKind kind) {
      const ReduceKernel narrow = reduce_table_baseline.at(operation, kind);
      if (!narrow) return;
      for (const std::size_t sources : {2u, 4u, 8u}) {
        for (const std::size_t elements : lengths) {
          const std::vector<std::byte> expected = result_of(narrow, kind, sources, elements, 0);
          for (const std::size_t shift : {0u, 13u}) {
            ASSERT_EQ(result_of(of_width(width, operation, kind), kind, sources, elements, shift), expected)
                << width.name << ", operation " << static_cast<int>(operation) << ", kind " << static_cast<int>(kind) << ", "
                << sources << " sources of " << elements;
          }
        }
      }
    });
  }
}

TEST(ReduceKernel, combines_neighbours_first) {
  for (const ReduceWidth& width : reduce_widths()) {
    for_all_kernels([&](ReduceOperation operation, ElementKind kind) {
      const ReduceKernel kernel = of_width(width, operation, kind);
      if (!kernel) return;
      for (const std::size_t elements : lengths) {
        Operands operands(kind, 8, elements, 3);
        std::vector<std::byte> at_once(elements * element_bytes(kind));
        kernel(operands.pointers().data(), 8, at_once.data(), elements);
        for (std::size_t distance = 1; distance < 8; distance *= 2) {
          for (std::size_t i = 0; i < 8; i += 2 * distance) {
            const std::byte* pair[] = {operands.at(i), operands.at(i + distance)};
            kernel(pair, 2, operands.at(i), elements);  // in place
          }
        }
        // The padding of long double and of pairs is nobody's.
        std::vector<std::byte> in_pairs(at_once);
        const std::byte* result[] = {operands.at(0), operands.at(0)};
        if (operation == ReduceOperation::maxloc || operation == ReduceOperation::minloc || operation == ReduceOperation::max ||
            operation == ReduceOperation::min) {
          kernel(result, 2, in_pairs.data(), elements);  // of equal ones each
        } else if (kind != ElementKind::long_double && kind != ElementKind::long_double_complex) {
          std::copy_n(operands.at(0), in_pairs.size(), in_pairs.begin());
        }
        ASSERT_EQ(at_once, in_pairs) << width.name << ", operation " << static_cast<int>(operation) << ", kind "
                                     << static_cast<int>(kind) << ", " << elements;
      }
    });
  }
}

/// One element per operand, repeated so that vectors are used.
template <typename Element>
Element combined(ReduceOperation operation, ElementKind kind, Element lower, Element upper, std::size_t at,
                 std::size_t elements) {
  const std::vector<Element> lowers(elements, lower);
  const std::vector<Element> uppers(elements, upper);
  std::vector<Element> target(elements);
  const std::byte* sources[] = {reinterpret_cast<const std::byte*>(lowers.data()),
                                reinterpret_cast<const std::byte*>(uppers.data())};
  reduce_kernel(operation, kind)(sources, 2, reinterpret_cast<std::byte*>(target.data()), elements);
  return target[at];
}

TEST(ReduceKernel, wraps_integers_around) {
  for (const std::size_t elements : {1u, 100u}) {
    const std::size_t last = elements - 1;
    EXPECT_EQ(combined<std::int32_t>(ReduceOperation::sum, ElementKind::int32, INT32_MAX, 1, last, elements), INT32_MIN);
    EXPECT_EQ(combined<std::int8_t>(ReduceOperation::sum, ElementKind::int8, 127, 1, last, elements), -128);
    EXPECT_EQ(combined<std::uint16_t>(ReduceOperation::prod, ElementKind::uint16, 65535, 65535, last, elements), 1);
    EXPECT_EQ(combined<std::int64_t>(ReduceOperation::prod, ElementKind::int64, INT64_MIN, -1, last, elements), INT64_MIN);
  }
}

TEST(ReduceKernel, yields_the_lower_rank_of_what_does_not_compare_wherever_it_stands) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t elements : {1u, 5u, 67u}) {
    for (std::size_t at = 0; at < elements; ++at) {
      for (const ReduceOperation operation : {ReduceOperation::max, ReduceOperation::min}) {
        EXPECT_TRUE(std::isnan(combined(operation, ElementKind::float64, nan, 1.0, at, elements)));
        EXPECT_EQ(combined(operation, ElementKind::float64, 1.0, nan, at, elements), 1.0);
        EXPECT_TRUE(std::signbit(combined(operation, ElementKind::float64, -0.0, 0.0, at, elements)));
        EXPECT_FALSE(std::signbit(combined(operation, ElementKind::float64, 0.0, -0.0, at, elements)));
      }
    }
  }
}

TEST(ReduceKernel, gives_logicals_as_one_and_zero) {
  EXPECT_EQ(combined<std::int32_t>(ReduceOperation::land, ElementKind::int32, 2, 4, 99, 100), 1);
  EXPECT_EQ(combined<std::int32_t>(ReduceOperation::land, ElementKind::int32, 0, 4, 99, 100), 0);
  EXPECT_EQ(combined<std::uint8_t>(ReduceOperation::lor, ElementKind::uint8, 0, 64, 99, 100), 1);
  EXPECT_EQ(combined<std::int64_t>(ReduceOperation::lxor, ElementKind::int64, 2, 4, 99, 100), 0);
  EXPECT_EQ(combined<std::int16_t>(ReduceOperation::lxor, ElementKind::int16, 0, 4, 99, 100), 1);
}

struct DoubleInt {
  double value;
  int index;
};

TEST(ReduceKernel, finds_the_lower_index_of_equal_values) {
  const DoubleInt greater = combined<DoubleInt>(ReduceOperation::maxloc, ElementKind::double_int, {1, 3}, {2, 9}, 0, 1);
  EXPECT_EQ(greater.index, 9);
  const DoubleInt lower = combined<DoubleInt>(ReduceOperation::maxloc, ElementKind::double_int, {2, 9}, {2, 3}, 4, 5);
  EXPECT_EQ(lower.index, 3);
  const DoubleInt least = combined<DoubleInt>(ReduceOperation::minloc, ElementKind::double_int, {1, 3}, {2, 1}, 0, 1);
  EXPECT_EQ(least.index, 3);
}

TEST(ReduceKernel, multiplies_infinities_as_c_does_also_in_vectors) {
  struct Complex {
    double real;
    double imaginary;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::size_t elements : {1u, 64u, 90u}) {
    const Complex product = combined<Complex>(ReduceOperation::prod, ElementKind::double_complex, {infinity, infinity}, {1, 1},
                                              elements - 1, elements);
    EXPECT_FALSE(std::isnan(product.real) && std::isnan(product.imaginary)) << elements;
    EXPECT_TRUE(std::isinf(product.imaginary)) << elements;
  }
}

}  // namespace
}  // namespace sluice
