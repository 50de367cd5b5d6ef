// The engine's inside: the objects that it is made of, in the order of their construction, and waiting in calls (engine_wait.cpp,
// engine_settle.cpp).
//
// Objects are given references to others that are made later; they use them when all are there.
//
// Everything here belongs to the engine lock unless said otherwise. Functions that take a `Lock&` may give it up and take it
// again; pointers to requests stay valid then only if the caller owns them.
#pragma once

#include <memory>
#include <span>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/collective/teams.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/causality.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/message_lines.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/sleepers.hpp"
#include "runtime/engine/small_sends.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/helper_thread.hpp"
#include "runtime/page_waits.hpp"
#include "runtime/progress.hpp"
#include "runtime/registration/job_registrations.hpp"
#include "runtime/rendezvous/announcer.hpp"
#include "runtime/rendezvous/arrivals.hpp"
#include "runtime/rendezvous/consequences.hpp"
#include "runtime/rendezvous/copy_choice.hpp"
#include "runtime/rendezvous/frequent_sender.hpp"
#include "runtime/rendezvous/node_way.hpp"
#include "runtime/rendezvous/offload.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/put_sender.hpp"
#include "runtime/rendezvous/rdma_transfers.hpp"
#include "runtime/rendezvous/rdma_way.hpp"
#include "runtime/rendezvous/replies.hpp"
#include "runtime/rendezvous/sender.hpp"
#include "runtime/rendezvous/stream_way.hpp"
#include "runtime/rendezvous/ways.hpp"
#include "runtime/waiter.hpp"

namespace sluice {

struct EarlyReturn;  // release/early_return.hpp

struct Engine::State final {
  explicit State(const Parts& parts);
  ~State();

  // --- waiting (engine_wait.cpp)
  void wait_all(Lock& lock, std::span<Request* const> requests, CallSite site);

  [[nodiscard]] ForkedBlocks::InUse memory_in_use() const;

  EngineLock mutex;
  const Job job;
  Sleepers sleepers{job.transport};
  Outbox outbox{job, sleepers, match_trace, sender};
  SmallSends small_sends{job, outbox, causality, statistics};
  MessageLines message_lines{{job.calibration, job.caches, job.oversubscribed}, job.transport, job.size};

  JobRegistrations job_registrations{job.arena,
                                     {job.config.reg_bytes, job.config.reg_entries}};  // before the requests, which use it
  RdmaTransfers rdma_transfers{job.transport};

  alignas(cache_line) Requests all_requests{job, statistics, sleepers, consequences};
  EngineStatistics statistics;
  Causality causality{consequences};
  Matcher matcher{job, all_requests, outbox, causality, match_trace, consequences};

  NodeWay node_way{
      {job, outbox, all_requests, blocks, memory_users, match_trace, message_lines, statistics, copier_choice, offload, ways}};
  StreamWay stream_way{{job, outbox, all_requests, match_trace, statistics}};
  // Of these every poll looks at a few words, which each has in one line of cache.
  alignas(cache_line) RdmaWay rdma_way{
      {job, job_registrations, rdma_transfers, statistics, blocks, memory_users, outbox, all_requests, match_trace, ways}};
  alignas(cache_line) PutReceiver put_receiver{
      {job, outbox, all_requests, causality, match_trace, rdma_way, rdma_transfers, small_sends.numbers(), statistics}};
  PutSender put_sender{sender, {job, outbox, matcher, rdma_way, small_sends.numbers(), statistics}};
  Offload offload{{.config = job.config,
                   .memory = job.transport,
                   .hints = job.transport,
                   .adapters = job.transport,
                   .transfers = rdma_transfers,
                   .memories = rdma_way,
                   .delivery = node_way.delivery(),
                   .statistics = statistics}};
  std::unique_ptr<EarlyReturn> early_return;
  FrequentSender frequent_sender{{job, all_requests, blocks, memory_users, job_registrations, rdma_transfers, statistics}};
  Ways ways{{job, all_requests, message_lines, frequent_sender.under_way()}, {&rdma_way, &node_way, &stream_way}};
  Announcer announcer{{job, outbox, all_requests, small_sends, blocks, memory_users, message_lines, rdma_way, offload}};
  Sender sender{{job, outbox, all_requests, causality, small_sends, announcer, put_sender, frequent_sender, statistics}};
  Replies replies{{job, all_requests, ways, put_receiver, announcer}};

  Teams teams;
  Progress progress{{.lock = mutex,
                     .sleepers = sleepers,
                     .blocks = blocks,
                     .work = {.sink = arrivals,
                              .outbox = outbox,
                              .stream = stream_way,
                              .rdma = rdma_way,
                              .put_receiver = put_receiver,
                              .put_sender = put_sender,
                              .node = node_way,
                              .requests = all_requests,
                              .causality = causality,
                              .frequent = frequent_sender,
                              .transfers = rdma_transfers,
                              .teams = teams,
                              .job = job}}};
  Arrivals arrivals{{put_receiver, matcher, progress.application(), all_requests, outbox, put_sender, replies, rdma_transfers,
                     offload, stream_way, rdma_way}};
  AliasBlocks blocks;
  MatchTrace match_trace{job.config};
  MemoryUsers memory_users{job, job_registrations, match_trace};
  CopierChoice copier_choice{job, all_requests, message_lines, progress.application()};
  Consequences consequences{
      {job, outbox, matcher, causality, sender, ways, node_way, copier_choice, put_receiver, rdma_transfers}};
  PageWaits page_waits;
  HelperThread helper_thread;
};

}  // namespace sluice
