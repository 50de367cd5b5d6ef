// The engine's inside. One file per concern implements it: in engine/ send, receive, arrival (matching), reply and probe, in
// rendezvous/ what moves a large message, and beside engine.hpp engine_progress, engine_wait, engine_settle and helper_thread.
// Early return is an object of its own (release/early_return.hpp).
//
// Everything here belongs to the engine lock unless said otherwise. Functions that take a `Lock&` may give it up and take it
// again; pointers to requests stay valid then only if the caller owns them.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/causality.hpp"
#include "runtime/engine/delivery.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/message_lines.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/peer_numbers.hpp"
#include "runtime/engine/pending.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/idle_calls.hpp"
#include "runtime/machine/calibration.hpp"
#include "runtime/policy/announcement_budget.hpp"
#include "runtime/policy/hybrid_choice.hpp"
#include "runtime/policy/unchanged_sends.hpp"
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

namespace sluice {

using Lock = std::unique_lock<EngineLock>;
class Waiter;        // engine/waiting.hpp
struct EarlyReturn;  // release/early_return.hpp

struct Engine::State final : MessageSink, FaultWaiter, AliasBlocks::Others, Causality::Sink, Outbox::Host, Requests::Host {
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
  [[nodiscard]] bool takes_another() const override { return awaits_many && all_requests.counts().open_receives != 0; }
  /// What Matcher asks of the rest.
  class MatchHost final : public Matcher::Host {
   public:
    explicit MatchHost(State& state) : state_(state) {}
    void leave_announcements(Request& receive) override;
    void begin_transfer(Request* receive, std::size_t coming) override;
    void note_announcement(const Request& receive, std::uint32_t number, bool unexpected, bool brings_bytes) override;

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
  /// `coming`: bytes behind `offset` that came with the announcement and are still to be delivered.
  void begin_transfer(Request* receive, std::size_t coming = 0);
  void note_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns = 0);
  /// Before anything else that follows from the match. What is to be the time of that (trace::write).
  std::uint64_t tell_match() override;
  static void note_progress(const Request& request);
  void on_clear_to_send(Request* send, const ClearToSend& clear);
  /// [lock not held] `sends`: a count that belongs to the lock.
  void wait_until_none(const std::size_t& sends);
  /// What the ways ask of the rest (rendezvous/node_sinks.cpp).
  class NodeSink final : public NodeHost, public CopierChoice {
   public:
    explicit NodeSink(State& state) : state_(state) {}
    void answer(const Request& request, MessageKind kind, std::span<const std::byte> payload, std::uint8_t flags) override;
    void send_fin_of_chunks(const Request& request, std::uint8_t flags) override;
    void finish(Request& request, std::uint64_t at_ns) override;
    void begin_again(Request& receive) override;
    void fall_back(const Request& request, Fallback reason) override;
    bool is_block(const Request& receive) override;
    void deliver(Request& receive, std::span<const std::byte> payload) override;
    [[nodiscard]] bool kernel_waits_for_pages() const override;
    void tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns) override;
    CopyChoice choose(const Request& receive) override;
    void expect(Request& receive, Copier copier) override;
    void end_expected(Request& receive) override;
    [[nodiscard]] bool may_stay_in_outer_cache(const Request& receive) const override;

   private:
    State& state_;
  };
  class StreamSink final : public StreamWay::Host {
   public:
    explicit StreamSink(State& state) : state_(state) {}
    std::byte* reserve(Peer to, std::size_t payload_bytes) override;
    void commit(Peer to, const MessageHeader& header) override;
    void answer(const Request& receive, MessageKind kind, std::span<const std::byte> payload) override;
    void tell_choice(const Request& receive, trace::Reason reason) override;
    void finish(Request& request) override;

   private:
    State& state_;
  };
  class WaysSink final : public Ways::Host {
   public:
    explicit WaysSink(State& state) : state_(state) {}
    void finish(Request& request) override;
    void read_by_peer(const Request& send, bool handed_back) override;

   private:
    State& state_;
  };

  // --- small messages from the program's memory (rendezvous/frequent_sender.hpp) -----------------------------------------
  /// What FrequentSender asks of the rest (rendezvous/state_sinks.cpp).
  class FrequentHost final : public FrequentSender::Host {
   public:
    explicit FrequentHost(State& state) : state_(state) {}
    bool in_alias_block(ByteRange bytes) override;
    bool make_block(ByteRange bytes) override;
    [[nodiscard]] bool guards(ByteRange bytes) const override;
    void finish(Request& send) override;

   private:
    State& state_;
  };
  /// Counts the message; whether its buffer is used often enough to be registered.
  [[nodiscard]] bool is_frequent(const Context& context, Rank to, const std::byte* data, std::size_t bytes) {
    return frequent_sender.counts(bytes) && frequent_sender.count(context.peer(to), ByteRange::of(data, bytes));
  }

  // --- by RDMA (rendezvous/rdma_way.hpp) ----------------------------------------------------------------------------------
  /// What RdmaWay asks of the rest (rendezvous/state_sinks.cpp).
  class RdmaHost final : public RdmaWay::Host {
   public:
    explicit RdmaHost(State& state) : state_(state) {}
    bool in_alias_block(ByteRange bytes) override;
    [[nodiscard]] bool releases() const override;
    void fall_back(const Request& request, Fallback reason) override;
    void answer(const Request& request, MessageKind kind, std::span<const std::byte> payload) override;
    void finish(Request& request) override;
    void begin_again(Request& receive) override;
    void put_posted(Request& send) override;
    void tell_match() override;
    void tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason) override;

   private:
    State& state_;
  };
  [[nodiscard]] Rdma* rdma_for(Peer peer) const { return peer == job.self ? nullptr : job.transport->rdma(peer); }
  void on_transferred(std::uint64_t token) override { rdma_transfers.on_transferred(token); }

  // --- receives announced to their senders (rendezvous/receiver_initiated.hpp) --------------------------------------------
  /// What PutSender and PutReceiver ask of the rest (rendezvous/state_sinks.cpp).
  class PutHost final : public PutSender::Host, public PutReceiver::Host {
   public:
    explicit PutHost(State& state) : state_(state) {}
    void send_in_turn(Request& send) override;
    void check_context(Peer from, const MessageHeader& header) override;
    void send_control(Peer to, MessageKind kind, std::uint64_t subject) override;
    void send_or_queue(Peer to, const MessageHeader& header, std::span<const std::byte> payload) override;
    void finish(Request& receive) override;
    void note_match(Request& receive) override;
    [[nodiscard]] bool awaits_matches() const override;
    void tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason) override;

   private:
    State& state_;
  };
  void transmit(Request* send) { put_sender.goes_at_once(*send) ? send_in_turn(send) : put_sender.transmit(*send); }

  // --- who copies (rendezvous/copy_choice.cpp) ------------------------------------------------------------
  /// A match that the trace is to be told of when the answer to it has left, as the sender waits for that.
  struct UntoldMatch {
    const Request* receive = nullptr;
    std::uint32_t number = 0;
    bool unexpected = false;
  } untold_match;
  [[nodiscard]] Rendezvous wanted_inside_a_node(const Request& receive) const;
  [[nodiscard]] CopyChoice choose_copier(const Request& receive);
  [[nodiscard]] CopyChoice choose_automatically(const Request& receive);
  /// Whether the message can be read from a cache that both processors may share: soon, and not from its receiver's own.
  [[nodiscard]] bool may_stay_in_outer_cache(const Request& receive) const;
  [[nodiscard]] bool is_one_of_several() const;
  /// By a call that goes on until it is there.
  [[nodiscard]] bool is_waited_for(const Request& receive) const;
  [[nodiscard]] std::size_t least_shared_bytes(const Request& receive) const;
  [[nodiscard]] CopySituation situation_of(const Request& receive) const;
  [[nodiscard]] Copier choose_by_load(const Request& receive) const;
  /// COOP-load: for as long as the transfer goes on this way.
  void expect_copies(Request& receive, Copier copier);
  void end_expected_copies(Request& receive) {
    if ((receive.expected_of_peer | receive.expected_of_self) != 0) withdraw_expected_copies(receive);
  }
  void withdraw_expected_copies(Request& receive);
  void offer_to_adapter(Request& send, MessageHeader& header, ReadyToSend& rts) { offload.offer(send, header, rts); }
  void on_transfer_failed(std::uint64_t token) override { offload.failed(token); }
  void note_read_by_peer(const Request& send, bool handed_back);
  void on_fin(Request* request, std::uint8_t flags) { ways.ended(*request, flags); }
  void on_refuse(Request* receive, std::size_t offset);
  /// A cross-memory copy that meets a closed page, here or in the peer, would wait for it: for a message that may come after the
  /// one that is copied. Without blocks no page is ever closed.
  [[nodiscard]] bool kernel_waits_for_pages() const { return guard && !blocks.have_ended() && guard->kernel_waits(); }

  // --- progress and waiting (engine_progress.cpp, engine_wait.cpp)
  // ------------------------------------------------------------------------------------
  /// Polls everything once; true when something came.
  bool take_messages();
  [[nodiscard]] bool has_work_besides() const;
  bool work_besides();
  /// ... and does one piece of whatever work is there; true when something moved.
  bool progress(Lock& lock);
  void note_awaited(std::span<Request* const> requests);
  void wait_all(Lock& lock, std::span<Request* const> requests, CallSite site);
  void idle_call(Lock& lock);  // a test or probe that found nothing (engine_idle.cpp)
  [[nodiscard]] bool is_at_rest() const;
  void enter();
  void leave(Lock& lock);
  void arm(Lock& lock);
  [[nodiscard]] bool copies_before_leaving() const;
  [[nodiscard]] bool leaves_copies() const;
  [[nodiscard]] Attention needed_attention() const;
  void set_host_call(bool now);
  [[nodiscard]] static bool is_callback();
  void set_attention(Attention level);
  void sleep(Lock& lock, std::chrono::microseconds limit);
  void sleep_unlocked(Lock& lock, std::chrono::microseconds limit);
  void wait_a_little(unsigned attempt) override;
  void wait_a_little(Lock& lock, unsigned attempt);

  [[nodiscard]] ForkedBlocks::InUse memory_in_use() const;

  void leave_address_space();
  void fall_back(const Request& request, Fallback reason);

  // --- what was held back for causality (engine/causality.hpp) -------------------------------------------------------
  void send_held(Request& send) override { transmit(&send); }
  void begin_held(Request& receive) override { begin_transfer(&receive); }
  void acknowledge_held(Peer peer, std::uint64_t subject, std::uint32_t traced) override;

  // --- what alias blocks have to know of the rest (alias/alias_blocks.hpp) --------------------------------------------
  [[nodiscard]] bool holds_writers_up() const override { return !guard || PageGuard::holds_writers_up(); }
  [[nodiscard]] bool guards(ByteRange bytes) const override { return guard && guard->covers(bytes); }
  [[nodiscard]] bool pins(PageRange pages) const override {
    return job_registrations.cache() && job_registrations.cache()->pins(pages);
  }
  [[nodiscard]] bool may_reach_memory() const override { return job.host.may_reach_memory && job.host.may_reach_memory(); }
  void hold_signals() override { held_signals::hold(); }
  void tell_trace() override { tell_match(); }

  // --- helper thread (helper_thread.cpp) ----------------------------------------------------------------------------
  void helper();
  void check_vanished(Lock& lock);

  [[nodiscard]] bool releases() const;
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
  Matcher matcher{job, all_requests, outbox, causality, match_host};

  NodeSink node_sink{*this};
  NodeWay node_way{node_sink,
                   {.self = job.self,
                    .job_size = job.size,
                    .chunk_bytes = job.chunk_bytes,
                    .memory = job.transport,
                    .hints = job.transport,
                    .arena = job.arena,
                    .lines = message_lines,
                    .statistics = statistics,
                    .copiers = node_sink,
                    .adapter = offload}};
  StreamSink stream_sink{*this};
  StreamWay stream_way{stream_sink, job.self, job.transport, statistics};
  std::vector<PeerNumbers> matching;  // by peer
  RdmaHost rdma_host{*this};
  RdmaWay rdma_way{rdma_host, {job, job_registrations, rdma_transfers, statistics}};
  PutHost put_host{*this};
  PutReceiver put_receiver{put_host, {job, rdma_way, rdma_transfers, matching, statistics}};
  PutSender put_sender{put_host, {job, rdma_way, matching, statistics}};
  Offload offload{{.config = job.config,
                   .memory = job.transport,
                   .hints = job.transport,
                   .adapters = job.transport,
                   .transfers = rdma_transfers,
                   .memories = rdma_way,
                   .delivery = node_way.delivery(),
                   .statistics = statistics}};
  WaysSink ways_sink{*this};
  Ways ways{ways_sink, {&rdma_way, &node_way, &stream_way}};

  const PageGuard* guard = nullptr;  // that of early_return, which owns it
  std::unique_ptr<EarlyReturn> early_return;
  FrequentHost frequent_host{*this};
  FrequentSender frequent_sender{frequent_host, {job, job_registrations, rdma_transfers, statistics}};

  std::size_t inside = 0;    // application threads in a carried call (or in the fault handler)
  std::size_t waiting = 0;   // ... in MPI_Wait and the like
  bool awaits_many = false;  // receives, the last call that waited for some, or polled for several
  Attention attention = Attention::none;
  bool host_call = false;  // the application may be blocked in a call of the host's
  AliasBlocks blocks;
  IdleCalls idle_calls;

  std::size_t waits_for_pages = 0;  // threads in wait_a_little
  std::atomic<bool> stopping{false};
  /// With the lock held: nothing is closed, and nobody who waits for a page may wait for the lock.
  std::atomic<bool> forking{false};
  std::atomic<bool> ending{false};  // the job is being ended: peers may vanish
  std::thread helper_thread;
};

}  // namespace sluice
