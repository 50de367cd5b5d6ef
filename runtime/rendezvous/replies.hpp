// What comes for one request of this process: answers to its messages, and the bytes that it asked for. Each is checked before
// anything else sees it, and goes to who has to do with it.
//
// Owns nothing. It does not know how the ways of large messages differ: what is theirs goes to Ways.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/engine/job.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/rts_sender.hpp"
#include "runtime/rendezvous/ways.hpp"

namespace sluice {

class Replies {
 public:
  struct Parts {
    const Job& job;
    Requests& requests;
    Ways& ways;
    PutReceiver& put_receiver;
    RtsSender& rts_sender;
  };
  explicit Replies(const Parts& parts) : parts_(parts) {}

  /// cts, refuse, data, fin, ack; ends the job when it cannot be one.
  void on_reply(Peer from, const WireHeader& header, std::span<const std::byte> payload);
  /// As MessageSink says, of `data`: straight into the buffer, through its alias where it is under guard. Asked for every segment
  /// again, since a release may come between two of them.
  std::span<std::byte> place(Peer from, const WireHeader& header, std::size_t max_bytes);
  void on_placed(Peer from, const WireHeader& header, std::size_t bytes);

 private:
  /// The operation of this process that a message names.
  [[nodiscard]] Request& named_request(Peer from, const WireHeader& header);
  void on_clearance(Request& send, const ClearToSend& clear);
  void on_refusal(Request& receive, std::size_t offset);
  void on_data(Request& receive, std::span<const std::byte> payload);
  void on_end(Request& request, const WireHeader& header, std::span<const std::byte> payload);
  void note_progress(Request& receive);

  const Parts parts_;
};

}  // namespace sluice
