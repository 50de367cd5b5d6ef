#include "runtime/lane_calls.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/fatal.hpp"

namespace sluice {

Request* LaneCalls::start(Context& context, const Team& team, LaneOrder order, CallSite site) {
  StartedCalls& calls = *team.started;
  const Description what = order.step->description(calls.team());
  Request* const request = parts_.requests.new_collective(context, site);
  request->limit = order.bytes;
  if (order.is_truncated) {
    request->failure = Failure::truncated;
    request->message_bytes = order.bytes;
  }
  ++parts_.statistics.collective_calls;
  Open& open = open_.emplace_back(Open{&calls, nullptr, std::move(order), request, std::nullopt});
  if (trace::on()) [[unlikely]]
    begin_trace(open, what);
  open.call = &calls.begin(what);
  const bool is_over = publish(open) && take(open);
  if (open.traced) [[unlikely]]
    open.traced->is_begun();
  if (is_over) {
    conclude(open);
    open_.pop_back();
  }
  return request;
}

bool LaneCalls::publish(Open& open) const {
  Team* const team = open.calls->to_publish(*open.call);
  if (!team) return false;
  const LaneStep::Publication publication = open.order.step->put(*team);
  team->publish(publication.readers, publication.reader);
  open.order.step->go_on(*team);
  open.calls->published(*open.call);
  if (publication.readers == Team::Readers::one) wake(team->members()[static_cast<std::size_t>(publication.reader)]);
  if (publication.readers == Team::Readers::all) wake_all(*team);
  return true;
}

bool LaneCalls::take(Open& open) const {
  Team* const team = open.calls->that_is_there(*open.call);
  if (!team) return false;
  if (const auto mismatch = team->mismatch()) [[unlikely]] {
    report("%s: rank %d of the communicator is in another collective call, or in one of another length (%s instead of %s)",
           open.request->site.function(), static_cast<int>(mismatch->rank), mismatch->other.text().c_str(),
           mismatch->own.text().c_str());
    open.request->failure = Failure::truncated;
    open.request->message_bytes = open.request->limit;
  } else {
    open.order.step->take(*team);
  }
  return true;
}

void LaneCalls::conclude(Open& open) const {
  if (open.calls->end(*open.call)) wake_all(open.calls->team());
  if (open.traced) [[unlikely]]
    open.traced->end(open.request->failure != Failure::none);
  parts_.requests.finish(open.request);
}

bool LaneCalls::advance() {
  bool moved = false;
  for (std::size_t i = 0; i < open_.size();) {
    Open& open = open_[i];
    if (!open.call->is_published()) {
      if (!publish(open)) {
        ++i;
        continue;
      }
      moved = true;
    }
    if (take(open)) {
      conclude(open);
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      moved = true;
    } else {
      ++i;
    }
  }
  return moved;
}

bool LaneCalls::any_is_there() const {
  return std::any_of(open_.begin(), open_.end(), [](const Open& open) {
    return open.call->is_published() ? open.calls->that_is_there(*open.call) : open.calls->to_publish(*open.call);
  });
}

bool LaneCalls::has_duties() const {
  return std::any_of(open_.begin(), open_.end(), [](const Open& open) { return open.calls->others_may_wait(); });
}

void LaneCalls::begin_trace(Open& open, const Description& call) const {
  const Team& team = open.calls->team();
  open.traced.emplace(
      open.request->traced,
      trace::CollectiveTrace::Call{.kind = call.kind,
                                   .communicator = open.request->context->id(),
                                   .first = team.members().front().peer,
                                   .number = team.next(),
                                   .bytes = call.bytes,
                                   .root = call.has_root() ? team.members()[call.root].peer : trace::CollectiveTrace::no_peer,
                                   .ranks = static_cast<std::uint32_t>(team.size()),
                                   .how = trace::collective_lanes | trace::collective_nonblocking});
}

void LaneCalls::wake(const Team::Member& member) const {
  if (Team::is_asleep(member)) [[unlikely]]
    parts_.job.transport->wake_for_lane(member.peer);
}

void LaneCalls::wake_all(const Team& team) const {
  for (const Team::Member& member : team.members()) {
    if (member.peer != parts_.job.self) wake(member);
  }
}

}  // namespace sluice
