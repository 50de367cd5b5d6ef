#include "runtime/copy/copy_engine.hpp"

#include <algorithm>
#include <array>

#include "runtime/copy/copy_kernels.hpp"

#ifdef SLUICE_X86_COPIES
#include <cpuid.h>
#endif

namespace sluice {
namespace {

struct Variants {
  std::array<CopyVariant, 11> list{};
  std::size_t count = 0;

  void add(const CopyVariant& variant) { list[count++] = variant; }
};

#ifdef SLUICE_X86_COPIES

/// Bits of the processor's leaf 7; not in every compiler's __builtin_cpu_supports.
struct Leaf7 {
  bool string_moves = false;        // ERMS
  bool short_string_moves = false;  // FSRM
  bool write_back = false;          // CLWB
};

Leaf7 leaf7() {
  constexpr unsigned erms = 1u << 9;
  constexpr unsigned clwb = 1u << 24;
  constexpr unsigned fsrm = 1u << 4;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return {};
  return {(ebx & erms) != 0, (edx & fsrm) != 0, (ebx & clwb) != 0};
}

Variants find_variants() {
  using namespace copy_kernels;
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0;
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  Variants found;
  found.add({"library", Stores::library, library});
  const Leaf7 has = leaf7();
  if (has.string_moves) found.add({"string", Stores::string, string});
  if (avx512) found.add({"vector-avx512", Stores::vector, vector_avx512});
  if (avx2) found.add({"vector-avx2", Stores::vector, vector_avx2});
  found.add({"vector-sse2", Stores::vector, vector_sse2});
  if (avx512) found.add({"streaming-avx512", Stores::streaming, streaming_avx512});
  if (avx2) found.add({"streaming-avx2", Stores::streaming, streaming_avx2});
  found.add({"streaming-sse2", Stores::streaming, streaming_sse2});
  if (has.write_back && avx512) found.add({"handing-back-avx512", Stores::handing_back, handing_back_avx512});
  if (has.write_back && avx2) found.add({"handing-back-avx2", Stores::handing_back, handing_back_avx2});
  if (has.write_back) found.add({"handing-back-sse2", Stores::handing_back, handing_back_sse2});
  return found;
}

#else

Variants find_variants() {
  Variants found;
  found.add({"library", Stores::library, copy_kernels::library});
  return found;
}

#endif

}  // namespace

std::span<const CopyVariant> copy_variants() {
  static const Variants variants = find_variants();
  return {variants.list.data(), variants.count};
}

const CopyVariant& copy_variant(Stores stores) {
  const auto variants = copy_variants();
  const auto found = std::find_if(variants.begin(), variants.end(), [&](const CopyVariant& v) { return v.stores == stores; });
  return found == variants.end() ? variants.front() : *found;
}

std::string_view name_of(Stores stores) {
  constexpr std::array<std::string_view, kinds_of_stores> names{"library", "string", "vector", "streaming", "handing-back"};
  return names[static_cast<std::size_t>(stores)];
}

bool string_moves_are_fast() {
#ifdef SLUICE_X86_COPIES
  return leaf7().short_string_moves;
#else
  return false;
#endif
}

}  // namespace sluice
