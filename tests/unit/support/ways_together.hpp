// Everything of the room of large messages over the engine's rooms, without threads and without a face, for the tests of what
// stands between them: sends, announcements, replies, arrivals. One process; its peer is what the test says.
#pragma once

#include "runtime/engine/small_sends.hpp"
#include "runtime/rendezvous/frequent_sender.hpp"
#include "runtime/rendezvous/node_way.hpp"
#include "runtime/rendezvous/offload.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/put_sender.hpp"
#include "runtime/rendezvous/rdma_way.hpp"
#include "runtime/rendezvous/replies.hpp"
#include "runtime/rendezvous/rts_sender.hpp"
#include "runtime/rendezvous/sender.hpp"
#include "runtime/rendezvous/stream_way.hpp"
#include "tests/unit/support/engine_below.hpp"

namespace sluice {

class WaysTogether : public EngineBelow {
 public:
  explicit WaysTogether(Transport& transport, const Config& config = {}, AliasArena* arena = nullptr)
      : EngineBelow(Peer{0}, transport, config, arena) {}

  ApplicationNow application{.inside = 1};
  SmallSends small_sends{job, outbox, causality, statistics};
  CopierChoice copiers{job, requests, lines, application};
  NodeWay node_way{{job, outbox, requests, blocks, users, matches, lines, statistics, copiers, offload, all_ways}};
  StreamWay stream_way{{job, outbox, requests, matches, statistics}};
  Unasked unasked{job.size};
  RdmaWay rdma_way{{job, registrations, transfers, statistics, blocks, users, outbox, requests, matches, all_ways, unasked}};
  Offload offload{
      {job.config, job.transport, job.transport, job.transport, transfers, rdma_way, node_way.delivery(), statistics}};
  PutReceiver put_receiver{{job, outbox, requests, causality, matches, rdma_way, transfers, small_sends.numbers(), statistics}};
  FrequentSender frequent_sender{{job, requests, blocks, users, registrations, transfers, statistics}};
  RtsSender rts_sender{{job, outbox, requests, small_sends, blocks, users, lines, rdma_way, offload}};
  PutSender put_sender{sender, {job, outbox, matcher, rdma_way, small_sends.numbers(), statistics}};
  Sender sender{{job, outbox, requests, causality, small_sends, rts_sender, put_sender, frequent_sender, statistics}};
  Ways all_ways{{job, requests, lines, frequent_sender.under_way()}, {&node_way, &stream_way}};
  Replies replies{{job, requests, all_ways, put_receiver, rts_sender}};
};

}  // namespace sluice
