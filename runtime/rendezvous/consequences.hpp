// What follows in this room from what happens in the engine's: a match begins a transfer, what was held back leaves, and an
// operation that is over gives back what it holds.
//
// Owns nothing. Belongs to the engine lock.
#pragma once

#include <cstdint>

#include "runtime/engine/causality.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/rendezvous/copy_choice.hpp"
#include "runtime/rendezvous/node_way.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/rdma_transfers.hpp"
#include "runtime/rendezvous/sender.hpp"
#include "runtime/rendezvous/ways.hpp"

namespace sluice {

class Consequences final : public Matcher::Host, public Causality::Sink, public Requests::Host {
 public:
  struct Parts {
    const Job& job;
    Outbox& outbox;
    Matcher& matcher;
    Causality& causality;
    Sender& sender;
    Ways& ways;
    NodeWay& node_way;
    CopierChoice& copiers;
    PutReceiver& put_receiver;
    RdmaTransfers& transfers;
  };
  explicit Consequences(const Parts& parts) : parts_(parts) {}

  // --- of a match
  void leave_rtrs(Request& receive) override { parts_.put_receiver.leave(receive); }
  void begin_transfer(Request* receive, std::size_t coming) override { parts_.ways.begin(*receive, coming); }

  // --- of an end of what held others back
  void send_held(Request& send) override { parts_.sender.transmit(send); }
  void begin_held(Request& receive) override { parts_.ways.begin(receive); }
  void acknowledge_held(Peer peer, std::uint64_t subject, std::uint32_t traced) override;

  // --- of an end
  void end_elsewhere(Request& request) override;
  void drop(Context* context) override { parts_.matcher.drop(context); }

 private:
  const Parts parts_;
};

}  // namespace sluice
