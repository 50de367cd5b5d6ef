// FT: a partial differential equation, whose solution at several times comes from one transform of the start and an inverse
// transform for each time. Every rank has some planes of the field. A transform along the third axis needs all planes, so blocks
// are exchanged by MPI_Alltoall, or by the same written out, as RV has it.
#pragma once

#include <vector>

#include "apps/npb/fft.hpp"
#include "apps/npb/kernel.hpp"
#include "apps/npb/options.hpp"
#include "apps/support/parts.hpp"

namespace npb {

class Ft final : public Kernel {
 public:
  /// The number of ranks divides the first and the third axis.
  Ft(const FtClass& size, bool by_pairs, apps::World world);

  void run() override;
  std::uint64_t results() override;
  Verdict verdict() override;
  bool equals_serial() override;

 private:
  using Field = std::vector<Complex>;

  void set_start();
  /// Of planes_, into columns_.
  void transform();
  /// Of columns_, into planes_.
  void invert();
  void transform_planes(Fft::Direction direction);
  void transform_columns(Fft::Direction direction);
  /// Calls `visit(place in the blocks that are exchanged, place in planes_, or in columns_)` for all that this rank has. Blocks
  /// lie in order of the ranks that they go to, or come from.
  template <class Visit>
  void for_each_in_planes(Visit visit) const;
  template <class Visit>
  void for_each_in_columns(Visit visit) const;
  void exchange_blocks();
  void evolve(int time);
  [[nodiscard]] Complex checksum() const;

  const FtClass size_;
  const bool by_pairs_;
  const apps::World world_;
  const apps::Part z_;  // of the planes here
  const apps::Part x_;  // of the columns here
  const std::size_t block_;
  const Fft along_x_;
  const Fft along_y_;
  const Fft along_z_;
  Field planes_;    // by z, y, x
  Field columns_;   // by x, y, z
  Field spectrum_;  // of the start, as columns_
  Field outgoing_;
  Field incoming_;
  std::vector<Complex> checksums_;  // by time, on rank 0
  std::uint64_t results_ = 0;
};

}  // namespace npb
