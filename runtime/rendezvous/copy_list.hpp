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

}  // namespace sluice
