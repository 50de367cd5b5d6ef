// CG: the inverse power method, whose linear systems are solved by conjugate gradients, on a sparse random matrix. Pieces of
// vectors are summed along the rows of the grid and exchanged with the transposed rank, each by Irecv, Send and Wait. So are the
// single numbers of dot products.
#pragma once

#include <vector>

#include "apps/npb/cg_grid.hpp"
#include "apps/npb/cg_matrix.hpp"
#include "apps/npb/kernel.hpp"
#include "apps/npb/options.hpp"

namespace npb {

class Cg final : public Kernel {
 public:
  Cg(const CgClass& size, apps::World world);

  void run() override;
  std::uint64_t results() override;
  Verdict verdict() override;
  bool equals_serial() override;

 private:
  using Vector = std::vector<double>;

  /// Solves for x; the norm of what is missing.
  double solve();
  /// `product_` of the matrix and a vector, the piece that this rank has of vectors.
  void multiply(const Vector& vector);
  double dot(const Vector& first, const Vector& second);
  /// Sums over the row of the grid.
  double sum(double mine);
  void swap_with(int partner, const double* outgoing, std::size_t sent, double* incoming, std::size_t received);

  const CgClass size_;
  const apps::World world_;
  const CgGrid grid_;
  const CgMatrix matrix_;
  Vector x_;  // as NPB names them
  Vector z_;
  Vector p_;
  Vector r_;
  Vector product_;  // of the matrix and p_ or z_
  Vector partial_;  // of the matrix's rows, what this rank has of a product
  Vector incoming_;
  double zeta_ = 0;  // what the eigenvalue is estimated to be
  double residual_ = 0;
};

}  // namespace npb
