// What the engine counts for the summary. Written under the engine lock; read when the job is over.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/config/config.hpp"

namespace sluice {

/// Why a blocked receive that was large enough was not released, or a transfer did not go the best way.
enum class Fallback : std::uint8_t {
  wildcard_unmatched,  // source or tag not known yet
  not_contiguous,      // derived datatype with gaps
  host_outstanding,    // the host MPI has operations in flight that need its progress
  foreign_handler,     // the application took over SIGSEGV
  call_site_never_pays,
  not_eligible,          // the buffer cannot be an alias block
  not_worth,             // the rest would arrive sooner than a release costs
  guard_refused,         // mprotect failed or too many releases
  mode_matched_only,     // SLUICE_RELEASE=matched and the message was not there
  concurrent_calls,      // not matched yet, and other threads may be in calls (MPI_THREAD_MULTIPLE)
  other_copy,            // the message travels a way that cannot go on behind the guard
  write_refused,         // the sender could not write into the receiver's memory file, or to its address
  read_refused,          // cross-memory attach failed
  send_not_offered,      // a send whose buffer was no alias block when it was announced
  send_answered,         // a send whose receiver has come: it is being copied by this process
  registration_refused,  // memory that could not be registered with an adapter
  rtr_open,              // the sender may write to it at any moment: it is asked first
  page_closed,           // cross-memory attach stopped at a page that either side has under guard: the rest is streamed
  errors_return,         // not matched yet, and the program would be told of its truncation
  shared_window,         // not matched yet, and peers see at once what this process stores in a window
  count
};

const char* describe(Fallback reason);

struct EngineStatistics {
  std::uint64_t eager_sends = 0;
  std::uint64_t sge_sends = 0;           // of these, by an adapter from the program's memory
  std::uint64_t copies_saved_bytes = 0;  // of those
  std::uint64_t rendezvous_sends = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t receives = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t written = 0;                           // receives by single copy of the sender
  std::uint64_t written_at = 0;                        // of these, by address
  std::uint64_t cooperative = 0;                       // of these, with chunks read by the receiver
  std::uint64_t offloaded = 0;                         // receives of which the adapter read chunks (coop-hca)
  std::uint64_t bytes_offloaded = 0;                   // by it
  std::uint64_t adapter_busy = 0;                      // receives that left it alone, as it had enough to do
  std::uint64_t offloads_failed = 0;                   // chunks that it could not read
  std::uint64_t read = 0;                              // receives by single copy of the receiver
  std::uint64_t copies = 0;                            // large messages that this process copied, all or a part of them
  std::uint64_t bytes_copied = 0;                      // of them
  std::uint64_t streamed = 0;                          // receives by copy-in/copy-out
  std::array<std::uint64_t, rendezvous_kinds> rdma{};  // receives over RDMA, by Rendezvous
  std::uint64_t last_bytes_seen = 0;                   // of these, ended by a look at the last byte
  std::uint64_t pages_seen = 0;                        // known to be there by their sentinels, of messages still on their way
  std::uint64_t last_bytes_equal = 0;                  // sends by putnr and put whose last byte was there before
  std::uint64_t rtrs_sent = 0;                         // by rtr
  std::uint64_t rtrs_crossed = 0;                      // of these, by an eager message or an rts: not usable
  std::uint64_t released = 0;
  std::uint64_t released_unmatched = 0;
  std::uint64_t held_sends = 0;
  std::uint64_t blocked_ns = 0;       // time from release to completion: what the receives would have blocked
  std::uint64_t waited_ns = 0;        // time that calls still waited for receives
  std::uint64_t touched_at_once = 0;  // releases that did not pay
  std::uint64_t sends_released = 0;
  std::uint64_t bounced_sends = 0;  // blocked over a network, rest copied
  std::uint64_t sends_touched_at_once = 0;
  std::uint64_t sends_blocked_ns = 0;            // time from release to completion: what the sends would have blocked
  std::uint64_t host_calls_beside_releases = 0;  // that began while a release was under way
  std::uint64_t helper_wakeups = 0;
  std::uint64_t collective_calls = 0;          // carried
  std::uint64_t collective_sends = 0;          // messages above that these consist of
  std::uint64_t collective_bytes_sent = 0;     // of them
  std::uint64_t collective_receives = 0;       // likewise
  std::uint64_t window_operations = 0;         // of windows on several nodes, that this process has asked for
  std::uint64_t window_operations_served = 0;  // ... and that others have asked of it
  std::array<std::uint64_t, static_cast<std::size_t>(Fallback::count)> fallbacks{};

  void count(Fallback reason) { ++fallbacks[static_cast<std::size_t>(reason)]; }
};

}  // namespace sluice
