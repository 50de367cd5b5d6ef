// Plans of calls that have a block for each rank, or a prefix.
#include "../../support/simulated_call.hpp"

namespace sluice {
namespace {

using simulation::Call;
using simulation::call_of;
using simulation::expect_right;
using simulation::for_all;
using simulation::join;
using simulation::leaf;
using simulation::Nodes;
using simulation::roots;
using simulation::Sizes;
using simulation::Term;

/// Different for each pair, now and then none.
std::size_t bytes_between(std::size_t from, std::size_t to, std::size_t bytes) {
  return (from + to) % 3 == 1 ? 0 : (bytes + 5 * from + 3 * to) % (bytes + 1);
}

Sizes sizes(std::size_t ranks, const std::function<std::size_t(std::size_t)>& of) {
  Sizes all;
  for (std::size_t rank = 0; rank < ranks; ++rank) all.push_back(of(rank));
  return all;
}

/// The root's side of gather and scatter, with equal and with unequal parts.
void for_all_parts(
    const std::function<void(std::size_t ranks, Shape, std::size_t root, const Sizes& parts, bool in_place)>& body) {
  for_all({0, 1, 37}, [&](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    if (!nodes.empty() || shape.segment_bytes != 20) return;  // where the ranks are does not count
    for (const std::size_t root : roots(ranks)) {
      for (const bool in_place : {false, true}) {
        body(ranks, shape, root, Sizes(ranks, shape.bytes), in_place);
        body(ranks, shape, root, sizes(ranks, [&](std::size_t rank) { return bytes_between(rank, root, shape.bytes); }),
             in_place);
      }
    }
  });
}

TEST(BlockPlans, the_root_gathers_each_part_in_its_place) {
  for_all_parts([](std::size_t ranks, Shape shape, std::size_t root, const Sizes& parts, bool in_place) {
    Call call = call_of(plans::gather, ranks, shape, {});
    call.shape.root = Rank{static_cast<int>(root)};
    call.from.resize(ranks);
    call.from[root] = parts;
    call.own_bytes = parts;
    call.in_place[root] = in_place;
    for (std::size_t rank = 0; rank < ranks; ++rank) call.operand[rank] = {parts[rank]};
    if (in_place) call.operand[root].clear();
    call.result[root] = parts;
    call.in_result = [](std::size_t rank, std::size_t block, std::size_t byte) {
      return block == rank ? leaf(rank, 0, byte) : 0;
    };
    call.expected = [](std::size_t, std::size_t block, std::size_t byte) { return leaf(block, 0, byte); };
    expect_right(call);
  });
}

TEST(BlockPlans, each_gets_its_part_of_the_roots_blocks) {
  for_all_parts([](std::size_t ranks, Shape shape, std::size_t root, const Sizes& parts, bool in_place) {
    Call call = call_of(plans::scatter, ranks, shape, {});
    call.shape.root = Rank{static_cast<int>(root)};
    call.to.resize(ranks);
    call.to[root] = parts;
    call.own_bytes = parts;
    call.in_place[root] = in_place;
    for (std::size_t rank = 0; rank < ranks; ++rank) call.result[rank] = {parts[rank]};
    if (in_place) call.result[root].clear();
    call.operand[root] = parts;
    call.expected = [root](std::size_t rank, std::size_t, std::size_t byte) { return leaf(root, rank, byte); };
    expect_right(call);
  });
}

TEST(BlockPlans, all_gather_each_part_in_its_place) {
  for_all({0, 1, 37}, [](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    for (const bool in_place : {false, true}) {
      for (const bool are_equal : {false, true}) {
        Call call = call_of(plans::allgather, ranks, shape, nodes);
        const Sizes parts =
            sizes(ranks, [&](std::size_t rank) { return are_equal ? shape.bytes : bytes_between(rank, 0, shape.bytes); });
        if (!are_equal) call.from.assign(ranks, parts);
        for (std::size_t rank = 0; rank < ranks && !in_place; ++rank) call.operand[rank] = {parts[rank]};
        call.result.assign(ranks, parts);
        call.in_place.assign(ranks, in_place);
        call.in_result = [](std::size_t rank, std::size_t block, std::size_t byte) {
          return block == rank ? leaf(rank, 0, byte) : 0;
        };
        call.expected = [](std::size_t, std::size_t block, std::size_t byte) { return leaf(block, 0, byte); };
        expect_right(call);
      }
    }
  });
}

TEST(BlockPlans, each_block_of_all_goes_to_its_rank) {
  for_all({0, 1, 37}, [](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    if (!nodes.empty()) return;
    for (const bool are_equal : {false, true}) {
      Call call = call_of(plans::alltoall, ranks, shape, nodes);
      const auto between = [&](std::size_t from, std::size_t to) {
        return are_equal ? shape.bytes : bytes_between(from, to, shape.bytes);
      };
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        call.operand[rank] = sizes(ranks, [&](std::size_t peer) { return between(rank, peer); });
        call.result[rank] = sizes(ranks, [&](std::size_t peer) { return between(peer, rank); });
      }
      if (!are_equal) {
        call.to = call.operand;
        call.from = call.result;
      }
      call.expected = [](std::size_t rank, std::size_t block, std::size_t byte) { return leaf(block, rank, byte); };
      expect_right(call);
    }
  });
}

TEST(BlockPlans, blocks_change_places_in_place) {
  for_all({0, 1, 37, 200}, [](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    if (!nodes.empty()) return;
    for (const bool are_equal : {false, true}) {
      Call call = call_of(plans::alltoall, ranks, shape, nodes);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        call.result[rank] = sizes(ranks, [&](std::size_t peer) {
          return are_equal ? shape.bytes : bytes_between(std::min(rank, peer), std::max(rank, peer), shape.bytes);
        });
      }
      if (!are_equal) call.from = call.result;
      call.in_place.assign(ranks, true);
      call.in_result = leaf;
      call.expected = [](std::size_t rank, std::size_t block, std::size_t byte) { return leaf(block, rank, byte); };
      expect_right(call);
    }
  });
}

TEST(BlockPlans, each_gets_its_strip_of_the_canonical_tree) {
  for_all({0, 4, 36}, [](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    if (!nodes.empty()) return;
    for (const bool in_place : {false, true}) {
      for (const bool are_equal : {false, true}) {
        Call call = call_of(plans::reduce_scatter, ranks, shape, nodes);
        const Sizes strips = sizes(ranks, [&](std::size_t rank) {
          return are_equal ? shape.bytes
                           : bytes_between(rank, 1, shape.bytes) / simulation::element_bytes * simulation::element_bytes;
        });
        Sizes begins(ranks);
        for (std::size_t rank = 1; rank < ranks; ++rank) begins[rank] = begins[rank - 1] + strips[rank - 1];
        call.to.assign(ranks, strips);
        call.operand.assign(ranks, {begins.back() + strips.back()});
        for (std::size_t rank = 0; rank < ranks; ++rank) call.result[rank] = {strips[rank]};
        call.in_place.assign(ranks, in_place);
        call.operand_is_result = true;
        call.expected = [begins, all = simulation::canonical(ranks, call.operand[0][0])](
                            std::size_t rank, std::size_t, std::size_t byte) { return all[begins[rank] + byte]; };
        expect_right(call);
      }
    }
  });
}

/// From left to right.
std::vector<std::vector<Term>> prefixes(std::size_t ranks, std::size_t bytes) {
  std::vector<std::vector<Term>> all(ranks, std::vector<Term>(bytes));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      all[rank][byte] = rank == 0 ? leaf(0, 0, byte) : join(all[rank - 1][byte], leaf(rank, 0, byte));
    }
  }
  return all;
}

void expect_prefixes(Schedule (*plan)(const Shape&), std::size_t excluded) {
  for_all({0, 4, 36, 404}, [&](std::size_t ranks, const Shape& shape, const Nodes& nodes) {
    if (!nodes.empty()) return;
    for (const bool in_place : {false, true}) {
      Call call = call_of(plan, ranks, shape, nodes);
      call.operand.assign(ranks, {shape.bytes});
      call.result.assign(ranks, {shape.bytes});
      call.in_place.assign(ranks, in_place);
      call.operand_is_result = true;
      call.expected = [=, all = prefixes(ranks, shape.bytes)](std::size_t rank, std::size_t, std::size_t byte) {
        if (rank < excluded) return in_place ? leaf(rank, 0, byte) : simulation::undefined;
        return all[rank - excluded][byte];
      };
      expect_right(call);
    }
  });
}

TEST(BlockPlans, each_gets_the_prefix_that_ends_with_it) { expect_prefixes(plans::scan, 0); }
TEST(BlockPlans, each_gets_the_prefix_before_it_and_the_first_one_nothing) { expect_prefixes(plans::exscan, 1); }

}  // namespace
}  // namespace sluice
