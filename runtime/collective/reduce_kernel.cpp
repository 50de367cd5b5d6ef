#include "runtime/collective/reduce_kernel.hpp"

#include <array>

#include "runtime/collective/kernels/reduce_table.hpp"

namespace sluice {
namespace {

template <typename First, typename Second>
constexpr std::size_t pair_bytes() {
  struct Pair {
    First first;
    Second second;
  };
  return sizeof(Pair);
}

struct Widths {
  std::array<ReduceWidth, 3> list{};
  std::size_t count = 0;

  void add(const char* name, const ReduceTable& table) { list[count++] = {name, &table}; }
};

Widths find_widths() {
  Widths found;
  found.add("baseline", reduce_table_baseline);
#ifdef SLUICE_WIDE_REDUCTIONS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) found.add("avx2", reduce_table_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    found.add("avx512", reduce_table_avx512);
  }
#endif
  return found;
}

}  // namespace

std::span<const ReduceWidth> reduce_widths() {
  static const Widths widths = find_widths();
  return {widths.list.data(), widths.count};
}

std::size_t element_bytes(ElementKind kind) {
  switch (kind) {
    case ElementKind::int8:
    case ElementKind::uint8:
      return 1;
    case ElementKind::int16:
    case ElementKind::uint16:
      return 2;
    case ElementKind::int32:
    case ElementKind::uint32:
    case ElementKind::float32:
      return 4;
    case ElementKind::int64:
    case ElementKind::uint64:
    case ElementKind::float64:
    case ElementKind::float_complex:
      return 8;
    case ElementKind::double_complex:
      return 2 * sizeof(double);
    case ElementKind::long_double:
      return sizeof(long double);
    case ElementKind::long_double_complex:
      return 2 * sizeof(long double);
    case ElementKind::float_int:
      return pair_bytes<float, int>();
    case ElementKind::double_int:
      return pair_bytes<double, int>();
    case ElementKind::long_double_int:
      return pair_bytes<long double, int>();
    case ElementKind::long_int:
      return pair_bytes<long, int>();
    case ElementKind::short_int:
      return pair_bytes<short, int>();
    case ElementKind::int_int:
      return pair_bytes<int, int>();
    case ElementKind::float_float:
      return pair_bytes<float, float>();
    case ElementKind::double_double:
      return pair_bytes<double, double>();
  }
  return 0;
}

ReduceKernel reduce_kernel(ReduceOperation operation, ElementKind kind) {
  const std::span<const ReduceWidth> widths = reduce_widths();
  const ReduceKernel widest = widths.back().table->at(operation, kind);
  return widest ? widest : reduce_table_baseline.at(operation, kind);
}

}  // namespace sluice
