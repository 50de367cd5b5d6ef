#include "tools/report/rank_account.hpp"

#include <algorithm>

namespace sluice {

namespace {

using trace::Kind;

constexpr std::size_t max_over = 65536;

/// What has called `main` is nobody's.
PlacePath path_of(const Site& site) {
  PlacePath path;
  for (std::size_t frame = site.program_frame; frame < site.frames.size(); ++frame) {
    path.push_back(site.frames[frame].text());
    if (site.frames[frame].function == "main") break;
  }
  std::reverse(path.begin(), path.end());
  path.push_back(site.call.empty() ? site.place() : site.call);
  return path;
}

}  // namespace

RankAccount::RankAccount(const TraceFile& file, Symbols& symbols, ReportTotals& totals,
                         std::map<std::string, std::size_t>& site_numbers)
    : file_(&file), sites_(file, symbols), totals_(&totals), site_numbers_(&site_numbers) {}

void RankAccount::add(const Event& event) {
  ++totals_->records;
  const trace::Record& record = event.record;
  switch (event.kind()) {
    case Kind::post_send:
      return post(event, true);
    case Kind::post_receive:
      return post(event, false);
    case Kind::collective:
      return begin_collective(event);
    case Kind::part:
      return begin_part(event);
    case Kind::match:
      return match(event);
    case Kind::message_in:
      // The first answer: the receiver has come.
      if (Operation* const operation = find(record.operation); operation && operation->partner_came_ns < 0)
        operation->partner_came_ns = event.end_ns;
      return;
    case Kind::protocol:
      if (Operation* const operation = find(record.operation)) {
        operation->has_protocol = true;
        operation->protocol = record.detail;
        operation->protocol_reason = record.extra;
      }
      return;
    case Kind::complete:
      return complete(event);
    case Kind::waiting:
      return still_waits(event);
    case Kind::wait:
      return wait(event);
    case Kind::call:
      return call(event);
    case Kind::release:
      return release(event);
    case Kind::release_end:
      return release_end(event);
    case Kind::not_released:
      if (Operation* const operation = find(record.operation)) operation->reason = word("fallback", record.detail);
      return;
    case Kind::fault:
      return wait_on_pages(event, true);
    case Kind::settle:
      return wait_on_pages(event, false);
    case Kind::let_go:
      if (const Operation* const operation = find(record.operation)) {
        SiteTotals& totals = site(operation->posted_at);
        ++totals.held;
        totals.held_ns += record.duration_ns;
      }
      return;
    case Kind::fallback:
      ++totals_->fallbacks[word("fallback", record.detail)];
      return;
    case Kind::registration: {
      TouchTotals& totals = totals_->registrations[word("registration", record.detail)];
      ++totals.count;
      totals.waited += record.duration_ns;
      return;
    }
    case Kind::migrate: {
      TouchTotals& totals = totals_->migrations[word("eligibility", record.detail)];
      ++totals.count;
      totals.waited += record.duration_ns;
      return;
    }
    default:
      return;
  }
}

void RankAccount::post(const Event& event, bool is_send) {
  const trace::Record& record = event.record;
  SiteTotals& totals = site(record.site);
  ++totals.operations;
  totals.bytes += is_send ? record.bytes : 0;
  if (is_send && record.peer >= 0) {
    PeerTotals& to = peer(record.peer);
    ++to.sent;
    to.bytes_sent += record.bytes;
  }
  if (record.operation == 0) return;
  Operation& operation = operations_[record.operation];
  operation = {};
  operation.is_send = is_send;
  operation.peer = record.peer;
  operation.posted_at = record.site;
  operation.bytes = is_send ? record.bytes : 0;
}

void RankAccount::begin_collective(const Event& event) {
  has_collectives_ = true;
  SiteTotals& totals = site(event.record.site);
  ++totals.operations;
  totals.bytes += event.record.bytes;
}

void RankAccount::begin_part(const Event& event) {
  Operation& operation = operations_[event.record.operation];
  operation = {};
  operation.is_part = true;
  operation.is_send = (event.record.detail & trace::part_send) != 0;
  operation.peer = event.record.peer;
  operation.posted_at = event.record.site;
}

/// A collective call that is not over is told as a whole.
void RankAccount::still_waits(const Event& event) {
  const Operation* const operation = find(event.record.operation);
  if (!operation || !operation->is_part) still_waiting_[event.record.operation] = sites_.at(event.record.site).text();
}

void RankAccount::match(const Event& event) {
  Operation* const operation = find(event.record.operation);
  if (!operation) return;
  operation->peer = event.record.peer;
  operation->bytes = event.record.bytes;
  operation->partner_came_ns = event.end_ns;
}

void RankAccount::complete(const Event& event) {
  Operation* const operation = find(event.record.operation);
  if (!operation || operation->over) return;
  operation->over = true;
  over_.push_back(event.record.operation);
  if (!operation->is_send && !operation->is_part) {
    operation->bytes = event.record.bytes;
    site(operation->posted_at).bytes += event.record.bytes;
    if (operation->peer >= 0) {
      PeerTotals& from = peer(operation->peer);
      ++from.received;
      from.bytes_received += event.record.bytes;
    }
    ProtocolTotals& totals = protocol_of(*operation);
    ++totals.messages;
    totals.bytes += event.record.bytes;
    if (operation->partner_came_ns >= 0) totals.moving += since(operation->partner_came_ns, event.end_ns);
    if (operation->has_protocol) ++totals.reasons[word("reason", operation->protocol_reason)];
  }
  if (over_.size() > max_over) {
    forget(over_.front());
    over_.pop_front();
  }
}

void RankAccount::wait(const Event& event) {
  const trace::Record& record = event.record;
  still_waiting_.erase(record.operation);
  Operation* const operation = find(record.operation);
  Call& call = calls_[record.extra];
  call.site = record.site;
  if (!operation) return;
  const Ns until_partner = operation->partner_came_ns < 0
                               ? record.duration_ns
                               : std::min(since(event.begin_ns(), operation->partner_came_ns), record.duration_ns);
  call.for_partner = std::max(call.for_partner, until_partner);
  add_waiting(*operation, {.waited = record.duration_ns});
  SiteTotals& totals = site(record.site);
  if (record.site != operation->posted_at) {
    ++totals.operations;
    totals.bytes += operation->bytes;
  }
  if (static_cast<trace::WaitEnd>(record.detail) == trace::WaitEnd::released && operation->released_at != 0) {
    operation->released_by = record.extra;
    call.saved = std::max(call.saved, operation->saved);
    if (!operation->release_is_over) ++call.releases;
  } else if (!operation->reason.empty()) {
    ++totals.not_released[operation->reason];
    if (!operation->is_part) ++peer(operation->peer).not_released[operation->reason];
  }
}

void RankAccount::call(const Event& event) {
  const trace::Record& record = event.record;
  SiteTotals& totals = site(record.site);
  ++totals.calls;
  // What a call of the host waited for is told by the records of what it settled.
  const bool is_carried = static_cast<trace::CallClass>(record.detail) == trace::CallClass::carried;
  const Ns waited = is_carried ? record.value : 0;
  add_waiting_at(record.site, {.waited = waited});
  const auto known = calls_.find(record.extra);
  if (known == calls_.end()) return;
  known->second.returned = true;
  known->second.site = record.site;
  totals.for_partner += std::min(known->second.for_partner, waited);
  if (known->second.releases == 0) end_release(known);
}

void RankAccount::release(const Event& event) {
  const trace::Record& record = event.record;
  SiteTotals& totals = site(record.site);
  ++totals.released;
  if (record.detail & trace::release_unmatched) ++totals.unmatched;
  if (Operation* const operation = find(record.operation)) operation->released_at = record.site;
}

void RankAccount::release_end(const Event& event) {
  const trace::Record& record = event.record;
  Operation* const operation = find(record.operation);
  if (!operation) return;
  operation->release_is_over = true;
  operation->saved = record.duration_ns;
  add_waiting(*operation, {.saved = record.duration_ns});
  SiteTotals& totals = site(operation->released_at);
  if (record.detail & trace::release_touched) {
    ++totals.touched;
    totals.touched_after += record.value;
    totals.soonest_touch = std::min<Ns>(totals.soonest_touch, record.value);
    if (!operation->is_part) {
      PeerTotals& with = peer(operation->peer);
      ++with.touched;
      with.touched_after += record.value;
    }
  }
  const auto call = calls_.find(operation->released_by);
  if (operation->released_by == 0 || call == calls_.end()) return;
  call->second.saved = std::max<Ns>(call->second.saved, record.duration_ns);
  if (call->second.releases > 0) --call->second.releases;
  if (call->second.releases == 0 && call->second.returned) end_release(call);
}

void RankAccount::end_release(std::unordered_map<std::uint32_t, Call>::iterator call) {
  add_waiting_at(call->second.site, {.saved = call->second.saved});
  calls_.erase(call);
}

void RankAccount::wait_on_pages(const Event& event, bool is_fault) {
  const trace::Record& record = event.record;
  Operation* const operation = find(record.operation);
  if (!operation) return;
  SiteTotals& totals = site(operation->released_at);
  add_waiting_at(operation->released_at, {.on_pages = record.duration_ns});
  add_waiting(*operation, {.on_pages = record.duration_ns});
  const std::string where =
      is_fault ? place_of(record.site) : sites_.at(record.site).text() + ": " + word("settle", record.detail);
  TouchTotals& touch = (is_fault ? totals.touched_by : totals.settled_by)[where];
  ++touch.count;
  touch.waited += record.duration_ns;
}

void RankAccount::finish() {
  while (!calls_.empty()) end_release(calls_.begin());
  for (const std::uint32_t operation : over_) forget(operation);
  over_.clear();
  for (const auto& [operation, where] : still_waiting_) ++totals_->unfinished[where];
  for (const auto& [id, counter] : file_->table().counters()) {
    CounterTotals& totals = totals_->counters[counter.name];
    totals.value += counter.value;
    totals.unit = counter.unit;
  }
}

RankAccount::Operation* RankAccount::find(std::uint32_t operation) {
  const auto found = operations_.find(operation);
  return found == operations_.end() ? nullptr : &found->second;
}

SiteTotals& RankAccount::site(std::uint32_t id) {
  const auto own = own_numbers_.find(id);
  if (own != own_numbers_.end()) return totals_->sites[own->second];
  const Site& known = sites_.at(id);
  const auto [entry, is_new] = site_numbers_->try_emplace(known.text(), totals_->sites.size());
  if (is_new) {
    totals_->sites.emplace_back();
    totals_->sites.back().call = known.call;
    totals_->sites.back().place = known.place();
  }
  own_numbers_.emplace(id, entry->second);
  return totals_->sites[entry->second];
}

PeerTotals& RankAccount::peer(std::int32_t peer) {
  PeerTotals& totals = totals_->peers[{file_->rank(), peer}];
  if (totals.transport.empty()) totals.transport = file_->table().transporter(peer);
  return totals;
}

ProtocolTotals& RankAccount::protocol_of(const Operation& operation) {
  const std::string protocol = operation.has_protocol ? word("protocol", operation.protocol) : "eager";
  return totals_->protocols[{protocol, size_class(operation.bytes)}];
}

void RankAccount::add_waiting_at(std::uint32_t id, const Waiting& waiting) {
  site(id).waiting += waiting;
  totals_->ranks[file_->rank()] += waiting;
  if (sites_.have_paths()) totals_->paths[path_of(sites_.at(id))] += waiting;
}

void RankAccount::add_waiting(Operation& operation, const Waiting& waiting) {
  if (operation.is_part) return;
  PeerTotals& totals = peer(operation.peer);
  (operation.is_send ? totals.sending : totals.receiving) += waiting;
  operation.waiting += waiting;
}

/// Of an operation that is over. What it waited belongs to its protocol, which is known only now if it was released early.
void RankAccount::forget(std::uint32_t number) {
  const auto found = operations_.find(number);
  if (found == operations_.end()) return;
  if (!found->second.is_send && !found->second.is_part) protocol_of(found->second).waiting += found->second.waiting;
  operations_.erase(found);
}

}  // namespace sluice
