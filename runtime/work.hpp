// What the engine has to do: messages that come, what the ways have to move by and by, and whether any of that is left. It owns
// nothing, knows no waiting, and wakes nobody (progress.hpp).
//
// References to what has work stand beside each other, in the order in which a poll looks at it: the cache lines of one poll that
// finds nothing are these and those of what they name.
//
// Belongs to the engine lock; `round` gives it up while a chunk is being copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "runtime/collective/teams.hpp"
#include "runtime/collective_calls.hpp"
#include "runtime/engine/causality.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/far_windows.hpp"
#include "runtime/lane_calls.hpp"
#include "runtime/rendezvous/frequent_sender.hpp"
#include "runtime/rendezvous/node_way.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/put_sender.hpp"
#include "runtime/rendezvous/rdma_way.hpp"
#include "runtime/rendezvous/stream_way.hpp"
#include "runtime/transport/message_sink.hpp"
#include "runtime/wake_policy.hpp"
#include "runtime/window/waits.hpp"

namespace sluice {

using Lock = std::unique_lock<EngineLock>;

class Work {
 public:
  struct Parts {
    MessageSink& sink;
    Outbox& outbox;
    StreamWay& stream;
    RdmaWay& rdma;
    PutReceiver& put_receiver;
    PutSender& put_sender;
    NodeWay& node;
    const Requests& requests;
    const Causality& causality;
    // Looked at when something else says that it matters.
    const FrequentSender& frequent;
    const RdmaTransfers& transfers;
    const Teams& teams;
    const WindowWaits& window_waits;
    CollectiveCalls& collective_calls;
    LaneCalls& lane_calls;
    FarWindows& far_windows;
    const Job& job;
  };
  explicit Work(const Parts& parts);

  // --- doing it
  /// Polls everything once; true when something came.
  bool take_messages() {
    bool moved = transport_ && transport_->poll(parts_.sink) > 0;
    if (parts_.rdma.reads().any()) [[unlikely]]
      parts_.rdma.reads().look();
    if (has_work_besides()) [[unlikely]]
      moved |= work_besides();
    if (moved && has_collective_calls()) [[unlikely]]
      parts_.collective_calls.note_messages();
    return moved;
  }
  /// ... and does one piece of whatever work is there; true when something moved. `inside`: threads in calls.
  bool round(Lock& lock, const std::uint32_t& inside);

  // --- what is left of it
  /// Nothing is to be done until a message comes or a call begins something.
  [[nodiscard]] bool is_done() const {
    return !has_work_besides() && parts_.outbox.queued() == 0 && !has_copies() && parts_.node.helping().empty() &&
           parts_.causality.released().empty() && !holds_back() &&
           (!has_collective_calls() || (parts_.collective_calls.is_at_rest() && !parts_.lane_calls.any())) &&
           !(has_windows() && parts_.far_windows.has_work());
  }
  /// A thread that is about to sleep finds something to do.
  [[nodiscard]] bool has_some_now() const {
    return (transport_ && transport_->pending()) || parts_.outbox.self_pending() || has_copies() ||
           !parts_.node.helping().empty() || has_come_in_lanes() || calls_have_work();
  }
  /// A step of a nonblocking collective call, or for an origin of a window, is to be done, which no message tells of.
  [[nodiscard]] bool calls_have_work() const {
    return (has_collective_calls() && parts_.collective_calls.has_work()) || (has_windows() && parts_.far_windows.has_work());
  }
  /// What a thread in a collective call, or in one of a window, waits for; or a nonblocking collective call.
  [[nodiscard]] bool has_come_in_lanes() const {
    return parts_.teams.any_is_there() || parts_.window_waits.any_is_there() ||
           (has_collective_calls() && parts_.lane_calls.any_is_there());
  }
  /// Something is to be posted or sent, and there may be room for it; or has to be looked at without being told.
  [[nodiscard]] bool wants_rounds() const {
    return parts_.stream.may_move() || parts_.rdma.has_room() || parts_.put_sender.needs_looks() || calls_have_work();
  }
  /// Messages are in blocks, or on their way to or from them.
  [[nodiscard]] bool may_use_blocks() const;

  // --- as wake_policy.hpp asks
  [[nodiscard]] bool holds_back() const { return !parts_.causality.held().empty(); }
  [[nodiscard]] bool has_released() const { return !parts_.causality.released().empty(); }
  [[nodiscard]] Awaited awaited() const { return {has_windows(), collective_duties()}; }
  [[nodiscard]] bool sends_rtrs() const { return sends_rtrs_; }
  /// A sender waits for the end of a copy in which this side has taken part.
  [[nodiscard]] bool shares_copies() const { return parts_.node.shared_receives() != 0; }
  [[nodiscard]] std::size_t large_receives() const { return parts_.requests.counts().large_receives; }
  [[nodiscard]] std::size_t open_receives() const { return parts_.requests.counts().open_receives; }
  /// Something is still to leave, besides what an adapter reads by itself; or peers may announce receives, and take them back.
  [[nodiscard]] bool may_get_requests() const {
    const std::size_t not_left = parts_.requests.sends_not_left();
    return (not_left != 0 && not_left != parts_.frequent.under_way()) || parts_.outbox.queued() != 0 ||
           (transport_ && transport_->holds_output()) || parts_.put_sender.expects_rtrs();
  }
  [[nodiscard]] bool has_copies() const { return !parts_.node.list().empty(); }
  /// No longer than the helper thread takes to be woken.
  [[nodiscard]] bool next_copy_is_short() const;
  [[nodiscard]] bool next_peer_is_asleep() const { return transport_->is_asleep(parts_.node.list().first()->peer); }
  [[nodiscard]] bool some_peer_is_asleep() const;
  [[nodiscard]] const Job& job() const { return parts_.job; }
  [[nodiscard]] Transport* transport() const { return transport_; }

  // --- of single parts
  [[nodiscard]] const Requests& requests() const { return parts_.requests; }
  /// Receives that may be written to without a message that says so.
  [[nodiscard]] std::size_t open_rtrs() const { return parts_.put_receiver.open_rtrs(); }
  [[nodiscard]] bool needs_looks() const { return parts_.put_sender.needs_looks(); }

 private:
  [[nodiscard]] bool has_collective_calls() const { return parts_.requests.open_collectives() != 0; }
  [[nodiscard]] bool has_windows() const { return parts_.requests.open_windows() != 0; }
  // Most polls find that nothing of this is there, and should not pay for calls.
  [[nodiscard]] bool has_work_besides() const {
    return parts_.outbox.self_pending() || !parts_.stream.empty() || parts_.rdma.has_work() || parts_.put_receiver.has_work() ||
           parts_.put_sender.has_work();
  }
  [[nodiscard]] CollectiveDuties collective_duties() const {
    if (!has_collective_calls()) return CollectiveDuties::none;
    if (parts_.lane_calls.has_duties()) return CollectiveDuties::in_lanes;
    return parts_.collective_calls.has_duties() ? CollectiveDuties::by_messages : CollectiveDuties::none;
  }
  bool work_besides();
  bool advance_collective_calls(Lock& lock);

  const bool sends_rtrs_;
  Transport* const transport_;  // nullptr in a job of one process
  const Parts parts_;
};

}  // namespace sluice
