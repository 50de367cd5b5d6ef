#include "runtime/copy/copy_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t margin = 192;
constexpr std::byte untouched{0xa5};

/// Bytes of which neighbours differ, at any distance of a power of two.
std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 131 + i / 251) % 255);
  return made;
}

/// Copies `bytes` from `source_at` bytes behind a line to `target_at` bytes behind one; what lies around the target stays.
void expect_copy(CopyFunction copy, std::size_t target_at, std::size_t source_at, std::size_t bytes) {
  alignas(64) static std::byte memory[margin * 2 + (std::size_t{1} << 17)];
  static const std::vector<std::byte> source = pattern(sizeof memory);
  const std::size_t from = margin + target_at;
  ASSERT_LE(from + bytes + margin, sizeof memory);
  std::fill(memory, memory + from + bytes + margin, untouched);
  copy(memory + from, source.data() + source_at, bytes);
  const auto is_untouched = [](std::byte b) { return b == untouched; };
  ASSERT_TRUE(std::equal(memory + from, memory + from + bytes, source.data() + source_at))
      << bytes << " bytes from " << source_at << " to " << target_at;
  ASSERT_TRUE(std::all_of(memory, memory + from, is_untouched)) << "before " << bytes << " bytes at " << target_at;
  ASSERT_TRUE(std::all_of(memory + from + bytes, memory + from + bytes + margin, is_untouched))
      << "behind " << bytes << " bytes at " << target_at;
}

class EveryVariant : public testing::TestWithParam<CopyVariant> {};

TEST_P(EveryVariant, copies_every_short_length) {
  for (std::size_t bytes = 0; bytes <= 700; ++bytes) expect_copy(GetParam().copy, 0, 0, bytes);
}

TEST_P(EveryVariant, copies_to_and_from_every_alignment) {
  for (std::size_t target = 0; target < 64; ++target) {
    for (std::size_t source = 0; source < 64; source += 3) {
      for (const std::size_t bytes : {1u, 63u, 65u, 300u, 1023u}) expect_copy(GetParam().copy, target, source, bytes);
    }
  }
}

TEST_P(EveryVariant, copies_long_ranges_whole) {
  for (const std::size_t bytes : {4096u, 65535u, 100'000u, 131'072u - 256u}) {
    for (const std::size_t at : {0u, 1u, 32u, 63u}) expect_copy(GetParam().copy, at, 64 - at, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(of_this_processor, EveryVariant, testing::ValuesIn(copy_variants().begin(), copy_variants().end()),
                         [](const auto& variant) {
                           std::string name(variant.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(copy_engine, knows_a_variant_of_every_kind_that_an_x86_processor_must_have) {
#ifdef __x86_64__
  for (const Stores stores : {Stores::library, Stores::vector, Stores::streaming}) EXPECT_EQ(copy_variant(stores).stores, stores);
#else
  EXPECT_EQ(copy_variant(Stores::streaming).stores, Stores::library);
#endif
}

TEST(copy_engine, lists_the_widest_of_a_kind_first) {
  std::set<Stores> seen;
  for (const CopyVariant& variant : copy_variants()) {
    const bool is_first = seen.insert(variant.stores).second;
    EXPECT_EQ(copy_variant(variant.stores).copy == variant.copy, is_first) << variant.name;
  }
}

}  // namespace
}  // namespace sluice
