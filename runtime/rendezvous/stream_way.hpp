// Large messages as a stream of `data` messages: inside a node through the ring (copy-in, copy-out), over sockets from buffer to
// buffer. Always possible, so it is what every other way falls back on. Messages that came whole with their announcements are
// its, too.
//
//   rts → ;  ← cts ;  data → … ; the receiver counts
//   rts with all of it → ;  ← fin
//
//   send:     announced → (cts stream) streaming → all has left: done
//   receive:  matched → cts sent → (last data) done; what data brings, replies.hpp puts in place
//
// Owns the sends that stream, in the order in which they were cleared, and whether all of them wait for room. It must not block,
// and does not choose: Ways does. Several streams take turns, a burst each.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/engine/job.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/copy_list.hpp"
#include "runtime/rendezvous/way.hpp"

namespace sluice {

class StreamWay final : public Way {
 public:
  struct Parts {
    const Job& job;
    Outbox& outbox;
    Requests& requests;
    MatchTrace& matches;
    EngineStatistics& statistics;
  };
  explicit StreamWay(const Parts& parts) : parts_(parts) {}

  [[nodiscard]] Bid bid(const Request& receive, std::size_t coming) const override {
    return {receive.offset + coming == receive.stop ? 0U : 2U};  // in and out
  }
  bool begin(Request& receive, std::size_t coming) override;
  [[nodiscard]] bool delivers(Delivery delivery) const override { return delivery == Delivery::stream; }
  void cleared(Request& send, const ClearToSend& clear) override;
  [[nodiscard]] bool carries(const Request& request) const override { return request.way == Request::Way::stream; }

  /// A burst of each; whether anything left.
  bool work();
  /// A peer that had none has room again.
  void on_room() { waits_ = false; }

  [[nodiscard]] bool empty() const { return streams_.empty(); }
  /// There is something to send, and there may be room for it.
  [[nodiscard]] bool may_move() const { return !streams_.empty() && !waits_; }

 private:
  std::size_t push(const Request& send);
  std::size_t push_directly(const Request& send, std::size_t max_bytes);
  std::size_t push_copied(const Request& send, std::size_t max_bytes);

  const Parts parts_;
  WorkList streams_;
  bool waits_ = false;  // none of them has room; on_room follows
};

}  // namespace sluice
