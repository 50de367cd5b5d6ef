// All ways of large messages: which one takes a message, and which one hears of what arrives for it.
//
// Owns the list. It moves nothing, and knows none of them by name. A way that cannot go on gives the receive back to `begin`.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/engine/job.hpp"
#include "runtime/engine/message_lines.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/rendezvous/way.hpp"

namespace sluice {

class Ways {
 public:
  struct Parts {
    const Job& job;
    Requests& requests;
    MessageLines& lines;
    const std::size_t& sge_sends;  // small ones under way, that an adapter reads
  };

  /// Of two that ask for the same, the first one is taken. One of them is always possible.
  Ways(const Parts& parts, std::vector<Way*> ways) : parts_(parts), ways_(std::move(ways)) {}

  /// The receive has met its message, or the way that had it could not go on. `coming`: bytes behind `offset` that came with the
  /// announcement and are still to be delivered.
  void begin(Request& receive, std::size_t coming = 0);
  /// These three check nothing: replies.hpp has done that.
  void cleared(Request& send, const ClearToSend& clear);
  void refused(Request& receive, std::size_t offset);
  void ended(Request& request, std::uint8_t flags);

 private:
  [[nodiscard]] Way* carrier_of(const Request& request) const;
  void note_read_by_peer(const Request& send, bool handed_back);

  const Parts parts_;
  const std::vector<Way*> ways_;
};

}  // namespace sluice
