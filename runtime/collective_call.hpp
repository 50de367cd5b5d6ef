// One collective call that goes by messages: its run, the request that stands for it, and how its parts become requests.
//
// Belongs to the engine lock, which `work` gives up (collective_calls.hpp).
#pragma once

#include <optional>

#include "runtime/collective_calls.hpp"
#include "runtime/engine/collective_trace.hpp"

namespace sluice {

class CollectiveCall final : CollectiveRun::Messages {
 public:
  struct Start {
    Context& channel;  // of its parts
    CollectiveRun::Tags tags;
    CallSite site;
    bool waits = false;  // a thread, in the call
  };
  CollectiveCall(const CollectiveCalls::Parts& parts, ScratchPool& memory, CollectiveOrder order, const Start& start);

  /// Does what can be done at once; true when something moved.
  bool advance() { return run_.advance(); }
  /// A piece of a local step.
  void work(Lock& lock);
  [[nodiscard]] bool has_work() const { return !is_busy() && (run_.has_work() || run_.can_advance()); }
  [[nodiscard]] bool is_busy() const { return request_->copying; }

  /// Ends it when a message has come of a call that has its number and is another one.
  void look_for_odd_one();
  /// Likewise, before the thread leaves: its receives may be under guard, and nobody looks any more. Ends the job.
  void check_released() const;
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] bool is_over() const { return has_failed_ || run_.is_done(); }

  [[nodiscard]] CollectiveRun& run() { return run_; }
  [[nodiscard]] const CollectiveRun& run() const { return run_; }
  [[nodiscard]] Request& request() const { return *request_; }
  [[nodiscard]] bool is_waited_in() const { return waits_; }
  void is_left() { waits_ = false; }

  /// It is told of from now on.
  void begin_trace(const trace::CollectiveTrace::Call& call) { traced_.emplace(request_->traced, call); }
  [[nodiscard]] std::optional<trace::CollectiveTrace>& traced() { return traced_; }

 private:
  Request* receive(const Part& part) override;
  Request* send(const Part& part) override;
  [[nodiscard]] bool is_over(const Request& request) const override;
  std::optional<std::size_t> take(Request* request) override;
  void fail(Rank odd_one);

  const CollectiveCalls::Parts& parts_;
  Context& channel_;
  const CallSite site_;
  bool waits_;
  bool has_failed_ = false;
  Request* const request_;
  const std::vector<std::unique_ptr<std::byte[]>> kept_;
  CollectiveRun run_;
  std::optional<trace::CollectiveTrace> traced_;
};

}  // namespace sluice
