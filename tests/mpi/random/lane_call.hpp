// A collective call of a lane, for as long as it runs (lane_collectives.cpp, lane_reductions.cpp).
#pragma once

#include <memory>
#include <vector>

#include "lane.hpp"

namespace random_program {

/// Blocks of one side of a call in one buffer, or the operand or result of a reduction.
struct Lane::Side {
  std::unique_ptr<Layout> layout;  // of blocks
  Slot slot;
  std::vector<int> counts;  // by block, in elements
  std::vector<int> displacements;
  std::vector<int> byte_displacements;
  std::vector<MPI_Datatype> types;
  std::vector<std::byte> image;  // what must be in it, from its beginning on
  bool is_received = false;
  Collective what;

  [[nodiscard]] MPI_Datatype type() const { return layout->type(); }
  [[nodiscard]] int count() const { return counts.empty() ? 0 : counts.front(); }
};

struct Lane::Call {
  Collective what;
  MPI_Comm comm = MPI_COMM_NULL;
  std::size_t rank = 0;
  std::size_t ranks = 1;
  std::shared_ptr<Side> given;  // nullptr: not significant here, or in place
  std::shared_ptr<Side> got;
  int count = 0;            // of a reduction, in elements of the result
  std::vector<int> counts;  // of strips
  MPI_Request request = MPI_REQUEST_NULL;

  [[nodiscard]] int root() const { return static_cast<int>(what.root(ranks)); }
  [[nodiscard]] bool is_root() const { return rank == what.root(ranks); }

  template <typename Blocking, typename Nonblocking, typename... Arguments>
  void make(Blocking blocking, Nonblocking nonblocking, Arguments... arguments) {
    what.is_nonblocking ? nonblocking(arguments..., comm, &request) : blocking(arguments..., comm);
  }
};

}  // namespace random_program
