// How layouts are put together: what merges, what nests, and what they say of themselves.
#include "runtime/datatype/layout.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/layouts.hpp"

namespace sluice {
namespace {

TEST(Layout, ContiguousLayoutIsOneRange) {
  const auto layout = Layout::contiguous(24);

  EXPECT_TRUE(layout->is_contiguous());
  EXPECT_EQ(layout->size(), 24u);
  EXPECT_EQ(layout->extent(), 24);
  EXPECT_EQ(layout->first_byte(), 0);
  EXPECT_EQ(layout->last_byte(), 24);
}

TEST(Layout, AdjacentBlocksMergeIntoOneRange) {
  const auto layout = make({{8, 4}, {12, 4}, {16, 8, 8, 3}}, 32);

  ASSERT_EQ(layout->runs().size(), 1u);
  EXPECT_EQ(layout->runs()[0].bytes, 32u);
  EXPECT_TRUE(layout->is_contiguous());
  EXPECT_EQ(layout->first_byte(), 8);
}

TEST(Layout, EquallySpacedBlocksMergeIntoOneRun) {
  Runs runs;
  for (std::ptrdiff_t group = 0; group < 10; ++group) {
    for (std::ptrdiff_t block = 0; block < 4; ++block) runs.push_back({group * 40 + block * 8, 8});
  }

  const auto layout = make(runs, 400);

  ASSERT_EQ(layout->runs().size(), 1u);
  EXPECT_EQ(layout->runs()[0].bytes, 32u);
  EXPECT_EQ(layout->runs()[0].count, 10u);
  EXPECT_EQ(layout->runs()[0].stride, 40);
}

TEST(Layout, MergingKeepsThePackedOrder) {
  const Runs runs{{8, 8}, {0, 8}, {16, 8}, {24, 8}, {40, 8}, {40, 8}};
  const Bytes memory = numbered(64);

  const Bytes packed = pack_all({const_cast<std::byte*>(memory.data()), 1, make(runs, 48)});

  EXPECT_EQ(packed, expected_pack(memory.data(), byte_offsets(runs, 48, 1)));
}

TEST(Layout, ExtentBeyondTheBytesIsNotContiguous) {
  const auto layout = make({{0, 12}}, 16);

  EXPECT_FALSE(layout->is_contiguous());
  EXPECT_TRUE(layout->is_range());
  EXPECT_TRUE((UserBuffer{nullptr, 1, layout}.is_contiguous()));
  EXPECT_FALSE((UserBuffer{nullptr, 2, layout}.is_contiguous()));
}

TEST(Layout, BoundsCoverBackwardStrides) {
  const auto layout = make({{0, 8, -32, 4}, {10, 2}}, 16);

  EXPECT_EQ(layout->first_byte(), -96);
  EXPECT_EQ(layout->last_byte(), 12);
}

TEST(Layout, SaysWhetherThePackedOrderIsThatOfTheAddresses) {
  EXPECT_TRUE(make({{0, 8, 16, 4}, {100, 3}}, 103)->is_ascending());
  EXPECT_FALSE(make({{0, 8, 16, 4}, {100, 3}}, 102)->is_ascending()) << "elements overlap";
  EXPECT_FALSE(make({{0, 8, -32, 4}}, 200)->is_ascending());
  EXPECT_FALSE(make({{8, 4}, {0, 4}}, 16)->is_ascending());
  EXPECT_FALSE(make({{0, 8, 4, 2}}, 16)->is_ascending()) << "blocks overlap";
}

TEST(Layout, EmptyBlocksDisappear) {
  const auto layout = make({{100, 0, 8, 4}, {-50, 8, 8, 0}}, 16);

  EXPECT_EQ(layout->size(), 0u);
  EXPECT_TRUE(layout->runs().empty());
  EXPECT_EQ(layout->first_byte(), 0);
  EXPECT_EQ(layout->last_byte(), 0);
}

TEST(LayoutBuilder, NestsWhatIsTooLongToWriteOut) {
  const auto point = make({{0, 8}, {12, 4}}, 20);
  LayoutBuilder builder;
  builder.add(point, 0, 20, 1'000'000);

  const auto layout = builder.finish(20'000'000);

  ASSERT_EQ(layout->runs().size(), 1u);
  EXPECT_EQ(layout->runs()[0].nested, point.get());
  EXPECT_EQ(layout->size(), 12'000'000u);
  EXPECT_EQ(layout->last_byte(), 19'999'996);
}

TEST(LayoutBuilder, NestedLayoutOutlivesItsOtherOwners) {
  auto point = make({{0, 8}, {12, 4}}, 20);
  LayoutBuilder builder;
  builder.add(point, 0, 20, 1000);
  const auto layout = builder.finish(20'000);
  Bytes memory = numbered(20'000);
  const auto offsets = byte_offsets({{0, 8}, {12, 4}}, 20, 1000);

  point.reset();

  EXPECT_EQ(pack_all({memory.data(), 1, layout}), expected_pack(memory.data(), offsets));
}

TEST(LayoutBuilder, RowsOfPlanesAreOneRunOfRuns) {
  const auto plane = make({{0, 8, 64, 10}}, 1024);
  LayoutBuilder builder;
  builder.add(plane, 16, 1024, 100);

  const auto layout = builder.finish(102'400);

  EXPECT_EQ(layout->runs().size(), 1u);
  EXPECT_EQ(layout->size(), 8u * 10 * 100);
}

}  // namespace
}  // namespace sluice
