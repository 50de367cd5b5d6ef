#include "tools/timeline/density.hpp"

#include <algorithm>

namespace sluice::timeline {

namespace {

// 2^17 bins of 13 kinds and 16 bytes are 27 MB.
constexpr std::size_t bins_of_all_lanes = std::size_t{1} << 17;
constexpr std::size_t fewest_bins = 64;
constexpr std::size_t max_bins = 4096;

}  // namespace

Density::Density(std::size_t lanes)
    : bins_(std::clamp(bins_of_all_lanes / std::max<std::size_t>(lanes, 1), fewest_bins, max_bins) & ~std::size_t{1}),
      lanes_(lanes) {}

void Density::add(std::uint32_t lane, SliceKind kind, std::int64_t begin_ns, std::uint64_t duration_ns) {
  const auto begin = static_cast<std::uint64_t>(std::max<std::int64_t>(begin_ns, 0));
  const std::uint64_t end = begin + duration_ns;
  make_room_until(end);
  auto& bins = lanes_[lane];
  if (bins.empty()) bins.resize(bins_);
  const auto number = static_cast<std::size_t>(kind);
  ++bins[begin / bin_ns_][number].begun;
  for (std::uint64_t from = begin; from < end;) {
    const std::uint64_t bin = from / bin_ns_;
    const std::uint64_t to = std::min(end, (bin + 1) * bin_ns_);
    bins[bin][number].time_ns += to - from;
    from = to;
  }
}

void Density::make_room_until(std::uint64_t end_ns) {
  while (end_ns / bin_ns_ >= bins_) {
    bin_ns_ *= 2;
    for (auto& bins : lanes_) {
      for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        const Bin old = bins[bin];
        bins[bin] = {};
        for (std::size_t kind = 0; kind < slice_kinds; ++kind) {
          bins[bin / 2][kind].time_ns += old[kind].time_ns;
          bins[bin / 2][kind].begun += old[kind].begun;
        }
      }
    }
  }
}

}  // namespace sluice::timeline
