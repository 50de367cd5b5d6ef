#include "runtime/window/far_operation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace sluice {
namespace {

std::uint16_t name_of(ReduceOperation operation, ElementKind kind) { return Reduction::of(operation, kind)->code(); }

template <typename Element, std::size_t n>
UserBuffer every_second(std::array<Element, n>& elements) {
  LayoutBuilder builder;
  builder.add({0, sizeof(Element), 2 * sizeof(Element), n / 2});
  return {reinterpret_cast<std::byte*>(elements.data()), 1, builder.finish(sizeof elements)};
}

template <typename Element, std::size_t n>
std::byte* bytes_of(std::array<Element, n>& elements) {
  return reinterpret_cast<std::byte*>(elements.data());
}

TEST(FarOperation, reduces_where_elements_lie_apart_a_piece_after_the_other) {
  const auto sum = FarOperation::named(name_of(ReduceOperation::sum, ElementKind::int32), false);
  ASSERT_TRUE(sum);
  std::array<std::int32_t, 8> target{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<std::int32_t, 4> operand{10, 20, 30, 40};
  std::array<std::int32_t, 4> before{};
  LayoutCursor cursor(every_second(target));
  sum->apply(bytes_of(operand), cursor, 4, bytes_of(before));
  sum->apply(bytes_of(operand) + 4, cursor, 12, bytes_of(before) + 4);
  EXPECT_EQ(target, (std::array<std::int32_t, 8>{11, 2, 23, 4, 35, 6, 47, 8}));
  EXPECT_EQ(before, (std::array<std::int32_t, 4>{1, 3, 5, 7}));
}

TEST(FarOperation, replaces_and_leaves_alone) {
  std::array<std::int64_t, 2> target{5, 6};
  std::array<std::int64_t, 1> operand{9};
  std::array<std::int64_t, 1> before{};
  const UserBuffer place = every_second(target);
  const auto replace = FarOperation::named(FarOperation::replace, false);
  LayoutCursor replaced(place);
  replace->apply(bytes_of(operand), replaced, sizeof operand, nullptr);
  EXPECT_EQ(target[0], 9);
  const auto nothing = FarOperation::named(FarOperation::nothing, false);
  EXPECT_FALSE(nothing->reads_operand());
  LayoutCursor left(place);
  nothing->apply(nullptr, left, sizeof before, bytes_of(before));
  EXPECT_EQ(before[0], 9);
  EXPECT_EQ(target, (std::array<std::int64_t, 2>{9, 6}));
}

/// One packed pair.
template <typename Value>
std::vector<std::byte> packed(Value value, int index) {
  std::vector<std::byte> bytes(sizeof value + sizeof index);
  std::memcpy(bytes.data(), &value, sizeof value);
  std::memcpy(bytes.data() + sizeof value, &index, sizeof index);
  return bytes;
}

template <typename Value>
void expect_the_lower_pair(ElementKind kind) {
  const auto minloc = FarOperation::named(name_of(ReduceOperation::minloc, kind), true);
  ASSERT_TRUE(minloc);
  std::vector<std::byte> target;
  std::vector<std::byte> operand;
  for (int i = 0; i < 10; ++i) {
    const auto one = packed<Value>(static_cast<Value>(i), i);
    const auto other = packed<Value>(static_cast<Value>(9 - i), 100 + i);
    target.insert(target.end(), one.begin(), one.end());
    operand.insert(operand.end(), other.begin(), other.end());
  }
  LayoutCursor cursor(UserBuffer{target.data(), target.size(), Layout::contiguous(1)});
  minloc->apply(operand.data(), cursor, target.size(), nullptr);
  std::vector<std::byte> expected;
  for (int i = 0; i < 10; ++i) {
    const auto lower = i <= 4 ? packed<Value>(static_cast<Value>(i), i) : packed<Value>(static_cast<Value>(9 - i), 100 + i);
    expected.insert(expected.end(), lower.begin(), lower.end());
  }
  EXPECT_EQ(target, expected);
}

TEST(FarOperation, combines_pairs_that_come_without_their_padding) {
  expect_the_lower_pair<double>(ElementKind::double_int);
  expect_the_lower_pair<long>(ElementKind::long_int);
  expect_the_lower_pair<short>(ElementKind::short_int);
}

TEST(FarOperation, takes_pieces_of_whole_pairs) {
  const auto pairs = FarOperation::named(name_of(ReduceOperation::maxloc, ElementKind::double_int), true);
  EXPECT_EQ(pairs->whole_elements(100), 96U);
  EXPECT_EQ(pairs->whole_elements(1), 12U);
}

TEST(FarOperation, has_no_other_names) {
  EXPECT_FALSE(FarOperation::named(0, false));
  EXPECT_FALSE(FarOperation::named(3, false));
  EXPECT_FALSE(FarOperation::named(0xffff, false));
  EXPECT_FALSE(FarOperation::named(name_of(ReduceOperation::sum, ElementKind::int32), true)) << "no pair";
  EXPECT_FALSE(FarOperation::named(1 + (1 << 8) + static_cast<int>(ElementKind::double_int) + (200 << 8), false));
}

}  // namespace
}  // namespace sluice
