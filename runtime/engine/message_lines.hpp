// In whose caches the lines of large messages' buffers are, at either end, and what follows for who copies them and how: what is
// remembered of this process's buffers (buffer_lines.hpp), of those that peers send from (source_history.hpp), and of what
// copies from and to each peer take (peer_distance.hpp, store_rates.hpp, patience.hpp).
//
// Where processes share processors, the writer may be on this one's, and what it takes to read a line says nothing of the next
// time. There no lines are handed back, and only long messages are left to their senders, if the lines are far at that moment.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/engine/request.hpp"
#include "runtime/machine/calibration.hpp"
#include "runtime/machine/peer_distance.hpp"
#include "runtime/policy/buffer_lines.hpp"
#include "runtime/policy/patience.hpp"
#include "runtime/policy/source_history.hpp"
#include "runtime/policy/store_rates.hpp"
#include "runtime/transport/transport.hpp"

namespace sluice {

/// [engine lock]
class MessageLines {
 public:
  struct Terms {
    const Calibration& calibration;  // lives as long
    ProcessorCaches caches;
    bool oversubscribed = false;  // processes of the node share processors
  };
  /// What else happens at the receiver.
  struct Moment {
    bool one_of_several = false;  // other long messages come at the same time
    bool is_exchange = false;     // it sends as much itself
    bool waits = false;           // the application, in a call
  };

  MessageLines(const Terms& terms, Transport* transport, std::size_t peers)
      : terms_(terms), transport_(transport), buffers_(terms.caches), sources_(terms.caches.own_bytes), peers_(peers) {}

  /// Since the message's buffer was sent last, another has come into it.
  [[nodiscard]] bool are_overwritten(const Request& send) const { return buffers_.are_overwritten(send.data, send.bytes); }
  /// A message has met its receive: enters what is known of both buffers' lines. Nothing is of messages that come from no block.
  void on_match(Request& receive);
  /// Where the peer's processor shares no cache with this one, what is read of its memory is slow to write again there: 64 KB in
  /// 29 µs in place of 2. To wake its helper thread for the copy takes 10.
  [[nodiscard]] bool are_left_to_sender(const Request& receive, Moment moment);
  /// Of a processor that copies such messages: they and their copies do not fit.
  [[nodiscard]] bool leave_own_cache(std::size_t bytes) const { return 2 * bytes > terms_.caches.own_bytes; }
  /// All of it is in place, and the application not at it yet.
  void on_read(const Request& receive);
  /// A peer has read this process's message, and handed its lines back (copy_engine.hpp) or not.
  void on_read_by_peer(const Request& send, bool handed_back);

  [[nodiscard]] StoreRates& of_writing(Peer peer) { return costs_of(peer).writing; }
  [[nodiscard]] StoreRates& of_reading(Peer peer) { return costs_of(peer).reading; }

 private:
  struct Costs {
    StoreRates writing;
    StoreRates reading;
    PeerDistance distance;
    MessageDistance of_messages;
    Patience patience;
  };

  Costs& costs_of(Peer peer) { return peers_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] bool spares(const Request& receive) const;
  [[nodiscard]] SourceLines lines_of_source(const Request& receive) const;
  [[nodiscard]] bool lie_far_away(const Request& receive);
  [[nodiscard]] bool are_far(const Request& receive, Moment moment);
  [[nodiscard]] bool is_in_a_call_soon(const Request& receive, bool may_wait);

  Terms terms_;
  Transport* transport_;
  BufferLines buffers_;
  SourceHistory sources_;
  std::vector<Costs> peers_;
};

}  // namespace sluice
