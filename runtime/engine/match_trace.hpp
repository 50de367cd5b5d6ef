// What the trace is told of a match with an announcement, and of the choice that follows from it.
//
// A match is told of when the answer to it has left, as the sender waits for that. Meanwhile it is kept here, one at most;
// whoever tells the trace of what follows from it tells of it first.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {

/// Of eager messages and rts with each peer, while a trace is written. Those of collective calls are counted apart, so that the
/// program's own have the same numbers whoever carries these calls.
class TracedNumbers {
 public:
  explicit TracedNumbers(std::size_t peers) : last_(2 * peers) {}
  std::uint32_t next(Peer peer, bool is_part) { return ++last_[2 * static_cast<std::size_t>(peer) + (is_part ? 1 : 0)]; }

 private:
  std::vector<std::uint32_t> last_;
};

class MatchTrace {
 public:
  explicit MatchTrace(const Config& config) : config_(config) {}

  /// While a trace is written: the receive has met an announcement.
  void keep(const Request& receive, std::uint32_t number, bool unexpected) { kept_ = {&receive, number, unexpected}; }
  /// ... and the trace is told of it. What is to be the time of what follows (trace::write).
  std::uint64_t tell();
  /// How the message will travel.
  void chosen(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns = 0) {
    if (trace::on()) [[unlikely]]
      tell_choice(receive, protocol, reason, at_ns);
  }

 private:
  struct Match {
    const Request* receive = nullptr;
    std::uint32_t number = 0;
    bool unexpected = false;
  };

  void tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns);

  const Config& config_;
  Match kept_;
};

/// The operation goes another way than it could have, or waits for longer: counted, and told.
inline void note_fallback(EngineStatistics& statistics, const Request& request, Fallback reason) {
  statistics.count(reason);
  if (trace::on()) [[unlikely]]
    trace::fell_back(request, reason);
}

}  // namespace sluice
