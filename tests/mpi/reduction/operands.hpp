// Operands of reductions, random and hostile, and the comparison of results part by part.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "runtime/collective/reduce_kernel.hpp"

namespace reduction_check {

/// A number inside an element.
struct Part {
  enum class Class { signed_integer, unsigned_integer, real, truth };
  Class type;
  std::size_t offset;
  std::size_t bytes;  // of the number, without padding behind it
};

/// `is_truth`: a C bool, which no other value than 0 and 1 may be given.
std::vector<Part> parts_of(sluice::ElementKind kind, bool is_truth);

class OperandMaker {
 public:
  explicit OperandMaker(unsigned seed) : random_(seed) {}

  void fill(std::byte* elements, std::size_t count, std::size_t element_bytes, std::span<const Part> parts);

 private:
  template <typename Real>
  Real real();
  std::uint64_t integer(std::size_t bytes);

  std::mt19937_64 random_;
};

/// The same bits, or two NaNs.
bool are_equal(const std::byte* a, const std::byte* b, const Part& part);
bool is_nan(const std::byte* at, const Part& part);
bool is_zero(const std::byte* at, const Part& part);
/// The number, if it has at most 8 bytes and is none of a real.
std::int64_t integer_at(const std::byte* at, const Part& part);

}  // namespace reduction_check
