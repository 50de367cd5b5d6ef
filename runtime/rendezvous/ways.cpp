#include "runtime/rendezvous/ways.hpp"

#include <algorithm>

namespace sluice {

void Ways::begin(Request& receive, std::size_t coming) {
  const RequestCounts& counts = parts_.requests.counts();
  receive.matched = true;
  receive.sends_too = counts.pending_sends != parts_.sge_sends;
  receive.sends_before = counts.large_sends;
  std::uint64_t failed = 0;  // a bit for each
  for (;;) {
    std::size_t best = ways_.size();
    std::uint32_t least = Bid::impossible;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      const std::uint32_t moves = (failed >> i & 1) != 0 ? Bid::impossible : ways_[i]->bid(receive, coming).moves;
      if (moves >= least) continue;
      least = moves;
      best = i;
    }
    if (ways_.at(best)->begin(receive, coming)) return;
    failed |= std::uint64_t{1} << best;
  }
}

Way* Ways::carrier_of(const Request& request) const {
  const auto way = std::find_if(ways_.begin(), ways_.end(), [&](const Way* each) { return each->carries(request); });
  return way == ways_.end() ? nullptr : *way;
}

void Ways::cleared(Request& send, const ClearToSend& clear) {
  if (Way* const before = carrier_of(send)) before->leave(send);
  for (Way* const way : ways_) {
    if (way->delivers(clear.delivery)) return way->cleared(send, clear);
  }
}

void Ways::refused(Request& receive, std::size_t offset) {
  if (Way* const way = carrier_of(receive)) way->refused(receive, offset);
}

/// All of it, or the part of a cooperative copy that the receiver made.
void Ways::note_read_by_peer(const Request& send, bool handed_back) {
  if (send.peer == parts_.job.self || send.owned || send.has_gaps()) return;
  if (parts_.job.transport->can_read_blocks(send.peer)) parts_.lines.on_read_by_peer(send, handed_back);
}

/// A fin of chunks that finds no carrier for them has crossed this side's refusal.
void Ways::ended(Request& request, std::uint8_t flags) {
  if (request.is_send()) note_read_by_peer(request, (flags & flag_handed_back) != 0);
  Way* const way = carrier_of(request);
  if (way && way->ended(request)) return;
  if ((flags & flag_of_chunks) != 0) return;
  request.offset = request.limit;
  parts_.requests.finish(&request, trace::with_last);
}

}  // namespace sluice
