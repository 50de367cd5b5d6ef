// How much a process may have under way that it reads from others: one window over all peers, sized by delay. Bounds of each
// message alone (RD section 3.2: c reads) add up over senders: 64 of them fill the receiver's link for milliseconds, and all that
// others send it waits behind that. A receiver whose memory is slow fills the network as well (RD section 4.1).
//
// The rule. A round is as many bytes as the window has, or as were under way at once where that was less. At its end the smallest
// time of one of its reads is held against a target: the time of a read that waits for nobody, and `allowed_delay_ns`. Above it
// the window shrinks, by half at most. Below it the window grows by one chunk, if half of it was filled and more was wanted than
// it let pass. So what is under way comes to rate x target, and no bandwidth is configured. The smallest time, because what all
// peers have in common is the receiver's doing; what one has alone is its sender's. A round that neither filled half of the
// window nor wanted more says nothing of it.
//
// Peers take turns, a chunk each; that is the caller's to do. Units: bytes, and nanoseconds of any clock that does not go back.
// Not found elsewhere: UCX bounds the bytes of reads by a constant; Swift and EQDS adapt in the sender or in the adapter.
//
// Plain arithmetic: sends nothing, takes no lock, knows no clock. Belongs to whoever owns it, one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

class ReadWindow {
 public:
  static constexpr std::size_t least_chunk = 16 * 1024;
  static constexpr std::size_t most_chunk = 128 * 1024;
  static constexpr std::size_t least = 2 * least_chunk;
  static constexpr std::size_t first = 8 * most_chunk;
  static constexpr std::size_t most = 64 * most_chunk;
  /// So many hide the time between two reads of one peer; more of them would only queue.
  static constexpr std::size_t most_reads_of_peer = 4;
  /// Keeps a single stream at 100 Gbit/s as it is without a window: 4 x 128 KB under way.
  static constexpr std::uint64_t usual_delay_ns = 40'000;

  explicit ReadWindow(std::uint64_t allowed_delay_ns = usual_delay_ns) : allowed_delay_ns_(allowed_delay_ns) {}
  /// One that stays as it is.
  [[nodiscard]] static ReadWindow fixed(std::size_t bytes) {
    ReadWindow window;
    window.window_ = bytes;
    window.adapts_ = false;
    return window;
  }

  [[nodiscard]] std::size_t bytes() const { return window_; }
  [[nodiscard]] std::size_t under_way() const { return under_way_; }
  /// Of a read: whole pages, so that pages arrive whole.
  [[nodiscard]] std::size_t chunk() const {
    return std::clamp(window_ / most_reads_of_peer / page_bytes * page_bytes, least_chunk, most_chunk);
  }
  /// What the smallest time of a round is held against.
  [[nodiscard]] std::uint64_t target_ns() const { return undelayed_ns() + allowed_delay_ns_; }

  /// Who wants to read.
  struct Wish {
    std::size_t bytes = 0;
    std::size_t reads_of_peer = 0;  // under way from the same peer
    std::size_t peers = 1;          // from which something is to be read
  };
  /// Whether that read may be posted now; it counts as under way then. With nothing under way it always may: nobody waits for
  /// ever.
  [[nodiscard]] bool take(const Wish& wish, std::uint64_t now_ns);
  /// What was taken was not posted after all.
  void withdraw(std::size_t bytes) { under_way_ -= bytes; }
  /// A read is complete. Not `timely`: its end was noticed late, so its time says nothing. Whether the window shrank.
  bool give_back(std::size_t bytes, std::uint64_t posted_ns, std::uint64_t now_ns, bool timely = true);

 private:
  static constexpr std::uint64_t no_time = ~std::uint64_t{0};

  [[nodiscard]] std::uint64_t undelayed_ns() const;
  bool end_round(std::uint64_t now_ns);

  std::uint64_t allowed_delay_ns_;
  std::size_t window_ = first;
  bool adapts_ = true;
  std::size_t under_way_ = 0;
  std::uint64_t idle_since_ns_ = 0;  // while nothing is under way
  // The quickest read of all, and the most bytes that a round had for each ns in which something was under way.
  std::uint64_t quickest_ns_ = no_time;
  std::size_t quickest_bytes_ = 0;
  double most_rate_ = 0;
  // This round.
  std::uint64_t round_begun_ns_ = 0;
  std::size_t round_bytes_ = 0;
  std::size_t round_most_ = 0;  // under way at once
  std::uint64_t round_least_ns_ = no_time;
  bool wanted_more_ = false;
};

}  // namespace sluice
