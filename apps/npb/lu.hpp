// LU: symmetric successive over-relaxation. The sweeps run as wavefronts over the ranks: for each plane a small message comes
// from north and west and goes on to south and east, and on the way back the other way around. Between sweeps neighbours exchange
// halos, whose receives are posted before the sweeps.
#pragma once

#include <array>
#include <vector>

#include "apps/npb/kernel.hpp"
#include "apps/npb/lu_block.hpp"
#include "apps/npb/lu_grid.hpp"
#include "apps/npb/options.hpp"
#include "apps/support/requests.hpp"

namespace npb {

class Lu final : public Kernel {
 public:
  Lu(const LuClass& size, apps::World world);

  void run() override;
  std::uint64_t results() override;
  Verdict verdict() override;
  bool equals_serial() override;

 private:
  void sweep(LuBlock::Sweep which);
  void receive_edge(Side side, std::size_t plane);
  void send_edge(Side side, std::size_t plane);
  void post_halo();
  void exchange_halo();
  [[nodiscard]] double norm();
  [[nodiscard]] static std::uint64_t combine(const std::vector<std::uint64_t>& hashes);

  const LuClass size_;
  const apps::World world_;
  const LuGrid grid_;
  LuBlock block_;
  std::vector<double> edge_;                               // of one plane, on its way
  std::array<std::vector<double>, sides.size()> halo_in_;  // by side
  std::array<std::vector<double>, sides.size()> halo_out_;
  apps::Requests receives_;
  double first_norm_ = 0;
  double last_norm_ = 0;
  std::uint64_t results_ = 0;
};

}  // namespace npb
