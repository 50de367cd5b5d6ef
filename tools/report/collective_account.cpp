#include "tools/report/collective_account.hpp"

#include <algorithm>
#include <set>

namespace sluice {

using trace::CollectiveKind;
using trace::Kind;

namespace {

/// Of these a rank other than the root waits for nobody but the root, whoever else hands on what the root gives.
bool waits_for_root_only(CollectiveKind kind) { return kind == CollectiveKind::bcast || kind == CollectiveKind::scatter; }

bool waits_for_neighbours_only(CollectiveKind kind) {
  return kind == CollectiveKind::neighbour_allgather || kind == CollectiveKind::neighbour_alltoall;
}

/// Calls are numbered apart that go by messages, by blocking ones in lanes, and by nonblocking ones in lanes.
std::uint32_t numbers_of(std::uint32_t how) {
  const bool is_in_lanes = (how & trace::collective_lanes) != 0;
  return is_in_lanes ? how & (trace::collective_lanes | trace::collective_nonblocking) : 0;
}

}  // namespace

void CollectiveAccount::add(const Event& event) {
  const trace::Record& record = event.record;
  switch (event.kind()) {
    case Kind::collective:
      return begin(rank_of(event), event);
    case Kind::collective_end:
      return end(rank_of(event), event);
    case Kind::part: {
      Rank& rank = rank_of(event);
      const auto operation = static_cast<std::uint32_t>(record.value);
      if (const auto call = rank.calls.find(operation); call != rank.calls.end()) {
        rank.parts[record.operation] = operation;
        call->second.parts.push_back(record.operation);
        note_neighbour(call->second, event);
      }
      return;
    }
    case Kind::wait:
      return wait(rank_of(event), event);
    case Kind::not_released:
      if (Call* const call = call_of(rank_of(event), record.operation))
        call->reason = event.file->table().word("fallback", record.detail);
      return;
    case Kind::release:
      if (Call* const call = call_of(rank_of(event), record.operation)) {
        call->was_released = true;
        ++call->releases;
      }
      return;
    case Kind::release_end:
      return release_end(rank_of(event), event);
    case Kind::fault:
    case Kind::settle:
      if (Call* const call = call_of(rank_of(event), record.operation)) call->on_pages += record.duration_ns;
      return;
    default:
      return;
  }
}

void CollectiveAccount::begin(Rank& rank, const Event& event) {
  const trace::Record& record = event.record;
  Call call;
  call.is_nonblocking = (record.extra & trace::collective_nonblocking) != 0;
  call.name = {event.file->header().job, record.context, numbers_of(record.extra), record.value};
  call.at = &at(rank, record.site);
  call.site = record.site;
  ++call.at->calls;
  call.at->bytes += record.bytes;
  if ((record.extra & trace::collective_lanes) != 0) ++call.at->through_lanes;
  if (call.is_nonblocking) ++call.at->nonblocking;
  enter(call, event);
  rank.calls[record.operation] = std::move(call);
  rank.begun.push_back(record.operation);
  while (rank.begun.size() > max_open) {
    conclude(rank, rank.begun.front());
    rank.begun.pop_front();
  }
}

void CollectiveAccount::enter(const Call& call, const Event& event) {
  const auto [group, is_new] = groups_.try_emplace(call.name);
  if (is_new) {
    group->second.serial = ++serial_;
    turns_.emplace_back(call.name, serial_);
  }
  Member member;
  member.rank = event.rank;
  member.root = event.record.peer;
  member.kind = static_cast<CollectiveKind>(event.record.detail);
  member.is_nonblocking = call.is_nonblocking;
  member.entered_ns = event.end_ns;
  member.at = call.at;
  group->second.members.push_back(member);
  ++members_;
  tell_the_oldest();
}

void CollectiveAccount::tell_the_oldest() {
  const auto find = [this](const Turn& turn) {
    const auto place = groups_.find(turn.first);
    return place != groups_.end() && place->second.serial == turn.second ? place : groups_.end();
  };
  for (; members_ > max_members; turns_.pop_front()) {
    if (const auto oldest = find(turns_.front()); oldest != groups_.end()) tell(oldest);
  }
  if (turns_.size() > 2 * max_members) std::erase_if(turns_, [&](const Turn& turn) { return find(turn) == groups_.end(); });
}

void CollectiveAccount::note_neighbour(const Call& call, const Event& event) {
  const auto group = groups_.find(call.name);
  Member* const own = group == groups_.end() ? nullptr : member(group->second, event.rank);
  const bool is_receive = (event.record.detail & trace::part_send) == 0;
  if (own && is_receive && waits_for_neighbours_only(own->kind)) own->neighbours.insert(event.record.peer);
}

void CollectiveAccount::end(Rank& rank, const Event& event) {
  const trace::Record& record = event.record;
  const auto found = rank.calls.find(record.operation);
  if (found == rank.calls.end()) return;
  Call& call = found->second;
  call.is_over = true;
  call.lasted = record.duration_ns;
  call.in_call = std::min<Ns>(record.value, record.duration_ns);
  leave(call, event);
  if (call.releases == 0 && !call.is_nonblocking) conclude(rank, record.operation);
}

/// Where nobody can still wait for a request, all is known of the call.
void CollectiveAccount::leave(const Call& call, const Event& event) {
  const auto group = groups_.find(call.name);
  Member* const own = group == groups_.end() ? nullptr : member(group->second, event.rank);
  if (!own) return;
  own->over_ns = event.end_ns;
  own->seen_last = event.record.peer;
  own->waits_since_ns = call.waits_since_ns;
  own->waited = call.is_nonblocking ? call.for_request : call.in_call;
  ++group->second.over;
  const auto& members = group->second.members;
  const bool may_wait = std::any_of(members.begin(), members.end(), [](const Member& one) { return one.is_nonblocking; });
  group->second.ranks = event.record.extra;
  if (!may_wait && group->second.over == group->second.ranks) tell(group);
}

void CollectiveAccount::wait(Rank& rank, const Event& event) {
  const trace::Record& record = event.record;
  if (const auto part = rank.parts.find(record.operation); part != rank.parts.end()) {
    if (Call* const call = call_of(rank, record.operation)) call->last_round = std::max<Ns>(call->last_round, record.duration_ns);
    return;
  }
  const auto found = rank.calls.find(record.operation);
  if (found == rank.calls.end()) return;
  Call& call = found->second;
  if (call.waits_since_ns < 0) call.waits_since_ns = event.begin_ns();
  call.for_request += record.duration_ns;
  const auto group = groups_.find(call.name);
  if (Member* const own = group == groups_.end() ? nullptr : member(group->second, event.rank)) {
    own->waits_since_ns = call.waits_since_ns;
    own->waited = call.for_request;
  }
}

void CollectiveAccount::release_end(Rank& rank, const Event& event) {
  const trace::Record& record = event.record;
  Call* const call = call_of(rank, record.operation);
  if (!call) return;
  call->saved = std::max<Ns>(call->saved, record.duration_ns);
  if (call->releases > 0) --call->releases;
  if (call->is_over && call->releases == 0 && !call->is_nonblocking) conclude(rank, rank.parts.at(record.operation));
}

CollectiveAccount::Call* CollectiveAccount::call_of(Rank& rank, std::uint32_t operation) {
  const auto part = rank.parts.find(operation);
  if (part == rank.parts.end()) return nullptr;
  const auto call = rank.calls.find(part->second);
  return call == rank.calls.end() ? nullptr : &call->second;
}

std::string CollectiveAccount::why_not_hidden(const Call& call) {
  if (call.was_released || call.in_call + call.for_request == 0) return "";
  if (call.is_nonblocking) return call.for_request == 0 ? "" : "waited for before it was done";
  if (std::get<2>(call.name)) return "short, through lanes";
  if (call.last_round < call.in_call / 2) return "not in its last round";
  return call.reason;
}

/// What is never over counts as entered only.
void CollectiveAccount::conclude(Rank& rank, std::uint32_t operation) {
  const auto found = rank.calls.find(operation);
  if (found == rank.calls.end()) return;
  const Call& call = found->second;
  CollectiveTotals& totals = *call.at;
  const Ns not_hidden = call.in_call + call.for_request;
  totals.lasted += call.lasted;
  totals.waited += (call.is_nonblocking ? 0 : call.in_call) + call.for_request;
  totals.hidden +=
      call.is_nonblocking ? call.lasted - std::min(call.lasted, not_hidden) : call.saved - std::min(call.saved, call.on_pages);
  if (call.was_released) ++totals.released;
  if (const std::string why = why_not_hidden(call); !why.empty()) ++totals.not_hidden[why];
  for (const std::uint32_t part : call.parts) rank.parts.erase(part);
  rank.calls.erase(found);
}

void CollectiveAccount::finish() {
  for (auto& [file, rank] : ranks_) {
    for (const auto& [operation, call] : rank.calls) {
      if (!call.is_over && !call.is_nonblocking) ++totals_->unfinished[rank.sites.at(call.site).text()];
    }
    while (!rank.calls.empty()) conclude(rank, rank.calls.begin()->first);
  }
  while (!groups_.empty()) tell(groups_.begin());
}

/// Who was late: of those for whom a rank waited, and who had entered when it was over, the last one.
void CollectiveAccount::tell(std::map<Name, Group>::iterator place) {
  const Group& group = place->second;
  const bool is_whole = group.ranks != 0 && group.members.size() == group.ranks;
  std::set<std::pair<CollectiveTotals*, std::int32_t>> told;
  for (const Member& own : group.members) {
    if (own.waited == 0) continue;
    std::int32_t late = own.seen_last;
    Ns for_late = own.waited;
    if (is_whole) {
      const Member* const last = last_for(group, own);
      late = last ? last->rank : own.rank;
      const std::int64_t waits_since = own.waits_since_ns < 0 ? own.entered_ns : own.waits_since_ns;
      for_late = last ? std::min(own.waited, since(waits_since, last->entered_ns)) : 0;
    }
    if (late < 0 || late == own.rank || for_late == 0) continue;
    LateTotals& totals = own.at->late[late];
    if (told.emplace(own.at, late).second) ++totals.times;
    totals.waited += for_late;
    own.at->for_late += for_late;
  }
  members_ -= group.members.size();
  groups_.erase(place);
}

const CollectiveAccount::Member* CollectiveAccount::last_for(const Group& group, const Member& own) {
  const bool for_root_only = waits_for_root_only(own.kind) && own.rank != own.root;
  const bool for_some_only = waits_for_neighbours_only(own.kind);
  const Member* last = nullptr;
  for (const Member& other : group.members) {
    if (for_root_only && other.rank != own.root) continue;
    if (for_some_only && other.rank != own.rank && own.neighbours.count(other.rank) == 0) continue;
    if (own.over_ns != 0 && other.entered_ns > own.over_ns) continue;
    if (!last || other.entered_ns > last->entered_ns) last = &other;
  }
  return last;
}

CollectiveAccount::Member* CollectiveAccount::member(Group& group, std::int32_t rank) {
  const auto found =
      std::find_if(group.members.begin(), group.members.end(), [rank](const Member& member) { return member.rank == rank; });
  return found == group.members.end() ? nullptr : &*found;
}

CollectiveAccount::Rank& CollectiveAccount::rank_of(const Event& event) {
  const auto known = ranks_.find(event.file);
  return known != ranks_.end() ? known->second : ranks_.try_emplace(event.file, Sites(*event.file, *symbols_)).first->second;
}

CollectiveTotals& CollectiveAccount::at(Rank& rank, std::uint32_t id) {
  const auto [known, is_new] = rank.totals.try_emplace(id, nullptr);
  if (!is_new) return *known->second;
  const Site& site = rank.sites.at(id);
  CollectiveTotals& totals = totals_->collectives[site.text()];
  totals.call = site.call;
  totals.place = site.place();
  known->second = &totals;
  return totals;
}

}  // namespace sluice
