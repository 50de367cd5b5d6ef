// The objects that the engine is made of, in the order of their construction, and nothing else. Files of the face see it; callers
// of the engine see engine.hpp only.
//
// Objects are given references to others that are made later; they use them when all are there. The last one, `background`,
// starts threads, which need all of them.
//
// Everything here belongs to the engine lock unless said otherwise.
#pragma once

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/background.hpp"
#include "runtime/collective/teams.hpp"
#include "runtime/collective_calls.hpp"
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
#include "runtime/far_windows.hpp"
#include "runtime/helper_thread.hpp"
#include "runtime/lane_calls.hpp"
#include "runtime/page_waits.hpp"
#include "runtime/progress.hpp"
#include "runtime/registration/job_registrations.hpp"
#include "runtime/release/bounced_sends.hpp"
#include "runtime/release/release_ways.hpp"
#include "runtime/release/released_memory.hpp"
#include "runtime/release/releases.hpp"
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
#include "runtime/rendezvous/rts_sender.hpp"
#include "runtime/rendezvous/sender.hpp"
#include "runtime/rendezvous/stream_way.hpp"
#include "runtime/rendezvous/unasked.hpp"
#include "runtime/rendezvous/ways.hpp"
#include "runtime/request_waits.hpp"
#include "runtime/window/waits.hpp"

namespace sluice {

struct Engine::Impl final {
  explicit Impl(const Parts& parts) : job(parts) {}

  SmallSends::AtOnce send_at_once(Context& context, Rank to, Tag tag, std::span<const std::byte> data, Caller caller,
                                  FrequentSender::Counted& counted);

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
  Unasked unasked{job.size};
  // Of these every poll looks at a few words, which each has in one line of cache.
  alignas(cache_line) RdmaWay rdma_way{{job, job_registrations, rdma_transfers, statistics, blocks, memory_users, outbox,
                                        all_requests, match_trace, ways, unasked}};
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
  ReleaseWays release_ways{rdma_way, node_way, put_receiver};
  Releases releases{job,
                    blocks,
                    causality,
                    release_ways,
                    {node_way.copies().busy(), put_receiver.open_rtrs(), all_requests.counts().operations},
                    statistics};
  ReleasedMemory released_memory{causality};
  BouncedSends bounced_sends{job, request_waits, all_requests.bounced_bytes(), statistics};
  FrequentSender frequent_sender{{job, all_requests, blocks, memory_users, job_registrations, rdma_transfers, statistics}};
  Ways ways{{job, all_requests, message_lines, frequent_sender.under_way()}, {&rdma_way, &node_way, &stream_way}};
  RtsSender rts_sender{{job, outbox, all_requests, small_sends, blocks, memory_users, message_lines, rdma_way, offload}};
  Sender sender{{job, outbox, all_requests, causality, small_sends, rts_sender, put_sender, frequent_sender, statistics}};
  Replies replies{{job, all_requests, ways, put_receiver, rts_sender}};

  Teams teams;
  LaneCalls lane_calls{{job, all_requests, statistics}};
  WindowWaits window_waits;
  FarWindows far_windows{{job, all_requests, matcher, small_sends, sender, put_receiver, sleepers, statistics}};
  CollectiveCalls collective_calls{{job, all_requests, matcher, sender, put_receiver, node_way.copies(), statistics}};
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
                              .window_waits = window_waits,
                              .collective_calls = collective_calls,
                              .lane_calls = lane_calls,
                              .far_windows = far_windows,
                              .job = job}}};
  Arrivals arrivals{{put_receiver, matcher, progress.application(), all_requests, outbox, put_sender, replies, rdma_transfers,
                     offload, stream_way, rdma_way}};
  AliasBlocks blocks{job.arena, memory_users};
  MatchTrace match_trace{job.config};
  MemoryUsers memory_users{job, job_registrations, match_trace};
  CopierChoice copier_choice{job, all_requests, message_lines, progress.application()};
  Consequences consequences{
      {job, outbox, matcher, causality, sender, ways, node_way, copier_choice, put_receiver, rdma_transfers}};
  RequestWaits request_waits{{progress, releases, bounced_sends, statistics}};
  PageWaits page_waits{progress, releases, released_memory};
  HelperThread helper_thread{{progress, releases, statistics}};
  Background background{{progress, blocks, releases, memory_users, page_waits, helper_thread}};
};

}  // namespace sluice
