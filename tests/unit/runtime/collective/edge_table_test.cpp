#include "runtime/collective/edge_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

struct Payload {
  std::array<std::byte, EdgeTable::bytes> bytes{};

  /// Parts of these lengths, each filled with its number; whether each is in.
  std::vector<bool> write(const std::vector<Edge>& edges, const std::vector<std::size_t>& lengths) {
    EdgeTable::Room room(edges.size());
    std::vector<std::optional<std::size_t>> begins;
    for (std::size_t i = 0; i < edges.size(); ++i) begins.push_back(room.add(lengths[i]));
    EXPECT_LE(room.used(), bytes.size());
    EdgeTable::Writer table(bytes.data(), room, edges.size());
    std::vector<bool> are_in;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (begins[i]) std::fill_n(bytes.data() + *begins[i], lengths[i], static_cast<std::byte>(i + 1));
      if (room.has_table()) table.add(edges[i], begins[i], lengths[i]);
      are_in.push_back(begins[i].has_value());
    }
    return are_in;
  }
};

void expect_part(const std::optional<EdgeTable::Part>& part, std::size_t number, std::size_t length) {
  ASSERT_TRUE(part);
  ASSERT_EQ(part->bytes, length);
  for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(part->data[i], static_cast<std::byte>(number + 1));
}

TEST(EdgeTable, each_reader_finds_what_is_for_its_edge) {
  Payload payload;
  const std::vector<Edge> edges{{Rank{3}, 0}, {Rank{1}, 0}, {Rank{3}, 1}, {}, {Rank{0}, 7}};
  const std::vector<std::size_t> lengths{10, 0, 700, 0, 64};
  payload.write(edges, lengths);
  const EdgeTable table(payload.bytes.data());
  expect_part(table.find(Rank{3}, 0), 0, 10);
  expect_part(table.find(Rank{1}, 0), 1, 0);
  expect_part(table.find(Rank{3}, 1), 2, 700);
  expect_part(table.find(Rank{0}, 7), 4, 64);
  EXPECT_FALSE(table.find(Rank{2}, 0));
  EXPECT_FALSE(table.find(Rank{1}, 1));
}

TEST(EdgeTable, what_has_no_room_is_left_out_and_what_comes_behind_is_in) {
  Payload payload;
  std::vector<Edge> edges;
  for (int rank = 0; rank < 7; ++rank) edges.push_back({Rank{rank}, 0});
  const std::vector<std::size_t> lengths{3500, 3500, 3500, 3500, 3000, 1000, 4096};
  EXPECT_EQ(payload.write(edges, lengths), (std::vector{true, true, true, true, false, true, false}));
  const EdgeTable table(payload.bytes.data());
  for (int rank = 0; rank < 4; ++rank) expect_part(table.find(Rank{rank}, 0), static_cast<std::size_t>(rank), 3500);
  EXPECT_FALSE(table.find(Rank{4}, 0));
  expect_part(table.find(Rank{5}, 0), 5, 1000);
  EXPECT_FALSE(table.find(Rank{6}, 0));
}

TEST(EdgeTable, all_that_has_room_is_in_to_the_last_byte) {
  Payload payload;
  const std::vector<Edge> edges(5, Edge{Rank{1}, 0});
  const std::size_t part = EdgeTable::most_part_bytes - 100;
  const std::size_t last = EdgeTable::bytes - EdgeTable::Room(edges.size()).used() - 4 * part;
  std::vector<std::size_t> lengths{part, part, part, part, last};
  EXPECT_EQ(payload.write(edges, lengths), std::vector<bool>(5, true));
  lengths.back() += 1;
  EXPECT_EQ(payload.write(edges, lengths), (std::vector{true, true, true, true, false}));
}

TEST(EdgeTable, more_edges_than_a_table_has_go_by_messages_all) {
  Payload payload;
  const std::vector<Edge> edges(2000, Edge{Rank{1}, 0});
  EXPECT_EQ(payload.write(edges, std::vector<std::size_t>(2000, 8)), std::vector<bool>(2000, false));
  EXPECT_FALSE(EdgeTable(payload.bytes.data()).find(Rank{1}, 0));
}

}  // namespace
}  // namespace sluice
