// The ranks of cg as NPB arranges them: a grid with as many rows as columns, or half as many. Every rank has a block of the
// matrix. Of vectors that the matrix is applied to it has the piece of its columns, the same in each row of the grid.
#pragma once

#include <cstddef>
#include <vector>

#include "apps/support/job.hpp"
#include "apps/support/parts.hpp"

namespace npb {

class CgGrid {
 public:
  /// The number of ranks is a power of two.
  CgGrid(std::size_t rows_of_matrix, apps::World world);

  [[nodiscard]] apps::Part matrix_rows() const { return matrix_rows_; }
  [[nodiscard]] apps::Part matrix_columns() const { return matrix_columns_; }

  /// A step of a sum over the ranks of this row of the grid: what is sent and received, as places in a vector of the matrix's
  /// rows.
  struct Step {
    int partner;
    apps::Part sent;
    apps::Part received;
  };
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

  /// After these steps this piece of the product is complete.
  [[nodiscard]] apps::Part complete() const { return complete_; }
  /// Who has what this rank needs of the product, the piece of its columns, and needs what this rank has.
  [[nodiscard]] int transposed() const { return transposed_; }

 private:
  apps::Part matrix_rows_{};
  apps::Part matrix_columns_{};
  apps::Part complete_{};
  std::vector<Step> steps_;
  int transposed_ = 0;
};

}  // namespace npb
