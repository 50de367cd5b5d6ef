#include "runtime/copy/shared_copy.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/copy/copy_engine.hpp"

namespace sluice {
namespace {

using shared_copy::never;
using shared_copy::Thresholds;

using Copy = void (*)(std::byte*, const std::byte*, std::size_t);

template <TargetLines lines>
void to_peer(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_to_peer(target, source, bytes, lines);
}
template <TargetLines lines, SourceLines source_lines = SourceLines::kept>
void from_peer(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_from_peer(target, source, bytes, lines, source_lines);
}

/// On both sides of every threshold, with every combination of them in force.
class SharedCopy : public testing::TestWithParam<Copy> {
 protected:
  ~SharedCopy() override { shared_copy::use(shared_copy::cpuid_thresholds()); }
};

TEST_P(SharedCopy, copies_whatever_the_thresholds_are) {
  for (const std::size_t string : {std::size_t{512}, never}) {
    for (const std::size_t streaming : {std::size_t{0}, std::size_t{1024}, never}) {
      const Stores pieces = string == never ? Stores::vector : Stores::string;
      shared_copy::use({string, pieces, streaming, streaming, streaming});
      for (const std::size_t bytes : {0u, 1u, 511u, 512u, 1023u, 1024u, 70'001u}) {
        std::vector<std::byte> source(bytes + 1);  // also of nothing there is an address
        for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<std::byte>(i % 253);
        std::vector<std::byte> target(bytes + 1, std::byte{0xa5});
        GetParam()(target.data(), source.data(), bytes);
        ASSERT_TRUE(std::equal(source.begin(), source.end() - 1, target.begin())) << bytes;
        ASSERT_EQ(target[bytes], std::byte{0xa5}) << bytes;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(each, SharedCopy,
                         testing::Values(&copy_to_shared, &to_peer<TargetLines::unknown>, &to_peer<TargetLines::outer>,
                                         &from_peer<TargetLines::unknown>, &from_peer<TargetLines::shared>,
                                         &from_peer<TargetLines::outer>, &from_peer<TargetLines::own, SourceLines::handed_back>));

TEST(shared_copy, uses_the_string_instruction_unmeasured_where_it_is_announced_as_fast) {
  const Thresholds announced = shared_copy::cpuid_thresholds();
  EXPECT_EQ(announced.string_bytes != never, string_moves_are_fast());
  EXPECT_EQ(announced.streaming_bytes, never);
}

}  // namespace
}  // namespace sluice
