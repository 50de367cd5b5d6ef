// What leaves the process, and what waits for room to leave: one queue for each peer.
//
// Order: a message to a peer enters the transport only when nothing is queued for that peer; so messages of one process to one
// peer leave in the order in which they were given to the outbox. Whether one may be given to it yet (MPI's order, released
// receives) others decide.
// It does not know what becomes of a message; it tells its host that a queued eager one has left.
//
// Belongs to the engine lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "runtime/base/types.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/sleepers.hpp"
#include "runtime/transport/self_transport.hpp"

namespace sluice {

class Outbox {
 public:
  class Host {
   public:
    /// An eager message that was queued has entered the transport.
    virtual void eager_sent(Request* send) = 0;

   protected:
    ~Host() = default;
  };

  Outbox(const Job& job, const Sleepers& sleepers, MatchTrace& matches, Host& host);

  /// Nothing waits in front of a message to this peer.
  [[nodiscard]] bool is_free(Peer to) const { return queues_[static_cast<std::size_t>(to)].empty(); }
  /// Messages that wait.
  [[nodiscard]] const std::size_t& queued() const { return queued_; }

  /// As Transport's, to this process itself, too. Only where `is_free`.
  [[nodiscard]] std::byte* reserve(Peer to, std::size_t payload_bytes) {
    return to == self_ ? to_self_.reserve(payload_bytes) : channel_->reserve(to, payload_bytes);
  }
  void commit(Peer to, const WireHeader& header) {
    if (to == self_) {
      to_self_.commit(header);
      sleepers_.wake();  // no transport brings it to a thread that waits
    } else {
      channel_->commit(to, header);
    }
  }
  /// Without a copy in between. False: nothing was done.
  bool send_directly(Peer to, const WireHeader& header, std::span<const std::byte> prefix, const std::byte* data,
                     std::size_t bytes) {
    return to != self_ && channel_->streams_directly(to) && stream_directly(to, header, prefix, {data, bytes});
  }
  /// Eager. False: it is queued, and the host hears when it has left.
  bool send_eager(Request& send, const WireHeader& header);
  void send_control(Peer to, MessageKind kind, std::uint64_t subject, std::span<const std::byte> payload = {},
                    std::uint8_t flags = 0);
  /// To the other side's request.
  void answer(const Request& request, MessageKind kind, std::span<const std::byte> payload = {}, std::uint8_t flags = 0);
  void send_or_queue(Peer to, const WireHeader& header, std::span<const std::byte> payload);

  /// The transport may have room for this peer again.
  void on_room(Peer to);

  /// Messages of this process to itself.
  [[nodiscard]] bool self_pending() const { return to_self_.pending(); }
  int poll_self(MessageSink& sink) { return to_self_.poll(sink); }

  /// Its eager message or announcement has entered the transport, or the queue in front of it, which keeps the order: the trace
  /// is told.
  void note_departure(Request& send, MessageKind kind, std::size_t payload_bytes);
  /// The number of the next eager or rts message to this peer; 0 while no trace is written.
  std::uint32_t traced_number(Peer to, const Context& context);

 private:
  bool stream_directly(Peer to, const WireHeader& header, std::span<const std::byte> prefix, std::span<const std::byte> data);
  /// A message that found no room, or waits behind one that did not.
  struct Queued {
    WireHeader header;
    std::array<std::byte, sizeof(ClearToSend)> control{};
    Request* eager = nullptr;
  };

  Peer self_;
  Channel* channel_;
  const Sleepers& sleepers_;
  Host& host_;
  SelfTransport to_self_;
  std::vector<std::list<Queued>> queues_;  // by peer; an empty list takes nothing
  std::size_t queued_ = 0;                 // in all of them
  TracedNumbers traced_;
  MatchTrace& matches_;
};

}  // namespace sluice
