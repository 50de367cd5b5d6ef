// The copies inside the node that this process has still to make, in their order, and of which peers' messages they are.
//
// Whoever leaves a call asks of each of these peers whether it is asleep. In a window of messages hundreds of copies wait, most
// of them of one peer's: with a look at each copy, 48 KB both ways, MPI_Isend took a fifth of the processor for that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/intrusive_list.hpp"
#include "runtime/base/types.hpp"
#include "runtime/engine/request.hpp"

namespace sluice {

using WorkList = IntrusiveList<Request, &Request::work_link>;

/// [engine lock]
class CopyList {
 public:
  /// Peers are less than that.
  explicit CopyList(std::size_t job_size) : counts_(job_size) { peers_.reserve(job_size); }

  [[nodiscard]] bool empty() const { return in_order_.empty(); }
  [[nodiscard]] Request* first() const { return in_order_.first(); }
  [[nodiscard]] const WorkList& in_order() const { return in_order_; }
  /// Each of them once.
  [[nodiscard]] std::span<const Peer> peers() const { return peers_; }

  /// `place` is on this list; nullptr: at its end.
  void insert_before(Request* place, Request* copy) {
    in_order_.insert_before(place, copy);
    if (count_of(copy)++ == 0) peers_.push_back(copy->peer);
  }
  void push_back(Request* copy) { insert_before(nullptr, copy); }

  void remove(Request* copy) {
    in_order_.remove(copy);
    if (--count_of(copy) == 0) peers_.erase(std::find(peers_.begin(), peers_.end(), copy->peer));
  }
  Request* pop_front() {
    Request* copy = first();
    if (copy) remove(copy);
    return copy;
  }

 private:
  std::uint32_t& count_of(const Request* copy) { return counts_[static_cast<std::size_t>(copy->peer)]; }

  WorkList in_order_;
  std::vector<std::uint32_t> counts_;  // by peer
  std::vector<Peer> peers_;            // with room for all: the fault handler makes progress, too, and allocates nothing for it
};

// Of several messages of one pair the sender writes the first one first, and the receiver reads the last one first, as if they
// were one long message: where the same buffers are used again, each of their lines is written by the same side again. (A line
// that a side writes after the other has waits until it is gone from that one's cache.) Messages of several peers take turns, a
// chunk each. 16 messages of 256 KB one after the other, processors far from each other: 290 µs in turns, 195 so.
//
// Not so where all of them are for one and the same buffer, as benchmarks do: there either side keeps to its end of it only if
// both copy the same message, so the receiver reads the first one first, too. What does not stay in a processor's own cache goes
// chunk by chunk of all these messages, so that each chunk does. Windows of 64, GB/s, the last one first, the first one first, in
// turns: 256 KB 22, 43 and 38; 1 MB 27, 58 and 50; 4 MB 26, 25 and 66 (the receiver alone 35, 37 and 37; the host 21, 16 and 10).

/// Before which one a message belongs whose first chunk is still to be read; nullptr: at the end.
Request* place_of_new(const WorkList& list, const Request& request);
/// ... and one of which a chunk was copied. `leaves_own_cache`: the message and its copy do not stay there.
Request* place_again(const WorkList& list, const Request& request, bool leaves_own_cache);

}  // namespace sluice
