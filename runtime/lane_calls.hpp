// Nonblocking collective calls that go through lanes: those that are open now, of all communicators.
//
// A call publishes its part when it is started, if its slot is free. From then on no other rank waits for this one, whether it
// comes to MPI or not. Whoever progresses takes the parts of others once they are there. The helper thread does so only where
// others may come to wait for slots of this rank. A request stands for the whole call.
//
// Causality (page-guard rule 1): the caller sees to it that nothing is released whose message is not known.
//
// Belongs to the engine lock. Nothing here uses the application's allocator.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/base/call_site.hpp"
#include "runtime/collective/started_calls.hpp"
#include "runtime/engine/collective_trace.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/lane_steps.hpp"

namespace sluice {

/// What a caller wants done.
struct LaneOrder {
  std::unique_ptr<LaneStep> step;
  /// Memory that the step's buffers name, for as long as the call runs.
  std::vector<std::unique_ptr<std::byte[]>> kept;
  std::size_t bytes = 0;      // what the outcome tells
  bool is_truncated = false;  // likewise
};

class LaneCalls {
 public:
  struct Parts {
    const Job& job;
    Requests& requests;
    EngineStatistics& statistics;
  };
  explicit LaneCalls(const Parts& parts) : parts_(parts) {}

  /// `team` belongs to the context. Complete on return where there is nothing to wait for.
  Request* start(Context& context, const Team& team, LaneOrder order, CallSite site);
  /// What can be done now; true when something moved.
  bool advance();

  [[nodiscard]] bool any() const { return !open_.empty(); }
  /// For some of them it is there.
  [[nodiscard]] bool any_is_there() const;
  /// Other ranks may wait for this one to go on.
  [[nodiscard]] bool has_duties() const;

 private:
  struct Open {
    StartedCalls* calls;
    StartedCalls::Call* call;
    LaneOrder order;
    Request* request;
    std::optional<trace::CollectiveTrace> traced;
  };

  /// Whether something moved.
  bool publish(Open& open) const;
  /// ... and it is over.
  bool take(Open& open) const;
  void conclude(Open& open) const;
  void begin_trace(Open& open, const Description& call) const;
  void wake(const Team::Member& member) const;
  void wake_all(const Team& team) const;

  const Parts parts_;
  std::vector<Open> open_;  // in the order of their starts
};

}  // namespace sluice
