// Collective calls that go by messages: those that run now, and who carries them on.
//
// A call is a schedule (collective/schedule.hpp) whose parts are sends and receives as any other, in a context of the
// communicator that the program does not know. They keep their order in it by the number of the call, one sequence for blocking
// and nonblocking calls alike, and by the order of the parts.
//
// Who carries a call on:
//
//   blocking      the application's thread, in its call. All rounds but the last are waited for to the end. The last one is
//                 waited for as by MPI_Waitall: its receives may be released, and its sends must have what their receivers need.
//                 Where the operation is the program's own, the thread leaves the engine for each piece, and calls it
//   nonblocking   whoever progresses: a thread in any call, or the helper thread. A request stands for the whole call
//
// Causality (page-guard rule 1): all parts of a call have the number of the call's beginning. So what a call has begun before a
// receive was released leaves, as the process would have given it while blocked; a call that begins later is held back.
//
// Lock order and words. All belongs to the engine lock. A local step runs without it, by one thread (`copying` of the call's
// request), and counts as a copy meanwhile: nothing more comes under guard, and no fork is made. Nobody else touches a call whose
// request is being copied. The only word that other threads read without the lock is the request's `complete`.
//
//     starting ── start, begin ──> running ── schedule done ──> complete
//     running  ── a message of another call ──> failed: complete; what is under way ends by itself, and its memory stays
//     running  ── the thread of a blocking call is unwound ──> nonblocking, and nobody takes the outcome
//
// The fault handler carries calls on as any thread does. Nothing here uses the application's allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/call_site.hpp"
#include "runtime/collective/collective_run.hpp"
#include "runtime/collective/scratch_pool.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/matcher.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/node_copies.hpp"
#include "runtime/rendezvous/put_receiver.hpp"
#include "runtime/rendezvous/sender.hpp"
#include "runtime/trace/kinds.hpp"

namespace sluice {

/// A start of a persistent call.
struct PersistentStart {
  std::uint32_t number = 0;  // of the call, among those of its communicator
  std::uint32_t starts = 0;  // before this one
};

/// What a caller wants done.
struct CollectiveOrder {
  Schedule schedule;
  CollectiveRun::Buffers buffers;
  const Reduction* reduction = nullptr;  // lives as long as the engine
  /// Instead of it, where only the program can combine operands. Then the call is a blocking one.
  std::unique_ptr<OwnOperation> own_operation;
  std::uint16_t fingerprint = 0;  // of what the members must agree on
  trace::CollectiveKind kind{};   // for the trace
  std::optional<Rank> root;       // likewise
  std::size_t bytes = 0;          // what the outcome tells
  std::optional<PersistentStart> persistent;
  /// Memory that the buffers name, for as long as the call runs.
  std::vector<std::unique_ptr<std::byte[]>> kept;

  /// The same once more. What is kept stays here, and must outlive that one. Without an operation of the program's own.
  [[nodiscard]] CollectiveOrder again() const;
};

class CollectiveCall;

class CollectiveCalls {
 public:
  struct Parts {
    const Job& job;
    Requests& requests;
    Matcher& matcher;
    Sender& sender;
    PutReceiver& put_receiver;
    NodeCopies& copies;
    EngineStatistics& statistics;
  };
  explicit CollectiveCalls(const Parts& parts);
  ~CollectiveCalls();
  CollectiveCalls(const CollectiveCalls&) = delete;
  CollectiveCalls& operator=(const CollectiveCalls&) = delete;

  /// Of a thread that waits in its call; it carries the call on, and ends it.
  CollectiveCall& begin(Context& context, CollectiveOrder order, CallSite site);
  /// A call that has messages on other ranks only.
  void pass(Context& context) { ++channel_of(context).collective_calls; }
  Outcome end(CollectiveCall& call);
  /// It leaves the call by being unwound.
  void leave(CollectiveCall& call);
  /// A persistent call is made: its number. Nothing where there have been too many of the communicator; all members agree. Until
  /// it is unmade, it can be started, also after the communicator has been freed.
  std::optional<std::uint32_t> make_persistent(Context& context);
  void unmake_persistent(Context& context);
  /// Nonblocking. Complete on return where there is nothing to wait for.
  Request* start(Lock& lock, Context& context, CollectiveOrder order, CallSite site);

  /// What is to be done now of calls that no thread waits in; true when something moved. Gives the lock up for local steps.
  bool advance(Lock& lock);
  /// ... and something is.
  [[nodiscard]] bool has_work() const;
  /// Messages have come: some may be of another call than the one that has their number.
  void note_messages() { rounds_without_news_ = 0; }
  /// There are calls, but nothing is to be done until a message comes or a thread calls; nor do other ranks wait for this one.
  [[nodiscard]] bool is_at_rest() const;
  /// Other ranks may wait for what this one does when a message comes.
  [[nodiscard]] bool has_duties() const;

 private:
  CollectiveCall& make(Context& context, CollectiveOrder order, CallSite site, bool waits);
  Context& channel_of(Context& context);
  void look_for_odd_ones();
  void conclude(CollectiveCall& call);

  const Parts parts_;
  ScratchPool memory_;
  std::vector<std::unique_ptr<CollectiveCall>> calls_;
  std::vector<std::unique_ptr<CollectiveCall>> failed_;
  unsigned rounds_without_news_ = 0;
};

}  // namespace sluice
