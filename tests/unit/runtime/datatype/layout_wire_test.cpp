// Layouts in messages: the same memory in the same order, and bytes that describe none.

#include "runtime/datatype/layout_wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/unit/support/layouts.hpp"

namespace sluice {
namespace {

Bytes written(const Layout& layout) {
  Bytes bytes;
  write_layout(layout, bytes);
  return bytes;
}

void expect_same_memory(const std::shared_ptr<const Layout>& layout, std::size_t count, std::size_t bytes) {
  const auto read = read_layout(written(*layout));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), layout->size());
  EXPECT_EQ(read->extent(), layout->extent());
  Bytes memory = numbered(bytes);
  EXPECT_EQ(pack_all({memory.data(), count, read}), pack_all({memory.data(), count, layout}));
}

TEST(LayoutWire, runs_stay_in_their_order) {
  expect_same_memory(make({{0, 4, 12, 5}}, 64), 3, 256);
  expect_same_memory(make({{40, 8}, {0, 3}, {16, 2, 5, 4}}, 50), 2, 128);
}

TEST(LayoutWire, nested_layouts_stay_nested) {
  const auto block = make({{0, 1}, {3, 2}, {9, 1}}, 11);
  LayoutBuilder builder;
  builder.add(block, 5, 16, 100);
  builder.add(block, 2000, 20, 100);
  const auto nested = builder.finish(4096);
  ASSERT_TRUE(nested->runs().front().nested);
  expect_same_memory(nested, 1, 4096);
  LayoutBuilder outer;
  outer.add(nested, 0, 4096, 100);
  expect_same_memory(outer.finish(4096 * 100), 1, std::size_t{4096} * 100);
}

TEST(LayoutWire, an_empty_layout_is_one) {
  const auto read = read_layout(written(*make({}, 8)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 0U);
}

TEST(LayoutWire, bytes_that_are_too_few_or_too_many_describe_none) {
  const Bytes bytes = written(*make({{0, 4, 12, 5}, {80, 1}}, 96));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(read_layout(std::span(bytes).first(length))) << length;
  }
  Bytes longer = bytes;
  longer.push_back({});
  EXPECT_FALSE(read_layout(longer));
}

TEST(LayoutWire, a_size_that_nothing_has_describes_none) {
  Bytes bytes = written(*make({{0, 4, 12, 5}}, 64));
  std::fill(bytes.begin() + 16, bytes.end(), std::byte{0xff});
  EXPECT_FALSE(read_layout(bytes));
}

TEST(LayoutWire, layouts_that_nest_without_end_describe_none) {
  std::shared_ptr<const Layout> layout = make({{0, 1}, {2, 1}}, 4);
  const Bytes innermost = written(*layout);
  Bytes bytes;
  constexpr int levels = 5000;
  const std::array<std::uint64_t, 7> level{4, 1, 0, 2, 0, 1, 1};  // one run of one such block
  for (int i = 0; i < levels; ++i) {
    const auto* const first = reinterpret_cast<const std::byte*>(level.data());
    bytes.insert(bytes.end(), first, first + sizeof level);
  }
  bytes.insert(bytes.end(), innermost.begin(), innermost.end());
  EXPECT_FALSE(read_layout(bytes));
}

}  // namespace
}  // namespace sluice
