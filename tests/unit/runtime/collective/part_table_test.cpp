#include "runtime/collective/part_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace sluice {
namespace {

using Payload = std::array<std::byte, PartTable::bytes>;

TEST(PartTable, parts_are_found_where_they_were_put) {
  Payload payload{};
  PartTable::Writer writer(payload.data(), 3);
  std::byte* const first = writer.add(5);
  std::byte* const none = writer.add(0);
  std::byte* const last = writer.add(7);
  ASSERT_TRUE(first && none && last);
  std::fill_n(first, 5, std::byte{1});
  std::fill_n(last, 7, std::byte{2});
  const PartTable table(payload.data(), 3);
  EXPECT_EQ(table.length(0), 5u);
  EXPECT_EQ(table.length(1), 0u);
  EXPECT_EQ(table.length(2), 7u);
  EXPECT_EQ(table.part(0), first);
  EXPECT_EQ(table.part(2), last);
  EXPECT_TRUE(std::all_of(table.part(0), table.part(0) + 5, [](std::byte byte) { return byte == std::byte{1}; }));
}

TEST(PartTable, what_just_fits_is_in_and_a_byte_more_is_left_out) {
  Payload payload{};
  constexpr std::size_t room = PartTable::bytes - 2 * sizeof(std::uint32_t);
  PartTable::Writer exact(payload.data(), 2);
  EXPECT_TRUE(exact.add(room));
  EXPECT_TRUE(exact.add(0));
  EXPECT_EQ(PartTable(payload.data(), 2).length(0), room);
  PartTable::Writer beyond(payload.data(), 2);
  EXPECT_FALSE(beyond.add(room + 1));
  EXPECT_TRUE(beyond.add(room));
  EXPECT_EQ(PartTable(payload.data(), 2).length(0), PartTable::left_out);
  EXPECT_EQ(PartTable(payload.data(), 2).part(1), payload.data() + 2 * sizeof(std::uint32_t));
}

TEST(PartTable, parts_never_overlap_whatever_their_lengths) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Payload payload{};
    const std::size_t entries = 1 + random() % 32;
    PartTable::Writer writer(payload.data(), entries);
    PartTable::Room room(entries);
    std::vector<std::size_t> lengths;
    for (std::size_t entry = 0; entry < entries; ++entry) {
      lengths.push_back(random() % 3 == 0 ? random() % 9000 : random() % 200);
      std::byte* const place = writer.add(lengths.back());
      ASSERT_EQ(place != nullptr, room.add(lengths.back()));
      if (place) {
        ASSERT_GE(place, payload.data() + entries * sizeof(std::uint32_t));
        ASSERT_EQ(place + lengths.back(), payload.data() + room.used());
        std::fill_n(place, lengths.back(), static_cast<std::byte>(entry + 1));
      }
    }
    const PartTable table(payload.data(), entries);
    for (std::size_t entry = 0; entry < entries; ++entry) {
      if (table.length(entry) == PartTable::left_out) continue;
      ASSERT_EQ(table.length(entry), lengths[entry]);
      const std::vector<std::byte> wanted(lengths[entry], static_cast<std::byte>(entry + 1));
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), table.part(entry))) << "round " << round << ", entry " << entry;
    }
  }
}

}  // namespace
}  // namespace sluice
