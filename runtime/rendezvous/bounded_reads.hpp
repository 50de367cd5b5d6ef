// The reads of messages that this process has under way, under one window over all peers (runtime/policy/read_window.hpp;
// SLUICE_READ_WINDOW). RdmaWay takes room before it posts a read, and gives it back with the completion. The chunks of rdrp draw
// from it and follow its size; the single reads of getcqe and get count and are not cut. Reads of coop-hca go through the node's
// own adapter and do not count.
//
// A completion is timed only where this process looked shortly before: else the time is the program's. A peer that has vanished
// ends the job, so room that it holds is not given back.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "runtime/base/types.hpp"
#include "runtime/policy/read_window.hpp"
#include "runtime/transport/rdma.hpp"

namespace sluice {

class BoundedReads {
 public:
  /// `setting`: Config::read_window.
  explicit BoundedReads(std::size_t setting);

  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] bool any() const { return window_.under_way() != 0; }
  [[nodiscard]] const ReadWindow& window() const { return window_; }

  /// Whether such a read may be posted now, by that adapter's clock. It counts from then on.
  [[nodiscard]] bool take(const Rdma& adapter, Peer peer, std::size_t bytes, std::uint64_t now_ns);
  /// That read was not posted after all.
  void withdraw(Peer peer, std::size_t bytes);
  /// A read is over.
  void give_back(Peer peer, std::size_t bytes, std::uint64_t posted_ns);
  /// This process looks for completions now. Only while there are any.
  void look() { looked_ns_ = clock_->time_ns(); }

 private:
  /// Longer ago is not shortly before.
  static constexpr std::uint64_t most_since_look_ns = 10'000;

  void forget(Peer peer);

  bool on_;
  ReadWindow window_;
  std::unordered_map<Peer, std::size_t> reads_of_;  // under way
  std::size_t peers_ = 0;                           // of which any are
  const Rdma* clock_ = nullptr;                     // the adapter of the last read
  std::uint64_t looked_ns_ = 0;
};

}  // namespace sluice
