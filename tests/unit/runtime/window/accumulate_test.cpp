#include "runtime/window/accumulate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace sluice {
namespace {

constexpr std::size_t elements = 100;
using Numbers = std::array<std::int32_t, elements>;

Numbers counted_from(std::int32_t first) {
  Numbers numbers;
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

const std::byte* bytes_of(const Numbers& numbers) { return reinterpret_cast<const std::byte*>(numbers.data()); }
std::byte* bytes_of(Numbers& numbers) { return reinterpret_cast<std::byte*>(numbers.data()); }

const Reduction& reduction(ReduceOperation operation) {
  static const Reduction sum = *Reduction::of(ReduceOperation::sum, ElementKind::int32);
  static const Reduction max = *Reduction::of(ReduceOperation::max, ElementKind::int32);
  return operation == ReduceOperation::sum ? sum : max;
}

UserBuffer whole(Numbers& numbers) { return {bytes_of(numbers), sizeof numbers, Layout::contiguous(1)}; }

/// Every second element.
UserBuffer halves(Numbers& numbers) {
  LayoutBuilder builder;
  builder.add({0, sizeof(std::int32_t), 2 * sizeof(std::int32_t), elements / 2});
  return {bytes_of(numbers), 1, builder.finish(sizeof numbers)};
}

TEST(AccumulateOperation, reduces_into_the_target_and_keeps_what_was_there) {
  const Numbers operand = counted_from(1);
  Numbers target = counted_from(1000);
  Numbers before{};
  AccumulateOperation::reduce(reduction(ReduceOperation::sum)).apply(bytes_of(operand), whole(target), bytes_of(before));
  EXPECT_EQ(before, counted_from(1000));
  for (std::size_t i = 0; i < elements; ++i) EXPECT_EQ(target[i], static_cast<std::int32_t>(1001 + 2 * i));
}

TEST(AccumulateOperation, goes_around_gaps) {
  const Numbers operand = counted_from(50);
  Numbers target = counted_from(0);
  Numbers before{};
  AccumulateOperation::reduce(reduction(ReduceOperation::max)).apply(bytes_of(operand), halves(target), bytes_of(before));
  for (std::size_t i = 0; i < elements / 2; ++i) {
    EXPECT_EQ(before[i], static_cast<std::int32_t>(2 * i));
    EXPECT_EQ(target[2 * i], std::max(operand[i], static_cast<std::int32_t>(2 * i)));
    EXPECT_EQ(target[2 * i + 1], static_cast<std::int32_t>(2 * i + 1));
  }
}

TEST(AccumulateOperation, replaces) {
  const Numbers operand = counted_from(50);
  Numbers target = counted_from(0);
  AccumulateOperation::replace().apply(bytes_of(operand), whole(target), nullptr);
  EXPECT_EQ(target, operand);
}

TEST(AccumulateOperation, does_nothing_but_tell_what_is_there) {
  Numbers target = counted_from(7);
  for (const bool has_gaps : {false, true}) {
    Numbers before{};
    AccumulateOperation::nothing().apply(nullptr, has_gaps ? halves(target) : whole(target), bytes_of(before));
    EXPECT_EQ(target, counted_from(7));
    EXPECT_EQ(before[10], has_gaps ? 27 : 17);
  }
}

/// Elements of three bytes, as no kernel has them.
struct Threes final : OwnOperation {
  [[nodiscard]] std::size_t element_bytes() const override { return 3; }
  void combine(const std::byte* lower, std::byte* upper, std::size_t count) override {
    for (std::size_t i = 0; i < 3 * count; ++i) upper[i] ^= lower[i];
    combined += count;
  }
  std::size_t combined = 0;
};

TEST(AccumulateOperation, calls_what_combines_whole_packed_elements) {
  Threes own;
  const AccumulateOperation operation = AccumulateOperation::combine(own);
  EXPECT_TRUE(operation.takes_packed_only() && operation.reads_operand());
  EXPECT_EQ(operation.whole_elements(64), 63u);
  EXPECT_EQ(operation.whole_elements(2), 3u) << "one at least";
  EXPECT_EQ(AccumulateOperation::replace().whole_elements(64), 64u);
  std::array<std::byte, 6> operand;
  operand.fill(std::byte{0x0f});
  std::array<std::byte, 6> target;
  target.fill(std::byte{0x35});
  std::array<std::byte, 6> before{};
  operation.apply(operand.data(), {target.data(), target.size(), Layout::contiguous(1)}, before.data());
  EXPECT_EQ(own.combined, 2u);
  for (const std::byte byte : target) EXPECT_EQ(byte, std::byte{0x3a});
  for (const std::byte byte : before) EXPECT_EQ(byte, std::byte{0x35});
}

TEST(AccumulateOperation, leaves_an_empty_target_alone) {
  const UserBuffer nowhere{nullptr, 0, Layout::contiguous(4)};
  AccumulateOperation::replace().apply(nullptr, nowhere, nullptr);
}

}  // namespace
}  // namespace sluice
