#include "interpose/session/summary.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interpose/mpi/entry.hpp"
#include "runtime/alias/arena.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/registration/registration_cache.hpp"
#include "runtime/trace/trace.hpp"
#include "runtime/transport/message.hpp"
#include "tcp/transport.hpp"
#include "verbs/transport.hpp"

namespace sluice {
namespace {

struct Row {
  std::string name;
  std::uint64_t value = 0;
  enum class Unit { count, bytes, nanoseconds } unit = Unit::count;
  bool only_if_any = false;
};

void add_messages(std::vector<Row>& rows, const EngineStatistics& counts) {
  rows.push_back({"messages sent, eager", counts.eager_sends});
  rows.push_back({"  from the program's memory", counts.sge_sends, Row::Unit::count, true});
  rows.push_back({"    whose copies were saved", counts.copies_saved_bytes, Row::Unit::bytes, true});
  rows.push_back({"messages sent, rendezvous", counts.rendezvous_sends});
  rows.push_back({"bytes sent", counts.bytes_sent, Row::Unit::bytes});
  rows.push_back({"receives", counts.receives});
  rows.push_back({"  written by the sender", counts.written});
  rows.push_back({"    into memory that is no block", counts.written_at, Row::Unit::count, true});
  rows.push_back({"    and by the receiver at once", counts.cooperative});
  rows.push_back({"    and by the adapter (coop-hca)", counts.offloaded, Row::Unit::count, true});
  rows.push_back({"      bytes read by it", counts.bytes_offloaded, Row::Unit::bytes, true});
  rows.push_back({"      chunks that it could not read", counts.offloads_failed, Row::Unit::count, true});
  rows.push_back({"    left to processors, as the adapter was busy", counts.adapter_busy, Row::Unit::count, true});
  rows.push_back({"  read by the receiver", counts.read});
  rows.push_back({"  copied in and out", counts.streamed});
  rows.push_back({"collective calls", counts.collective_calls, Row::Unit::count, true});
  rows.push_back({"  messages above that they sent", counts.collective_sends, Row::Unit::count, true});
  rows.push_back({"    bytes", counts.collective_bytes_sent, Row::Unit::bytes, true});
  rows.push_back({"  receives above that they made", counts.collective_receives, Row::Unit::count, true});
  rows.push_back({"operations on windows between nodes", counts.window_operations, Row::Unit::count, true});
  rows.push_back({"  done here for others", counts.window_operations_served, Row::Unit::count, true});
  rows.push_back({"single copies made, whole or in part", counts.copies});
  rows.push_back({"  bytes", counts.bytes_copied, Row::Unit::bytes});
  for (std::size_t i = 0; i < counts.rdma.size(); ++i) {
    rows.push_back(
        {std::string("  over RDMA by ") + name_of(static_cast<Rendezvous>(i)), counts.rdma[i], Row::Unit::count, true});
  }
  rows.push_back({"    that a look at the last byte ended", counts.last_bytes_seen, Row::Unit::count, true});
  rows.push_back({"    pages seen to be there before the end", counts.pages_seen, Row::Unit::count, true});
  rows.push_back({"    whose last byte was the preset one", counts.last_bytes_equal, Row::Unit::count, true});
  rows.push_back({"  announced to their senders", counts.rtrs_sent, Row::Unit::count, true});
  rows.push_back({"    in vain, as a message was on its way", counts.rtrs_crossed, Row::Unit::count, true});
}

void add_releases(std::vector<Row>& rows, const EngineStatistics& counts, const PageGuard::Statistics& guard) {
  rows.push_back({"receives released early", counts.released});
  rows.push_back({"  before their message was known", counts.released_unmatched});
  rows.push_back({"  touched at once", counts.touched_at_once});
  rows.push_back({"calls of the host's beside releases", counts.host_calls_beside_releases, Row::Unit::count, true});
  rows.push_back({"sends released early", counts.sends_released, Row::Unit::count, true});
  rows.push_back({"  written to at once", counts.sends_touched_at_once, Row::Unit::count, true});
  rows.push_back({"sends copied aside while they were blocked", counts.bounced_sends, Row::Unit::count, true});
  rows.push_back({"time sends would have blocked", counts.sends_blocked_ns, Row::Unit::nanoseconds, true});
  rows.push_back({"time receives would have blocked", counts.blocked_ns, Row::Unit::nanoseconds});
  rows.push_back({"time waited in calls", counts.waited_ns, Row::Unit::nanoseconds});
  rows.push_back({"time waited on pages", guard.nanoseconds_waited, Row::Unit::nanoseconds});
  rows.push_back({"faults on pages under guard", guard.faults});
  rows.push_back({"sends held back", counts.held_sends});
}

void add_tcp(std::vector<Row>& rows, const TcpTransport::Statistics& tcp) {
  rows.push_back({"messages sent over tcp, with control messages", tcp.counts.messages_sent});
  rows.push_back({"bytes sent over tcp", tcp.counts.bytes_sent, Row::Unit::bytes});
  rows.push_back({"ends of tcp connections", tcp.connections});
  rows.push_back({"unauthenticated callers rejected", tcp.rejected, Row::Unit::count, true});
}

void add_registrations(std::vector<Row>& rows, const RegistrationCache::Statistics& counts) {
  const auto add = [&](const char* name, std::uint64_t value, Row::Unit unit = Row::Unit::count) {
    rows.push_back({name, value, unit, true});
  };
  add("memory registered: found in the cache", counts.hits);
  add("  registered anew", counts.misses);
  add("  evicted", counts.evictions);
  add("  tried again after an eviction", counts.retries);
  add("  refused", counts.refusals);
  add("  invalidated, as the memory was freed", counts.invalidations);
  add("  most bytes at a time", counts.peak_bytes, Row::Unit::bytes);
}

/// What a rendezvous consists of beside its data, by the names that the protocols are written with.
constexpr std::array<std::pair<MessageKind, const char*>, 7> control_messages{{{MessageKind::rts, "rts"},
                                                                               {MessageKind::rtr, "rtr"},
                                                                               {MessageKind::cts, "cts"},
                                                                               {MessageKind::refuse, "refuse"},
                                                                               {MessageKind::fin, "fin"},
                                                                               {MessageKind::withdraw, "withdraw"},
                                                                               {MessageKind::withdrawn, "withdrawn"}}};

void add_verbs(std::vector<Row>& rows, const VerbsTransport::Statistics& verbs) {
  rows.push_back({"messages sent over verbs, with control messages", verbs.messages_sent});
  for (const auto& [kind, name] : control_messages) {
    const std::uint64_t sent = verbs.sent_of_kind[static_cast<std::size_t>(kind)];
    rows.push_back({std::string("  control messages, ") + name, sent, Row::Unit::count, true});
  }
  rows.push_back({"bytes sent over verbs", verbs.bytes_sent, Row::Unit::bytes});
  rows.push_back({"  messages that only granted credits", verbs.credit_messages});
  rows.push_back({"  waits for a credit", verbs.waits_for_credit});
  rows.push_back({"  of these written into rings", verbs.ring_messages_sent});
  rows.push_back({"  rings opened", verbs.rings_opened, Row::Unit::count, true});
  rows.push_back({"  rings closed, to sleep or for another peer", verbs.rings_closed, Row::Unit::count, true});
  rows.push_back({"RDMA writes", verbs.writes});
  rows.push_back({"  bytes written", verbs.bytes_written, Row::Unit::bytes});
  rows.push_back({"RDMA reads", verbs.reads});
  rows.push_back({"  bytes read", verbs.bytes_read, Row::Unit::bytes});
  rows.push_back({"memory registrations", verbs.registrations});
  rows.push_back({"ends of queue pairs", verbs.connections});
  rows.push_back({"unauthenticated callers rejected", verbs.rejected, Row::Unit::count, true});
}

std::vector<Row> collect() {
  std::vector<Row> rows;
  const EngineStatistics& counts = engine().statistics();
  add_messages(rows, counts);
  if (const TcpTransport* tcp = session().transports().tcp()) add_tcp(rows, tcp->statistics());
  const RegistrationCache* registrations = engine().reports().registrations();
  add_registrations(rows, registrations ? registrations->statistics() : RegistrationCache::Statistics{});
  if (const VerbsTransport* verbs = session().transports().verbs()) add_verbs(rows, verbs->statistics());
  const PageGuard* guard = engine().reports().guard();
  add_releases(rows, counts, guard ? guard->statistics() : PageGuard::Statistics{});
  const AliasArena::Statistics blocks = session().arena()->statistics();
  rows.push_back({"alias blocks made", blocks.migrations});
  rows.push_back({"bytes moved into them", blocks.bytes_migrated, Row::Unit::bytes});
  for (std::size_t i = 0; i < counts.fallbacks.size(); ++i) {
    rows.push_back(
        {std::string("not released: ") + describe(static_cast<Fallback>(i)), counts.fallbacks[i], Row::Unit::count, true});
  }
  return rows;
}

void sum_over_ranks(std::vector<Row>& rows) {
  std::vector<std::uint64_t> own;
  for (const Row& row : rows) own.push_back(row.value);
  std::vector<std::uint64_t> sums(own.size());
  host().Reduce(own.data(), sums.data(), static_cast<int>(own.size()), predefined().uint64, predefined().sum, 0,
                session().world_comm());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].value = sums[i];
}

void print(const Row& row) {
  constexpr double ns_per_second = 1e9;
  constexpr double mebibyte = 1024.0 * 1024.0;
  const auto value = static_cast<double>(row.value);
  switch (row.unit) {
    case Row::Unit::count:
      std::fprintf(stderr, "sluice:   %-52s %14" PRIu64 "\n", row.name.c_str(), row.value);
      break;
    case Row::Unit::bytes:
      std::fprintf(stderr, "sluice:   %-52s %14.1f MiB\n", row.name.c_str(), value / mebibyte);
      break;
    case Row::Unit::nanoseconds:
      std::fprintf(stderr, "sluice:   %-52s %14.6f s\n", row.name.c_str(), value / ns_per_second);
      break;
  }
}

/// "solver+0x11f2": what addr2line understands, for programs and libraries alike.
std::string place(std::uintptr_t address) {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(address), &found) == 0 || !found.dli_fname) return "?";
  const std::string_view file = found.dli_fname;
  std::array<char, 32> offset{};
  std::snprintf(offset.data(), offset.size(), "+0x%zx", address - reinterpret_cast<std::uintptr_t>(found.dli_fbase));
  return std::string(file.substr(file.rfind('/') + 1)) + offset.data();
}

void print_call_sites() {
  constexpr std::size_t max_lines = 10;
  constexpr double ns_per_us = 1e3;
  const auto sites = engine().reports().call_sites();
  if (!sites.empty()) std::fprintf(stderr, "sluice: releases by call site, rank 0\n");
  for (std::size_t i = 0; i < std::min(sites.size(), max_lines); ++i) {
    const ReleasePolicy::Report& site = sites[i];
    std::fprintf(stderr, "sluice:   %s at %s: %" PRIu64 " calls released, %" PRIu64 " did not pay, %.1f us hidden by each%s\n",
                 site.site.function(), place(site.site.return_address()).c_str(), site.calls, site.losses,
                 static_cast<double>(site.hidden_ns) / static_cast<double>(site.calls) / ns_per_us,
                 site.resting ? "; not released at present" : "");
  }
  if (sites.size() > max_lines) std::fprintf(stderr, "sluice:   and %zu more\n", sites.size() - max_lines);
}

}  // namespace

void print_summary() {
  std::vector<Row> rows = collect();
  sum_over_ranks(rows);
  if (session().world_rank() != 0) return;
  std::fprintf(stderr, "sluice: summary, sums over %d ranks\n", session().world_size());
  for (const Row& row : rows) {
    if (row.value != 0 || !row.only_if_any) print(row);
  }
  print_call_sites();
}

void put_counters_into_trace() {
  std::uint32_t position = 0;
  for (const Row& row : collect()) {
    if (row.value == 0 && row.only_if_any) continue;
    trace::CounterPayload counter;
    counter.value = row.value;
    counter.unit = static_cast<std::uint32_t>(row.unit);
    row.name.copy(counter.name.data(), counter.name.size() - 1);
    trace::add_entry(trace::EntryType::counter, position++, {reinterpret_cast<const char*>(&counter), sizeof counter});
  }
}

}  // namespace sluice
