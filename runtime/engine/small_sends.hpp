// Messages that leave at once, without a request: the hot path of a send. And what all messages that take part in matching have
// in common as they leave: their numbers, and whether they had better be announced although they are short.
//
// Owns the numbers of matching by peer, and what is known of messages that are sent again unchanged. It makes no request and
// waits for nothing; what cannot leave now it leaves to Sender (rendezvous/sender.hpp).
//
// One message costs a look at one line of this object, at the counts of its peer, and at what it writes; no virtual call but the
// transport's (tests/unit/runtime/engine/small_message_test.cpp counts).
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/engine/causality.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/peer_numbers.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/policy/unchanged_sends.hpp"

namespace sluice {

class alignas(cache_line) SmallSends {
 public:
  /// What is known of a message when it has been tried to send it without a request.
  enum class AtOnce : std::uint8_t { has_left, not_tried, had_no_room, is_for_one_copy };

  SmallSends(const Job& job, Outbox& outbox, const Causality& causality, EngineStatistics& statistics)
      : outbox_(outbox),
        causality_(causality),
        statistics_(statistics),
        eager_limits_(job.eager_limits.data()),
        single_copy_bytes_(job.single_copy_bytes),
        numbers_(job.size),
        job_(job) {}

  /// A small contiguous message with nothing in its way. But for `has_left` nothing was done. Who asks whether it is for one copy
  /// is told of its last sending once: asked again, it would be the same as it was just now. `copy_ns`: how long its copy took is
  /// wanted, and 0 says that there was none.
  AtOnce send(const Context& context, Rank to, Tag tag, const std::byte* data, std::size_t bytes,
              std::uint64_t* copy_ns = nullptr);

  /// If it is in an alias block, it had better be announced although it is short enough to go at once.
  [[nodiscard]] bool is_for_one_copy(Peer to, const std::byte* data, std::size_t bytes);
  /// A message that takes part in matching gets its place among those to that peer.
  void number(WireHeader& header, Peer to) {
    PeerNumbers& peer = numbers_[static_cast<std::size_t>(to)];
    header.rtrs = peer.rtrs;
    ++peer.sent;
  }
  /// By peer.
  [[nodiscard]] std::span<PeerNumbers> numbers() { return numbers_; }

 private:
  // One line of cache.
  Outbox& outbox_;
  const Causality& causality_;
  EngineStatistics& statistics_;
  const std::size_t* const eager_limits_;  // by peer
  const std::size_t single_copy_bytes_;
  std::vector<PeerNumbers> numbers_;  // by peer

  const Job& job_;
  UnchangedSends unchanged_;
};

}  // namespace sluice
