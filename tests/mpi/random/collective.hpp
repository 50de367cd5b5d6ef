// A collective call of a script: what each rank gives, and what it must get, by ranks of the communicator.
//
// Contents and lengths are functions of the call and of the ranks, so that every rank knows what all others give. Layouts are a
// rank's own: MPI asks only for the same values in the same order on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout_spec.hpp"
#include "prng.hpp"

namespace random_program {

enum class CollectiveKind : std::uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
};

/// Operation and type of a reduction, all of which are exact.
enum class Reducing : std::uint8_t {
  sum_int32,
  sum_int64,
  sum_float32,
  sum_float64,
  max_uint8,
  max_float64,
  min_int16,
  bxor_int64,
  maxloc_int,
  own_int64,  // an operation of the program's own: a sum
};

struct BlockSpec {
  std::uint64_t key = 0;  // names the contents
  std::size_t units = 0;
};

class Collective {
 public:
  CollectiveKind kind = CollectiveKind::barrier;
  Reducing reducing = Reducing::sum_int32;
  bool is_nonblocking = false;
  bool is_in_place = false;
  Base base = Base::byte;
  std::size_t max_units = 0;  // of a block, or of the operand of a reduction
  std::uint64_t key = 0;

  /// `bytes`: that all blocks together may have.
  static Collective make(Random& random, std::size_t ranks, std::size_t bytes);
  /// Groups that share a script's communicator are in calls of their own.
  [[nodiscard]] Collective in_group(int lowest_rank) const;

  [[nodiscard]] bool is_reduction() const { return kind >= CollectiveKind::reduce; }
  [[nodiscard]] bool has_equal_blocks() const;
  /// On this side: then the call has a place of its own for each, unless all are equal.
  [[nodiscard]] bool has_block_for_each(std::size_t rank, std::size_t ranks, bool is_receiver) const;
  [[nodiscard]] std::size_t root(std::size_t ranks) const { return key % ranks; }
  /// One after the other; in place as if the call was not.
  [[nodiscard]] std::vector<BlockSpec> given(std::size_t rank, std::size_t ranks) const;
  [[nodiscard]] std::vector<BlockSpec> got(std::size_t rank, std::size_t ranks) const;
  [[nodiscard]] LayoutSpec layout(std::size_t rank, bool is_receiver) const;

  /// Of a reduction with a strip for each rank.
  [[nodiscard]] std::size_t strip_units(std::size_t rank) const;

 private:
  [[nodiscard]] BlockSpec block(std::size_t source, std::size_t target) const;
};

}  // namespace random_program
