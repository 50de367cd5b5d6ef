// Products of complex numbers, which C defines with care for infinities: where both parts come out as NaN, it looks again (C17,
// annex G.5.1). No compiler makes a vector loop of that. So a block is multiplied by the plain formula, and once more with care
// where a result is NaN in it: a NaN in both parts of a partial product stays one in both parts of the result.
//
// Internal linkage, as in operations.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/collective/kernels/elements.hpp"

namespace sluice {
namespace {

template <typename Real>
struct Complex {
  Real real;
  Real imaginary;
};

struct ComplexSum {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return {upper.real + lower.real, upper.imaginary + lower.imaginary};
  }
};

struct PlainProduct {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return {upper.real * lower.real - upper.imaginary * lower.imaginary,
            upper.real * lower.imaginary + upper.imaginary * lower.real};
  }
};

template <typename Real>
struct Parts;
template <>
struct Parts<float> {
  using Complex = __complex__ float;
  using Bits = std::uint32_t;
  static constexpr Bits infinity = 0x7F800000;
};
template <>
struct Parts<double> {
  using Complex = __complex__ double;
  using Bits = std::uint64_t;
  static constexpr Bits infinity = 0x7FF0000000000000;
};
template <>
struct Parts<long double> {
  using Complex = __complex__ long double;
};

struct CarefulProduct {
  template <typename Real>
  static SLUICE_REDUCE_INLINE Complex<Real> apply(Complex<Real> lower, Complex<Real> upper) {
    typename Parts<Real>::Complex first;
    typename Parts<Real>::Complex second;
    __real__ first = upper.real;
    __imag__ first = upper.imaginary;
    __real__ second = lower.real;
    __imag__ second = lower.imaginary;
    first *= second;
    return {__real__ first, __imag__ first};
  }
};

/// By their bits, which every width compares in vectors.
template <typename Real, std::size_t N>
SLUICE_REDUCE_INLINE bool has_nan(const Real (&values)[N]) {
  using Bits = typename Parts<Real>::Bits;
  constexpr Bits magnitude = static_cast<Bits>(~Bits{0}) >> 1;
  Bits bits[N];
  std::memcpy(bits, values, sizeof(bits));
  Bits found = 0;
  for (std::size_t i = 0; i < N; ++i) found |= Parts<Real>::infinity - (bits[i] & magnitude);
  return (found & ~magnitude) != 0;
}

template <typename Operation, typename Real, std::size_t N>
SLUICE_REDUCE_INLINE void products(const Loose<Complex<Real>>* const* from, Loose<Complex<Real>>* to, std::size_t begin,
                                   std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) to[i].element = Tree<Operation, Complex<Real>, N>::of(from, i);
}

template <typename Real, std::size_t N>
void complex_products(const std::byte* const* sources, std::byte* target, std::size_t elements) {
  constexpr std::size_t block = 32;
  const Loose<Complex<Real>>* from[N];
  for (std::size_t i = 0; i < N; ++i) from[i] = reinterpret_cast<const Loose<Complex<Real>>*>(sources[i]);
  auto* to = reinterpret_cast<Loose<Complex<Real>>*>(target);
  std::size_t done = 0;
  if constexpr (sizeof(Real) <= sizeof(double)) {
    for (; elements - done >= block; done += block) {
      // In two arrays: of a product whose parts lie side by side, g++ 12 makes an instruction that rounds once, whatever
      // -ffp-contract says.
      Real real[block];
      Real imaginary[block];
      for (std::size_t i = 0; i < block; ++i) {
        const Complex<Real> product = Tree<PlainProduct, Complex<Real>, N>::of(from, done + i);
        real[i] = product.real;
        imaginary[i] = product.imaginary;
      }
      if (has_nan(real) || has_nan(imaginary)) {
        products<CarefulProduct, Real, N>(from, to, done, done + block);
      } else {
        for (std::size_t i = 0; i < block; ++i) to[done + i].element = Complex<Real>{real[i], imaginary[i]};
      }
    }
  }
  products<CarefulProduct, Real, N>(from, to, done, elements);
}

template <typename Real>
void complex_product_kernel(const std::byte* const* sources, std::size_t n_sources, std::byte* target, std::size_t elements) {
  switch (n_sources) {
    case 2:
      return complex_products<Real, 2>(sources, target, elements);
    case 4:
      return complex_products<Real, 4>(sources, target, elements);
    default:
      return complex_products<Real, 8>(sources, target, elements);
  }
}

}  // namespace
}  // namespace sluice
