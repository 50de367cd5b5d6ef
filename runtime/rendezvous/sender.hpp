// Sends that have a request: from the call until the message has left, or is announced.
//
// Order: a message to a peer goes out directly only when nothing is queued for that peer and nothing is held back; so messages of
// one process to one peer enter the transport in the order of the calls (MPI's non-overtaking rule).
//
// Owns nothing but its collaborators: what is under way is in the request. It asks PutSender whether a message waits for its
// receiver, and is asked to send it when its turn has come; it does not know how a large one travels.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>

#include "runtime/engine/causality.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/small_sends.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/frequent_sender.hpp"
#include "runtime/rendezvous/put_sender.hpp"
#include "runtime/rendezvous/rts_sender.hpp"

namespace sluice {

class Sender final : public Outbox::Host, public PutSender::Host {
 public:
  using AtOnce = SmallSends::AtOnce;

  struct Parts {
    const Job& job;
    Outbox& outbox;
    Requests& requests;
    Causality& causality;
    SmallSends& small_sends;
    RtsSender& rts_sender;
    PutSender& put_sender;
    FrequentSender& frequent_sender;
    EngineStatistics& statistics;
  };
  explicit Sender(const Parts& parts) : parts_(parts) {}

  /// Sends now, or as soon as causality and room permit. The request may be complete on return.
  void start(Request* send, AtOnce tried = AtOnce::not_tried);
  /// Nothing holds it back (any more).
  void transmit(Request& send) { parts_.put_sender.goes_at_once(send) ? send_in_turn(send) : parts_.put_sender.transmit(send); }
  void send_in_turn(Request& send) override;
  void eager_sent(Request* send) override;

 private:
  Request* make_detached_copy(Request& send);

  const Parts parts_;
};

}  // namespace sluice
