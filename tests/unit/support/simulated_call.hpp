// A collective call on all ranks, carried out by the machine, and what its
// results must be.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "runtime/collective/plans/plans.hpp"
#include "schedule_machine.hpp"

namespace sluice::simulation {

using Sizes = std::vector<std::size_t>;
using Nodes = std::vector<std::uint32_t>;

inline constexpr std::size_t all_ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33, 64};
inline constexpr std::size_t element_bytes = 4;
/// All is long, some is, nothing is.
inline constexpr std::size_t segments[] = {1, 20, 1 << 20};

/// A call on all ranks.
struct Call {
  Schedule (*plan)(const Shape&) = nullptr;
  Shape shape;                            // alike on all ranks
  Nodes nodes;                            // by rank
  std::vector<Sizes> to, from;            // by rank, where it has them
  std::vector<Neighbourhood> neighbours;  // likewise
  Sizes own_bytes;                        // by rank, where they differ
  std::vector<Sizes> operand, result;
  std::vector<bool> in_place;
  bool operand_is_result = false;  // in place
  /// What a result's byte is at the end. Nothing: as it was.
  std::function<std::optional<Term>(std::size_t rank, std::size_t block, std::size_t byte)> expected;
  /// In place, of which rank's which block the result has a byte at the
  /// beginning.
  std::function<Term(std::size_t rank, std::size_t block, std::size_t byte)> in_result = [](auto, auto, auto) {
    return undefined;
  };

  explicit Call(Schedule (*which)(const Shape&), std::size_t ranks) : plan(which) {
    shape.ranks = ranks;
    shape.element_bytes = element_bytes;
    shape.segment_bytes = 20;
    operand.resize(ranks);
    result.resize(ranks);
    in_place.resize(ranks);
  }

  [[nodiscard]] Shape shape_of(std::size_t rank) const {
    Shape own = shape;
    own.self = Rank{static_cast<int>(rank)};
    own.nodes = nodes;
    if (!own_bytes.empty()) own.bytes = own_bytes[rank];
    if (!to.empty()) own.to = to[rank];
    if (!from.empty()) own.from = from[rank];
    if (!neighbours.empty()) {
      own.sources = neighbours[rank].sources;
      own.destinations = neighbours[rank].destinations;
    }
    own.in_place = in_place[rank];
    return own;
  }
};

inline std::string text(const Call& call) {
  return "ranks " + std::to_string(call.shape.ranks) + ", root " + std::to_string(static_cast<int>(call.shape.root)) +
         ", bytes " + std::to_string(call.shape.bytes) + ", segment " + std::to_string(call.shape.segment_bytes) + ", in place " +
         std::to_string(std::count(call.in_place.begin(), call.in_place.end(), true)) + ", nodes " +
         (call.nodes.empty() ? "1" : std::to_string(*std::max_element(call.nodes.begin(), call.nodes.end()) + 1));
}

inline Machine machine_of(const Call& call) {
  std::vector<Schedule> schedules;
  std::vector<Memory> memories;
  for (std::size_t rank = 0; rank < call.shape.ranks; ++rank) {
    schedules.push_back(call.plan(call.shape_of(rank)));
    const bool is_aliased = call.in_place[rank] && call.operand_is_result;
    Memory& memory = memories.emplace_back(call.operand[rank], call.result[rank], schedules.back().scratch_bytes, is_aliased);
    const auto fill = [&](Region::Area area, const Sizes& blocks, auto value) {
      for (std::uint32_t block = 0; block < blocks.size(); ++block) {
        for (std::size_t byte = 0; byte < blocks[block]; ++byte) {
          memory.at(memory.span({area, block, byte, 1}).begin) = value(rank, block, byte);
        }
      }
    };
    if (call.in_place[rank]) fill(Region::Area::result, call.result[rank], call.in_result);
    fill(Region::Area::operand, call.operand[rank], [](auto... where) { return leaf(where...); });
  }
  return {std::move(schedules), std::move(memories), call.shape.element_bytes};
}

inline void expect_results(const Call& call, Machine& machine) {
  std::size_t wrong = 0;
  for (std::size_t rank = 0; rank < call.shape.ranks; ++rank) {
    Memory& memory = machine.memory(rank);
    const bool is_aliased = call.in_place[rank] && call.operand_is_result;
    for (std::uint32_t block = 0; block < call.operand[rank].size() && !is_aliased; ++block) {
      for (std::size_t byte = 0; byte < call.operand[rank][block]; ++byte) {
        wrong += memory.at(memory.span({Region::Area::operand, block, byte, 1}).begin) != leaf(rank, block, byte);
      }
    }
    for (std::uint32_t block = 0; block < call.result[rank].size(); ++block) {
      for (std::size_t byte = 0; byte < call.result[rank][block]; ++byte) {
        const auto expected = call.expected(rank, block, byte);
        wrong += expected && memory.at(memory.span({Region::Area::result, block, byte, 1}).begin) != *expected;
      }
    }
  }
  EXPECT_EQ(wrong, 0U) << text(call);
}

/// In two of all orders, in turn: there are many calls.
inline void expect_right(const Call& call) {
  static std::uint64_t seed = 0;
  for (const bool are_eager : {false, true}) {
    const Order order = orders[++seed % std::size(orders)];
    try {
      Machine machine = machine_of(call);
      machine.run(order, are_eager, seed);
      expect_results(call, machine);
    } catch (const Fault& fault) {
      ADD_FAILURE() << fault.what() << "; " << text(call) << ", order " << static_cast<int>(order);
    }
  }
}

inline std::vector<Nodes> layouts(std::size_t ranks) {
  std::vector<Nodes> all{{}};
  const auto add = [&](auto node_of) {
    Nodes nodes;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes.push_back(node_of(rank));
    all.push_back(nodes);
  };
  if (ranks == 1) return all;
  add([](std::uint32_t rank) { return rank; });
  add([](std::uint32_t rank) { return rank / 2; });
  add([](std::uint32_t rank) { return 7 - rank / 8; });
  add([](std::uint32_t rank) { return rank / 3; });
  add([](std::uint32_t rank) { return rank % 3; });
  add([](std::uint32_t rank) { return rank == 0 ? 1U : 0U; });
  add([](std::uint32_t rank) { return rank * 7 / 5 % 4; });
  return all;
}

inline Sizes roots(std::size_t ranks) {
  if (ranks > 17) return {0, ranks - 1};
  if (ranks > 9) return {0, 1, ranks / 2, ranks - 1};
  Sizes all;
  for (std::size_t root = 0; root < ranks; ++root) all.push_back(root);
  return all;
}

/// With each number of ranks, layout, length and segment.
inline void for_all(std::initializer_list<std::size_t> lengths,
                    const std::function<void(std::size_t ranks, Shape shape, const Nodes&)>& body) {
  for (const std::size_t ranks : all_ranks) {
    for (const Nodes& nodes : layouts(ranks)) {
      for (const std::size_t bytes : lengths) {
        if (ranks > 17 && (&bytes - lengths.begin()) % 2 == 0) continue;  // the machine takes long
        for (const std::size_t segment : segments) {
          Shape shape;
          shape.bytes = bytes;
          shape.segment_bytes = segment;
          body(ranks, shape, nodes);
        }
      }
    }
  }
}

inline Call call_of(Schedule (*plan)(const Shape&), std::size_t ranks, const Shape& shape, const Nodes& nodes) {
  Call call(plan, ranks);
  call.shape.bytes = shape.bytes;
  call.shape.segment_bytes = shape.segment_bytes;
  call.nodes = nodes;
  return call;
}

/// What all ranks' operands make, byte by byte.
inline auto canonical(std::size_t ranks, std::size_t bytes) {
  std::vector<Term> all;
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    all.push_back(CanonicalOrder(ranks).fold([&](std::size_t rank) { return leaf(rank, 0, byte); }, join));
  }
  return all;
}

}  // namespace sluice::simulation
