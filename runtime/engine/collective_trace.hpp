// What a collective call tells the trace: that it begins, and when it is over how long it waited and for whom last. The parts of
// one that goes by messages are told as sends and receives are (trace_events.hpp).
//
// Made only while a trace is written: who makes a call has an optional one of these. Belongs to the engine lock.
#pragma once

#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/trace/trace.hpp"

namespace sluice::trace {

class CollectiveTrace {
 public:
  static constexpr Peer no_peer{-1};

  struct Call {
    CollectiveKind kind{};
    ContextId communicator{};
    Peer first = no_peer;      // of the communicator: disjoint ones may have the same name
    std::uint64_t number = 0;  // alike on all ranks of the communicator
    std::uint64_t bytes = 0;
    Peer root = no_peer;
    std::uint32_t ranks = 0;
    std::uint16_t how = 0;  // bits of "carried"
  };
  /// Of the call that this thread is in. `operation` is a number like those of requests.
  CollectiveTrace(std::uint32_t operation, const Call& call);

  /// The call, a blocking one, has waited from then until now ...
  void waited_since(std::uint64_t since_ns) { waited(now() - since_ns); }
  /// ... or for so long, which the thread's call knows already.
  void has_waited(std::uint64_t nanoseconds) { waited_ns_ += nanoseconds; }
  /// The call that has begun a nonblocking one returns, or it is over before: that much is not hidden.
  void is_begun() { waited_ns_ = now() - began_ns_; }
  /// Now there is the last one that was waited for.
  void came(Peer last);
  void end(bool has_failed = false);

 private:
  void waited(std::uint64_t nanoseconds);

  std::uint32_t operation_;
  std::uint32_t site_;
  std::uint32_t ranks_;
  std::uint16_t how_;
  std::uint64_t began_ns_;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t came_after_ns_ = 0;
  Peer last_ = no_peer;
};

/// The time that a thread spends in a call of which nothing moves, in pieces.
class IdleTime {
 public:
  void begins() {
    if (since_ns_ == 0) since_ns_ = now();
  }
  void ends() {
    if (since_ns_ != 0) sum_ns_ += now() - since_ns_;
    since_ns_ = 0;
  }
  [[nodiscard]] std::uint64_t sum_ns() const { return sum_ns_; }

 private:
  std::uint64_t since_ns_ = 0;
  std::uint64_t sum_ns_ = 0;
};

}  // namespace sluice::trace
