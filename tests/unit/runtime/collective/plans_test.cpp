#include "runtime/collective/plans/plans.hpp"

#include <gtest/gtest.h>

#include "../../support/simulated_call.hpp"

namespace sluice {
namespace {

using simulation::all_ranks;
using simulation::Call;
using simulation::call_of;
using simulation::expect_right;
using simulation::for_all;
using simulation::Nodes;
using simulation::roots;
using simulation::Term;

TEST(Plans, nobody_leaves_a_barrier_before_all_have_come) {
  for (const std::size_t ranks : all_ranks) {
    Call call(plans::barrier, ranks);
    expect_right(call);
    for (std::size_t absent = 0; absent < ranks && ranks > 1; ++absent) {
      EXPECT_EQ(simulation::machine_of(call).ended_without(absent), 0U) << simulation::text(call);
    }
  }
}

TEST(Plans, all_get_what_the_root_broadcasts) {
  for_all({0, 1, 37, 400}, [](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    for (const std::size_t root : roots(ranks)) {
      Call call = call_of(plans::bcast, ranks, shape, nodes);
      call.shape.root = Rank{static_cast<int>(root)};
      for (std::size_t rank = 0; rank < ranks; ++rank) (rank == root ? call.operand : call.result)[rank] = {shape.bytes};
      call.expected = [root](std::size_t, std::size_t, std::size_t byte) { return simulation::leaf(root, 0, byte); };
      expect_right(call);
    }
  });
}

TEST(Plans, the_root_gets_the_canonical_tree_of_all_operands) {
  for_all({0, 4, 36, 404}, [](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    for (const std::size_t root : roots(ranks)) {
      for (const bool in_place : {false, true}) {
        Call call = call_of(plans::reduce, ranks, shape, nodes);
        call.shape.root = Rank{static_cast<int>(root)};
        call.operand.assign(ranks, {shape.bytes});
        call.result[root] = {shape.bytes};
        call.in_place[root] = in_place;
        call.operand_is_result = true;
        call.expected = [all = simulation::canonical(ranks, shape.bytes)](auto, auto, std::size_t byte) { return all[byte]; };
        expect_right(call);
      }
    }
  });
}

TEST(Plans, all_get_the_canonical_tree_of_all_operands) {
  for_all({0, 4, 36, 404}, [](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    for (const bool in_place : {false, true}) {
      Call call = call_of(plans::allreduce, ranks, shape, nodes);
      call.operand.assign(ranks, {shape.bytes});
      call.result.assign(ranks, {shape.bytes});
      call.in_place.assign(ranks, in_place);
      call.operand_is_result = true;
      call.expected = [all = simulation::canonical(ranks, shape.bytes)](auto, auto, std::size_t byte) { return all[byte]; };
      expect_right(call);
    }
  });
}

/// Long vectors, as they occur: only their plans are made.
TEST(Plans, scratch_memory_of_a_reduction_is_its_operand_on_one_node_and_a_few_of_them_on_uneven_ones) {
  constexpr std::size_t padding = 64;
  for (const std::size_t ranks : all_ranks) {
    for (const Nodes& nodes : simulation::layouts(ranks)) {
      for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{48} << 20}) {
        Call call(plans::allreduce, ranks);
        call.nodes = nodes;
        call.shape.bytes = bytes;
        call.shape.segment_bytes = 64 << 10;
        const std::size_t most = (nodes.empty() ? 1 : 4) * bytes + 4 * ranks * padding;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          EXPECT_LE(plans::allreduce(call.shape_of(rank)).scratch_bytes, most) << text(call);
        }
      }
    }
  }
}

TEST(Plans, parts_that_are_not_forwarded_are_received_in_one_round) {
  for (const auto plan : {plans::bcast, plans::gather, plans::scatter, plans::allgather, plans::alltoall}) {
    Call call(plan, 8);
    call.shape.bytes = 1 << 20;
    for (std::size_t rank = 0; rank < 8; ++rank) EXPECT_EQ(plan(call.shape_of(rank)).rounds.size(), 1U);
  }
}

}  // namespace
}  // namespace sluice
