// What a report adds up of a trace. All times in nanoseconds.
//
// Of a call that waits: what it `waited` itself; if it returned early, what it would have gone on waiting is `saved`, of which
// threads that touched pages too soon, or calls that needed the buffer, waited `on_pages` later. So
//
//     would have blocked = waited + saved        still waited = waited + on_pages        hidden = saved - on_pages
//
// A call that released several operations would have waited for the last of them: `saved` is the longest, not the sum.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/trace/kinds.hpp"

namespace sluice {

using Ns = std::uint64_t;

/// Times of two ranks may be in the wrong order by what their clocks differ.
inline Ns since(std::int64_t earlier, std::int64_t later) { return static_cast<Ns>(std::max<std::int64_t>(later - earlier, 0)); }

struct Waiting {
  Ns waited = 0;
  Ns saved = 0;
  Ns on_pages = 0;

  [[nodiscard]] Ns would_have_blocked() const { return waited + saved; }
  [[nodiscard]] Ns still_waited() const { return waited + on_pages; }
  /// Several threads may wait for pages of one release at the same time, so this is never below zero by definition only.
  [[nodiscard]] Ns hidden() const { return saved - std::min(saved, on_pages); }

  Waiting& operator+=(const Waiting& other) {
    waited += other.waited;
    saved += other.saved;
    on_pages += other.on_pages;
    return *this;
  }
};

/// Code that waited for pages, or made others wait, before a release was over.
struct TouchTotals {
  std::uint64_t count = 0;
  Ns waited = 0;
};

struct SiteTotals {
  std::string call;   // "MPI_Recv"
  std::string place;  // "solver.f90:212 (step)"
  std::uint64_t calls = 0;
  std::uint64_t operations = 0;  // that were begun here, or begun elsewhere and waited for here
  std::uint64_t bytes = 0;       // of these
  Waiting waiting;
  Ns for_partner = 0;  // of `waited`: until the message came, or its receiver
  std::uint64_t released = 0;
  std::uint64_t unmatched = 0;  // of these, before their message was there
  std::uint64_t touched = 0;    // of these, before they were over
  Ns touched_after = 0;         // sum over these
  Ns soonest_touch = ~Ns{0};
  std::map<std::string, std::uint64_t> not_released;  // by reason
  std::map<std::string, TouchTotals> touched_by;      // by place
  std::map<std::string, TouchTotals> settled_by;      // by place and cause
  std::uint64_t held = 0;  // sends begun here, and answers for receives begun here, that had to wait for a release
  Ns held_ns = 0;
};

/// Of a call path (SLUICE_TRACE_PATHS): its places, the outermost first, and the call at last.
using PlacePath = std::vector<std::string>;

struct PeerTotals {
  std::string transport;
  std::uint64_t sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t received = 0;
  std::uint64_t bytes_received = 0;
  Waiting receiving;  // by operation: one call that waits for several peers counts for each
  Waiting sending;
  std::uint64_t touched = 0;                          // releases, before they were over
  Ns touched_after = 0;                               // sum over these
  std::map<std::string, std::uint64_t> not_released;  // by reason
};

struct ProtocolTotals {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  Ns moving = 0;    // from match to the end
  Waiting waiting;  // by operation
  std::map<std::string, std::uint64_t> reasons;
};

struct CounterTotals {
  std::uint64_t value = 0;
  std::uint32_t unit = 0;
};

/// A rank that others waited for in a collective call, as it entered last.
struct LateTotals {
  std::uint64_t times = 0;  // calls
  Ns waited = 0;            // by all others together
};

/// Of collective calls that Sluice carries, by line of the program; one of each rank counts.
struct CollectiveTotals {
  std::string call;
  std::string place;
  std::uint64_t calls = 0;
  std::uint64_t through_lanes = 0;  // of these
  std::uint64_t nonblocking = 0;    // likewise
  std::uint64_t released = 0;       // likewise: returned early
  std::uint64_t bytes = 0;
  Ns lasted = 0;    // from entry to return; of nonblocking ones until they were done
  Ns waited = 0;    // in the call, or for its request
  Ns for_late = 0;  // of that, until the last one entered
  Ns hidden = 0;
  std::map<std::int32_t, LateTotals> late;          // by rank
  std::map<std::string, std::uint64_t> not_hidden;  // calls that waited, by reason
};

/// Messages are put into classes by size: up to 256 bytes, 1 KB, 4 KB, … in powers of 4.
[[nodiscard]] std::size_t size_class(std::uint64_t bytes);
/// The longest message of the class.
[[nodiscard]] std::uint64_t bytes_of_size_class(std::size_t size_class);
[[nodiscard]] std::string name_of_size_class(std::size_t size_class);

struct ReportTotals {
  std::uint64_t records = 0;
  std::vector<SiteTotals> sites;
  std::map<PlacePath, Waiting> paths;                                       // empty where the trace keeps none
  std::map<std::pair<std::int32_t, std::int32_t>, PeerTotals> peers;        // rank, peer
  std::map<std::pair<std::string, std::size_t>, ProtocolTotals> protocols;  // protocol, size class; of received messages
  std::map<std::string, CollectiveTotals> collectives;                      // by call and place
  std::map<std::string, std::uint64_t> fallbacks;
  std::map<std::string, TouchTotals> registrations;  // by event
  std::map<std::string, TouchTotals> migrations;     // by result
  std::map<std::string, CounterTotals> counters;     // summed over ranks
  std::map<std::int32_t, Waiting> ranks;
  std::map<std::string, std::uint64_t> unfinished;  // calls that were waiting when the trace ended, by site
  Ns lasted = 0;

  [[nodiscard]] Waiting all() const;
};

}  // namespace sluice
