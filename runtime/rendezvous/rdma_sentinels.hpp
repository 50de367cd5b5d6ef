// Which pages of a message are there while one read or write of an adapter still brings the rest: a sentinel in the last byte of
// each page, put there before the transfer begins. The granularity that the early-release paper left for the future (ER section
// 5). Chunk completions tell the same of rdrp, in larger steps, and cost one notification each.
//
// Sound because
// * all these bytes lie within the message, so each is overwritten in the end, and nothing has to be put back;
// * the transfer is not posted, or its sender not cleared, before all of them are set;
// * the adapter places data in order (Rdma::places_in_order; otherwise there are none), so a changed byte says that its page and
//   all before it are there, and nothing comes to them any more: who is let in may write there;
// * a page whose data has the sentinel's value at that place is not seen, but known as soon as a later one is, and at the end by
//   the completion, the last byte or the fin, as without sentinels. The value is random, so that it is rarely that of all pages.
//
// The last byte of the message has none: get has a value of its own there.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/rdma_transfer.hpp"

namespace sluice {

class RdmaSentinels {
 public:
  RdmaSentinels(std::uint64_t seed, const MemoryUsers& users, EngineStatistics& statistics)
      : random_state_(seed), users_(users), statistics_(statistics) {}

  /// Before the transfer begins. Only where pages may come under guard: at an alias.
  void set(Request& receive);
  /// Moves `offset` to the end of what is there.
  void look(Request& receive);
  /// Also of last bytes (put).
  std::byte random_byte();

 private:
  std::uint64_t random_state_;
  const MemoryUsers& users_;
  EngineStatistics& statistics_;
};

}  // namespace sluice
