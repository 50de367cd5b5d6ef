// The engine's inside. One file per concern implements it: in engine/ send, receive, arrival (matching), reply and probe, in
// rendezvous/ what moves a large message, and beside engine.hpp engine_wait and engine_settle. Progress is an object of its own.
// Early return is an object of its own (release/early_return.hpp).
//
// Everything here belongs to the engine lock unless said otherwise. Functions that take a `Lock&` may give it up and take it
// again; pointers to requests stay valid then only if the caller owns them.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/causality.hpp"
#include "runtime/engine/delivery.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/message_lines.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/peer_numbers.hpp"
#include "runtime/engine/pending.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/helper_thread.hpp"
#include "runtime/machine/calibration.hpp"
#include "runtime/page_waits.hpp"
#include "runtime/policy/announcement_budget.hpp"
#include "runtime/policy/unchanged_sends.hpp"
#include "runtime/progress.hpp"
#include "runtime/registration/job_registrations.hpp"
#include "runtime/rendezvous/frequent_sender.hpp"
#include "runtime/rendezvous/node_way.hpp"
#include "runtime/rendezvous/offload.hpp"
#include "runtime/rendezvous/packing.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/put_sender.hpp"
#include "runtime/rendezvous/rdma_way.hpp"
#include "runtime/rendezvous/stream_way.hpp"
#include "runtime/rendezvous/ways.hpp"
#include "runtime/trace/kinds.hpp"
#include "runtime/waiter.hpp"

namespace sluice {

struct EarlyReturn;  // release/early_return.hpp

struct Engine::State final : MessageSink, Causality::Sink, Outbox::Host, Requests::Host {
  explicit State(const Parts& parts);
  ~State();

  // --- sending (engine/send.cpp) ------------------------------------------------------------------------------------
  /// What is known of a message when it has been tried to send it without a request.
  enum class AtOnce : std::uint8_t { has_left, not_tried, had_no_room, is_for_one_copy };
  /// Sends now, or as soon as causality and room permit. The request may be complete on return.
  void start_send(Request* send, AtOnce tried = AtOnce::not_tried);
  /// The hot path: a small contiguous message with nothing in its way. False: nothing was done.
  AtOnce send_at_once(const Context& context, Rank to, Tag tag, const std::byte* data, std::size_t bytes);
  void send_in_turn(Request* send);
  /// A message that takes part in matching gets its place among those to that peer.
  void number(MessageHeader& header, Peer to);
  void eager_sent(Request* send) override;
  void note_departure(Request& send, MessageKind kind, std::size_t payload_bytes);
  [[nodiscard]] bool is_eager(const Request& send) const {
    return send.bytes <= job.eager_limit_of(send.peer) && !send.single_copy;
  }
  /// If it is in an alias block, it had better be announced although it is short enough to go at once.
  [[nodiscard]] bool is_for_one_copy(Peer to, const std::byte* data, std::size_t bytes);
  /// Bytes of payload that left: the announcement, and the first bytes of the message where they may come along.
  std::size_t announce(Request& send, MessageHeader header, const ReadyToSend& rts);
  void note_answer(Request& send);
  void on_room(Peer peer) override;

  // --- receiving (engine/receive.cpp) -------------------------------------------------------------------------------
  void post(Request* receive);
  void end_elsewhere(Request& request) override;
  void drop(Context* context) override { matcher.drop(context); }

  // --- what arrives and is matched (engine/arrival.cpp) -------------------------------------------------------------
  void on_message(Peer from, const MessageHeader& header, std::span<const std::byte> payload) override;
  Begun begin(Peer from, const MessageHeader& header, std::span<const std::byte> head) override;
  /// Where one message is waited for, the next has no receive yet, and would be kept in a copy.
  [[nodiscard]] bool takes_another() const override {
    return progress.application().awaits_many && all_requests.counts().open_receives != 0;
  }
  /// What Matcher asks of the rest.
  class MatchHost final : public Matcher::Host {
   public:
    explicit MatchHost(State& state) : state_(state) {}
    void leave_announcements(Request& receive) override;
    void begin_transfer(Request* receive, std::size_t coming) override;

   private:
    State& state_;
  };
  void deliver(Request& receive, std::span<const std::byte> payload) { sluice::deliver(receive, payload, job.arena); }

  // --- what arrives for one request (engine/reply.cpp) --------------------------------------------------------------
  void on_reply(Peer from, const MessageHeader& header, std::span<const std::byte> payload);
  std::span<std::byte> place(Peer from, const MessageHeader& header, std::size_t most) override;
  void on_placed(Peer from, const MessageHeader& header, std::size_t bytes) override;
  /// The operation of this process that a message names.
  Request* named_request(Peer from, const MessageHeader& header);

  // --- large messages (rendezvous/transfer.cpp) -------------------------------------------------------------------------
  static void note_progress(const Request& request);
  void on_clear_to_send(Request* send, const ClearToSend& clear);
  /// [lock not held] `sends`: a count that belongs to the lock.
  void wait_until_none(const std::size_t& sends);

  // --- small messages from the program's memory (rendezvous/frequent_sender.hpp) -----------------------------------------
  /// Counts the message; whether its buffer is used often enough to be registered.
  [[nodiscard]] bool is_frequent(const Context& context, Rank to, const std::byte* data, std::size_t bytes) {
    return frequent_sender.counts(bytes) && frequent_sender.count(context.peer(to), ByteRange::of(data, bytes));
  }

  // --- by RDMA (rendezvous/rdma_way.hpp) ----------------------------------------------------------------------------------
  [[nodiscard]] Rdma* rdma_for(Peer peer) const { return peer == job.self ? nullptr : job.transport->rdma(peer); }
  void on_transferred(std::uint64_t token) override { rdma_transfers.on_transferred(token); }

  // --- receives announced to their senders (rendezvous/receiver_initiated.hpp) --------------------------------------------
  /// What PutSender asks of the rest.
  class PutHost final : public PutSender::Host {
   public:
    explicit PutHost(State& state) : state_(state) {}
    void send_in_turn(Request& send) override { state_.send_in_turn(&send); }

   private:
    State& state_;
  };
  void transmit(Request* send) { put_sender.goes_at_once(*send) ? send_in_turn(send) : put_sender.transmit(*send); }

  // --- what comes for large messages --------------------------------------------------------------------------------
  void offer_to_adapter(Request& send, MessageHeader& header, ReadyToSend& rts) { offload.offer(send, header, rts); }
  void on_transfer_failed(std::uint64_t token) override { offload.failed(token); }
  void on_fin(Request* request, std::uint8_t flags) { ways.ended(*request, flags); }
  void on_refuse(Request* receive, std::size_t offset);

  // --- waiting (engine_wait.cpp)
  void wait_all(Lock& lock, std::span<Request* const> requests, CallSite site);

  [[nodiscard]] ForkedBlocks::InUse memory_in_use() const;

  // --- what was held back for causality (engine/causality.hpp) -------------------------------------------------------
  void send_held(Request& send) override { transmit(&send); }
  void begin_held(Request& receive) override { ways.begin(receive); }
  void acknowledge_held(Peer peer, std::uint64_t subject, std::uint32_t traced) override;

  [[nodiscard]] bool offers_block(const Request& send) {
    return send.peer != job.self && !send.has_gaps() && !send.owned && job.transport->can_read_blocks(send.peer) &&
           blocks.offer(ByteRange::of(send.data, send.bytes));
  }
  [[nodiscard]] std::ptrdiff_t alias_distance(ByteRange block) const { return blocks.distance(block); }

  EngineLock mutex;
  const Job job;
  Sleepers sleepers{job.transport};
  Outbox outbox;
  std::vector<AnnouncementBudget> budgets;  // by peer
  UnchangedSends unchanged_sends;
  MessageLines message_lines;

  JobRegistrations job_registrations{job.arena,
                                     {job.config.reg_bytes, job.config.reg_entries}};  // before the requests, which use it
  RdmaTransfers rdma_transfers{job.transport};

  Requests all_requests;
  EngineStatistics statistics;
  Causality causality;
  MatchHost match_host{*this};
  Matcher matcher{job, all_requests, outbox, causality, match_trace, match_host};

  NodeWay node_way{
      {job, outbox, all_requests, blocks, memory_users, match_trace, message_lines, statistics, copier_choice, offload, ways}};
  StreamWay stream_way{{job, outbox, all_requests, match_trace, statistics}};
  std::vector<PeerNumbers> matching;  // by peer
  PutHost put_host{*this};
  // Of these every poll looks at a few words, which each has in one line of cache.
  alignas(cache_line) RdmaWay rdma_way{
      {job, job_registrations, rdma_transfers, statistics, blocks, memory_users, outbox, all_requests, match_trace, ways}};
  alignas(cache_line) PutReceiver put_receiver{
      {job, outbox, all_requests, causality, match_trace, rdma_way, rdma_transfers, matching, statistics}};
  PutSender put_sender{put_host, {job, outbox, matcher, rdma_way, matching, statistics}};
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

  Progress progress{{.lock = mutex,
                     .sleepers = sleepers,
                     .blocks = blocks,
                     .work = {.sink = *this,
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
                              .job = job}}};
  AliasBlocks blocks;
  MatchTrace match_trace{job.config};
  MemoryUsers memory_users{job, job_registrations, match_trace};
  CopierChoice copier_choice{job, all_requests, message_lines, progress.application()};
  PageWaits page_waits;
  HelperThread helper_thread;
};

}  // namespace sluice
