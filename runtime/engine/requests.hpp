// All operations of this process: those in progress, those whose outcomes are not taken yet, and what is counted of them.
//
// It makes requests and ends them. It does not know how a message travels: what a request holds in other rooms (a registration,
// a place among the announced, pages under guard) its host gives back, and is asked only when there is such a thing.
//
// Belongs to the engine lock, except `completions`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/engine/job.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/sleepers.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {

struct RequestCounts {
  std::uint64_t operations = 0;  // numbers receives and held sends in order of the calls

  std::size_t open_receives = 0;   // incomplete
  std::size_t large_receives = 0;  // of these, may be announced by rts

  std::size_t pending_sends = 0;
  std::size_t left_sends = 0;     // of these, brought whole by their announcements: nothing is to come of them
  std::size_t sends_to_self = 0;  // of these, by this process to itself
  std::size_t buffered_sends = 0;
  std::size_t buffered_bytes = 0;
  std::size_t bounced_bytes = 0;  // of memory that holds what has not left yet, of sends whose calls have returned

  std::uint64_t large_sends = 0;    // announced so far
  std::size_t last_large_send = 0;  // its bytes
  bool exchanges = false;           // some of them while the last large message was received
};

class Requests {
 public:
  class Host {
   public:
    /// The operation is over: what it holds in other rooms is given back.
    virtual void end_elsewhere(Request& request) = 0;
    /// It is retired, and its last operation is over.
    virtual void drop(Context* context) = 0;

   protected:
    ~Host() = default;
  };

  Requests(const Job& job, EngineStatistics& statistics, const Sleepers& sleepers, Host& host)
      : self_(job.self), eager_limit_(job.eager_limit), statistics_(statistics), sleepers_(sleepers), host_(host) {}

  // --- an operation, from its call to its end
  Request* new_send(Context& context, Rank to, Tag tag, SendMode mode, CallSite site);
  Request* new_receive(Context& context, Rank from, Tag tag, CallSite site) {
    Request* receive = begin(Request::Kind::receive, context, site);
    receive->rank = from;
    receive->tag = tag;
    ++counts_.open_receives;
    return receive;
  }
  /// For the whole of a collective call that goes by messages.
  Request* new_collective(Context& context, CallSite site) {
    Request* call = begin(Request::Kind::collective, context, site);
    call->sequence = next_operation();
    call->detached_copy = true;
    call->rank = Rank{};
    call->tag = Tag{};
    call->data = nullptr;
    call->bytes = 0;  // nothing of it can be released
    ++open_collectives_;
    return call;
  }
  /// A receive gets its place in the order of the calls; its buffer is known.
  void enter(Request& receive) {
    receive.sequence = next_operation();
    if (trace::on()) [[unlikely]]
      trace::posted(receive);
    if (receive.bytes > eager_limit_) {
      receive.counted_large = true;
      ++counts_.large_receives;
    }
  }
  /// `at_ns`: for the trace, as in trace::write.
  void finish(Request* request, std::uint64_t at_ns = 0);
  /// Of one that is complete or released.
  Outcome take(Request* request) {
    const Outcome outcome = outcome_of(*request);
    detach(request);  // released: goes on behind the guard
    return outcome;
  }
  /// Nobody will take the outcome.
  void detach(Request* request) {
    if (request->complete.load(std::memory_order_relaxed)) {
      pool_.give_back(request);
    } else {
      request->detached = true;
    }
  }
  /// As RequestPool says.
  void give_back(Request* first, Request* last) { pool_.give_back(first, last); }

  // --- finding them
  [[nodiscard]] Request* find(RequestId id) const { return pool_.find(id); }
  template <typename Visit>
  void for_each_in_use(Visit&& visit) const {
    pool_.for_each_in_use(std::forward<Visit>(visit));
  }

  // --- what is to be counted of them until they end
  std::uint64_t next_operation() { return ++counts_.operations; }
  /// What the trace calls an operation that has no request.
  std::uint32_t next_traced() { return ++traced_; }
  void note_large_send(const Request& send) {
    ++counts_.large_sends;
    counts_.last_large_send = send.bytes;
  }
  /// It was brought whole by its announcement.
  void note_left() { ++counts_.left_sends; }
  void note_buffered(const Request& send);

  [[nodiscard]] const RequestCounts& counts() const { return counts_; }
  /// Sends of which something is still to come, those among them that an adapter reads.
  [[nodiscard]] std::size_t sends_not_left() const { return counts_.pending_sends - counts_.left_sends; }
  /// Collective calls that go by messages.
  [[nodiscard]] std::uint32_t open_collectives() const { return open_collectives_; }
  /// Windows between nodes, whose members may ask for something at any time; FarWindows counts them.
  [[nodiscard]] std::uint32_t open_windows() const { return open_windows_; }
  [[nodiscard]] std::uint32_t& open_windows() { return open_windows_; }
  /// [any thread] Completions so far. Written under the lock, released after Request::complete.
  [[nodiscard]] std::uint64_t completions() const { return completions_.load(std::memory_order_acquire); }

  /// BouncedSends adds to it; the end of such a send takes it off.
  [[nodiscard]] std::size_t& bounced_bytes() { return counts_.bounced_bytes; }

 private:
  Request* begin(Request::Kind kind, Context& context, CallSite site) {
    Request* request = pool_.take();
    request->kind = kind;
    request->context = &context;
    request->site = site;
    ++context.operations;
    if (trace::on()) [[unlikely]]
      trace::named(*request, next_traced());
    return request;
  }
  [[nodiscard]] static bool holds_something_elsewhere(const Request& request) {
    using Way = Request::Way;
    const bool is_announced = request.rtrs_sent != 0 && (request.rtr_open || request.rtr_link.linked);
    const bool is_expected = request.way != Way::undecided && (request.expected_of_peer | request.expected_of_self) != 0;
    return is_announced || is_expected || request.rdma || request.counted_shared || request.released || request.in_trial ||
           request.progress_slot != Transport::no_slot;
  }
  void count_end_of_receive(const Request& receive);
  void count_end_of_send(const Request& send);

  Peer self_;
  std::size_t eager_limit_;
  EngineStatistics& statistics_;
  const Sleepers& sleepers_;
  Host& host_;
  RequestPool pool_;
  RequestCounts counts_;
  std::uint32_t traced_ = 0;
  std::uint32_t open_collectives_ = 0;  // beside what every poll looks at, like the next
  std::uint32_t open_windows_ = 0;
  std::atomic<std::uint64_t> completions_{0};
};

}  // namespace sluice
