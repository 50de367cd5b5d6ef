// The loops of one width of registers, and the table of them. Included by one translation unit for each width, which defines
// SLUICE_REDUCE_TABLE as the name of its table, and either SLUICE_REDUCE_BASELINE or SLUICE_REDUCE_VECTOR_BYTES. The baseline has
// all kernels. A wide one has those that wide registers make faster, and leaves what is shorter than a register to the
// baseline's.
//
// What is included here may define no function that has external linkage, inline or not (operations.hpp says why).
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/collective/kernels/complex_product.hpp"
#include "runtime/collective/kernels/operations.hpp"
#include "runtime/collective/kernels/padded_pairs.hpp"
#include "runtime/collective/kernels/reduce_table.hpp"

namespace sluice {
namespace {

// Iterations are independent: a target is a source or far from it.
#if defined(__clang__)
#define SLUICE_REDUCE_VECTORS _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#else
#define SLUICE_REDUCE_VECTORS _Pragma("GCC ivdep")
#endif

template <typename Operation, typename Element, std::size_t N>
struct Loop {
  explicit Loop(const std::byte* const* sources) {
    for (std::size_t i = 0; i < N; ++i) from[i] = reinterpret_cast<const Loose<Element>*>(sources[i]);
  }

  void wide(std::byte* target, std::size_t elements) const {
    auto* to = reinterpret_cast<Loose<Element>*>(target);
    SLUICE_REDUCE_VECTORS
    for (std::size_t i = 0; i < elements; ++i) to[i].element = Tree<Operation, Element, N>::of(from, i);
  }
  void scalar(std::byte* target, std::size_t elements) const {
    auto* to = reinterpret_cast<Loose<Element>*>(target);
    for (std::size_t i = 0; i < elements; ++i) {
      to[i].element = Tree<Operation, Element, N>::of(from, i);
      asm volatile("");  // no vectors here
    }
  }

  const Loose<Element>* from[N];
};

/// Below so many elements the loop stays scalar: entering a wide one costs more than it saves.
constexpr std::size_t fewest_for_vectors = 8;

template <typename Operation, typename Element, std::size_t N>
void run(const std::byte* const* sources, std::byte* target, std::size_t elements) {
  const Loop<Operation, Element, N> loop(sources);
#ifdef SLUICE_REDUCE_BASELINE
  if (elements < fewest_for_vectors) return loop.scalar(target, elements);
#endif
  loop.wide(target, elements);
}

template <typename Operation, typename Element>
void run_on(const std::byte* const* sources, std::size_t n_sources, std::byte* target, std::size_t elements) {
  switch (n_sources) {
    case 2:
      return run<Operation, Element, 2>(sources, target, elements);
    case 4:
      return run<Operation, Element, 4>(sources, target, elements);
    default:
      return run<Operation, Element, 8>(sources, target, elements);
  }
}

#ifndef SLUICE_REDUCE_BASELINE

/// Whether wide registers would stay empty.
template <typename Element>
constexpr bool is_narrow(std::size_t elements) {
  return elements < fewest_for_vectors || elements * sizeof(Element) < SLUICE_REDUCE_VECTOR_BYTES;
}

constexpr const ReduceKernel& narrow_kernel(ReduceOperation operation, ElementKind kind) {
  return reduce_table_baseline.kernels[static_cast<std::size_t>(operation)][static_cast<std::size_t>(kind)];
}

#endif

/// `Element`: what is computed with. `kind`: of which the narrow kernel is.
template <typename Operation, typename Element, ReduceOperation operation, ElementKind kind>
void kernel(const std::byte* const* sources, std::size_t n_sources, std::byte* target, std::size_t elements) {
#ifndef SLUICE_REDUCE_BASELINE
  if (is_narrow<Element>(elements)) return narrow_kernel(operation, kind)(sources, n_sources, target, elements);
#endif
  run_on<Operation, Element>(sources, n_sources, target, elements);
}

/// In twos, and one that is left.
void byte_product_kernel(const std::byte* const* sources, std::size_t n_sources, std::byte* target, std::size_t elements) {
#ifndef SLUICE_REDUCE_BASELINE
  if (is_narrow<std::byte>(elements)) {
    return narrow_kernel(ReduceOperation::prod, ElementKind::uint8)(sources, n_sources, target, elements);
  }
#endif
  run_on<ByteProducts, std::uint16_t>(sources, n_sources, target, elements / 2);
  if (elements % 2 == 0) return;
  const std::byte* last[8];
  for (std::size_t i = 0; i < n_sources; ++i) last[i] = sources[i] + elements - 1;
  run_on<Product, std::uint8_t>(last, n_sources, target + elements - 1, 1);
}

class TableBuilder {
 public:
  constexpr void set(ReduceOperation operation, ElementKind kind, ReduceKernel kernel) {
    table_.kernels[static_cast<std::size_t>(operation)][static_cast<std::size_t>(kind)] = kernel;
  }

  template <typename Operation, typename Element, ReduceOperation operation, ElementKind kind>
  constexpr void set() {
    set(operation, kind, kernel<Operation, Element, operation, kind>);
  }

  template <typename Element, ElementKind kind>
  constexpr void order() {
    set<Max, Element, ReduceOperation::max, kind>();
    set<Min, Element, ReduceOperation::min, kind>();
  }

  template <typename Element, ElementKind kind>
  constexpr void arithmetic() {
    set<Sum, Element, ReduceOperation::sum, kind>();
    set<Product, Element, ReduceOperation::prod, kind>();
  }

  template <typename Signed, typename Unsigned, ElementKind signed_kind, ElementKind unsigned_kind>
  constexpr void integers() {
    order<Signed, signed_kind>();
    order<Unsigned, unsigned_kind>();
    arithmetic<Unsigned, unsigned_kind>();
    set<LogicalAnd, Unsigned, ReduceOperation::land, unsigned_kind>();
    set<LogicalOr, Unsigned, ReduceOperation::lor, unsigned_kind>();
    set<LogicalXor, Unsigned, ReduceOperation::lxor, unsigned_kind>();
    set<BitAnd, Unsigned, ReduceOperation::band, unsigned_kind>();
    set<BitOr, Unsigned, ReduceOperation::bor, unsigned_kind>();
    set<BitXor, Unsigned, ReduceOperation::bxor, unsigned_kind>();
    if constexpr (sizeof(Unsigned) == 1) set(ReduceOperation::prod, unsigned_kind, byte_product_kernel);
    // What does not ask for the sign.
    for (auto operation = ReduceOperation::sum; operation <= ReduceOperation::bxor; operation = next(operation)) {
      set(operation, signed_kind, table_.at(operation, unsigned_kind));
    }
  }

  template <typename Real, ElementKind kind>
  constexpr void real() {
    order<Real, kind>();
    arithmetic<Real, kind>();
  }

  template <typename Real, ElementKind kind>
  constexpr void complex() {
    set<ComplexSum, Complex<Real>, ReduceOperation::sum, kind>();
    set(ReduceOperation::prod, kind, complex_product_kernel<Real>);
  }

  /// Of two numbers of one size, without padding.
  template <typename Value, typename Index, ElementKind kind>
  constexpr void pair() {
    set<Location<true>, Pair<Value, Index>, ReduceOperation::maxloc, kind>();
    set<Location<false>, Pair<Value, Index>, ReduceOperation::minloc, kind>();
  }

  template <typename Value, typename Word, ElementKind kind>
  constexpr void pair_in_words() {
    set<WordLocation<true, Value>, Pair<Word, Word>, ReduceOperation::maxloc, kind>();
    set<WordLocation<false, Value>, Pair<Word, Word>, ReduceOperation::minloc, kind>();
  }

  template <typename Value, ElementKind kind>
  constexpr void padded_pair() {
    set(ReduceOperation::maxloc, kind, padded_pair_kernel<true, Value, int>);
    set(ReduceOperation::minloc, kind, padded_pair_kernel<false, Value, int>);
  }

  [[nodiscard]] constexpr ReduceTable finish() const { return table_; }

 private:
  static constexpr ReduceOperation next(ReduceOperation operation) {
    return static_cast<ReduceOperation>(static_cast<std::size_t>(operation) + 1);
  }

  ReduceTable table_{};
};

constexpr ReduceTable build_table() {
  using enum ElementKind;
  TableBuilder builder;
  builder.integers<std::int8_t, std::uint8_t, int8, uint8>();
  builder.integers<std::int16_t, std::uint16_t, int16, uint16>();
  builder.integers<std::int32_t, std::uint32_t, int32, uint32>();
  builder.integers<std::int64_t, std::uint64_t, int64, uint64>();
  builder.real<float, float32>();
  builder.real<double, float64>();
  builder.complex<float, float_complex>();
  builder.complex<double, double_complex>();
  builder.pair<int, int, int_int>();
  builder.pair<float, float, float_float>();
  builder.pair<double, double, double_double>();
#ifdef SLUICE_REDUCE_BASELINE
  builder.real<long double, long_double>();
  builder.complex<long double, long_double_complex>();
  builder.pair<float, int, float_int>();
  builder.padded_pair<short, short_int>();
  builder.padded_pair<long, long_int>();
  builder.padded_pair<double, double_int>();
  builder.padded_pair<long double, long_double_int>();
#else
  builder.pair_in_words<float, std::int32_t, float_int>();
  builder.pair_in_words<short, std::int32_t, short_int>();
  builder.pair_in_words<long, std::int64_t, long_int>();
  builder.pair_in_words<double, std::int64_t, double_int>();
#endif
  return builder.finish();
}

}  // namespace

constinit const ReduceTable SLUICE_REDUCE_TABLE = build_table();

}  // namespace sluice
