// What slices that are not shown one by one add up to: for each lane and bin of time, how many of each kind there were and how
// long they took. Time is divided into a fixed number of bins, whose width doubles whenever the trace turns out to be longer.
//
// Threading: one thread for each object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/timeline/pieces.hpp"

namespace sluice::timeline {

class Density {
 public:
  struct Cell {
    std::uint64_t time_ns = 0;  // of the slices within this bin
    std::uint32_t begun = 0;    // slices that begin in it
  };
  using Bin = std::array<Cell, slice_kinds>;

  explicit Density(std::size_t lanes);

  void add(const Slice& slice) { add(slice.lane, slice.kind, slice.begin_ns, slice.duration_ns); }
  void add(std::uint32_t lane, SliceKind kind, std::int64_t begin_ns, std::uint64_t duration_ns);

  [[nodiscard]] std::uint64_t bin_ns() const { return bin_ns_; }
  /// By lane, then bin; a lane of which nothing was added has none.
  [[nodiscard]] const std::vector<std::vector<Bin>>& lanes() const { return lanes_; }

 private:
  void make_room_until(std::uint64_t end_ns);

  std::size_t bins_;
  std::uint64_t bin_ns_ = 1024;
  std::vector<std::vector<Bin>> lanes_;
};

}  // namespace sluice::timeline
