// A block of cg's matrix: sparse, symmetric, made of random vectors as in NPB. Knows nothing of MPI.
//
// The matrix is the sum of the outer products of sparse vectors with themselves, one for each row, with weights that fall from 1
// to a tenth, and of a multiple of the identity, which moves its eigenvalues away from zero by the shift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/npb/options.hpp"
#include "apps/support/parts.hpp"

namespace npb {

class CgMatrix {
 public:
  CgMatrix(const CgClass& size, apps::Part rows, apps::Part columns);

  /// The product with a vector of the block's columns.
  void multiply(std::span<const double> vector, std::span<double> product) const;

 private:
  std::vector<std::size_t> row_begins_;  // in the two below, and their end
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_;
};

}  // namespace npb
