#include "runtime/release/releases.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/held_signals.hpp"
#include "runtime/rendezvous/rdma_transfer.hpp"

namespace sluice {
namespace {

using Answer = ReleaseDecision::Answer;

/// Later than a thread that polls a socket, the helper thread takes what comes there: interrupt, wake-up, lock.
constexpr std::uint64_t helper_delay_ns = 15'000;

thread_local bool has_released = false;

bool is_open(const Request* request) { return request && !request->may_return(); }

}  // namespace

Releases::Releases(const Job& job, AliasBlocks& blocks, Causality& causality, Ways& ways, const Counts& counts,
                   EngineStatistics& statistics)
    : job_(job), blocks_(blocks), causality_(causality), ways_(ways), counts_(counts), statistics_(statistics), pages_(job) {}

void Releases::begin(FaultWaiter& waiter) {
  causality_.watch(this);
  pages_.make(waiter);
  if (!may_return_early()) return;
  const ReleasePolicy::Cost cost = ReleasePolicy::measure_cost();
  policy_.set_cost(guard()->engine() == GuardEngine::userfaultfd ? ReleasePolicy::with_userfaultfd(cost) : cost);
}

bool Releases::this_thread_released() { return has_released; }

bool Releases::refuse(const Request& request, Fallback reason, std::uint64_t waited_ns) {
  statistics_.count(reason);
  if (trace::on()) [[unlikely]]
    trace::not_released(request, reason, waited_ns);
  return false;
}

bool Releases::refuse(std::span<Request* const> requests, Fallback reason, std::uint64_t waited_ns) {
  statistics_.count(reason);
  if (!trace::on()) return false;
  for (const Request* request : requests) {
    if (is_open(request)) trace::not_released(*request, reason, waited_ns);
  }
  return false;
}

bool Releases::try_release(Lock& lock, std::span<Request* const> requests, CallSite site, std::uint64_t waited_ns) {
  if (!may_return_early()) return false;
  if (job_.host.outstanding && job_.host.outstanding()) return refuse(requests, Fallback::host_outstanding, waited_ns);
  if (counts_.open_rtrs != 0 && await_open_rtrs(requests, waited_ns)) return false;
  if (!have_waited_enough(requests, waited_ns)) return false;
  std::uint64_t expected_ns = 0;
  for (Request* request : requests) {
    if (!is_open(request)) continue;
    expected_ns += cost_ns(request->range());
    if (!request->is_send()) ways_.look_at_sentinels(*request);
  }
  const ReleaseTerms terms{.mode = job_.config.release,
                           .releases_sends = job_.config.send_release,
                           .concurrent_calls = job_.concurrent_calls,
                           .shares_memory = job_.host.shares_memory && job_.host.shares_memory(),
                           .waited_ns = waited_ns};
  std::size_t migrated_pages = 0;
  for (const Request* request : requests) {
    if (is_open(request) && !may_release(*request, terms, migrated_pages)) return false;
  }
  if (!guard()->handler_installed()) return refuse(requests, Fallback::foreign_handler, waited_ns);
  // A copy that another thread has under way reads or writes pages by their own address: let it come to the end of its chunk.
  while (counts_.busy_copies != 0) {
    lock.unlock();
    __builtin_ia32_pause();
    lock.lock();
  }
  return release_all(requests, site, waited_ns, expected_ns);
}

/// Each of many receives costs a release: as long as all of them do, they may as well be waited for.
bool Releases::have_waited_enough(std::span<Request* const> requests, std::uint64_t waited_ns) const {
  std::uint64_t min_wait_ns = 0;
  for (const Request* request : requests) {
    if (!is_open(request)) continue;
    if (request->bytes < smallest_release) return false;
    min_wait_ns += policy_.cost_ns(0);
    if (waited_ns < min_wait_ns) return false;
  }
  return true;
}

/// Receives that their senders may be writing to right now. A sender that is late is asked not to
/// (rendezvous/receiver_initiated.hpp); they are released when it has answered.
bool Releases::await_open_rtrs(std::span<Request* const> requests, std::uint64_t waited_ns) {
  bool any = false;
  for (Request* receive : requests) {
    if (!receive || !receive->rtr_open) continue;
    any = true;
    if (trace::on()) [[unlikely]]
      trace::not_released(*receive, Fallback::rtr_open, waited_ns);
    if (waited_ns >= job_.config.rtr_wait * std::uint64_t{1000}) ways_.withdraw(*receive);
  }
  if (any) statistics_.count(Fallback::rtr_open);
  return any;
}

BlockedReceive Releases::describe(const Request& receive) const {
  using Path = BlockedReceive::Path;
  BlockedReceive blocked;
  blocked.bytes = receive.bytes;
  blocked.span_bytes = receive.range().size();
  blocked.has_gaps = receive.has_gaps();
  blocked.cost_ns = cost_ns(ReleasedPages::range_of(receive));
  blocked.matched = receive.matched;
  if (receive.matched) {
    const bool is_written = receive.way == Request::Way::write && !receive.shared.if_idle && !receive.shared.by_address;
    const bool is_streamed = receive.way == Request::Way::stream && job_.transport->streams_directly(receive.peer);
    const bool moves_behind = receive.way == Request::Way::rdma && receive.rdma->in_block;
    blocked.path = is_written ? Path::written : is_streamed ? Path::streamed : moves_behind ? Path::moved_to_alias : Path::other;
    blocked.missing_bytes = receive.way == Request::Way::write ? ways_.missing_bytes(receive) : receive.stop - receive.offset;
    return blocked;
  }
  blocked.is_wildcard = receive.rank == any_source || receive.tag == any_tag;
  blocked.errors_return = receive.context->errors_return;
  if (blocked.is_wildcard) return blocked;
  const Peer sender = receive.context->peer(receive.rank);
  blocked.is_from_self = sender == job_.self;
  Transport& transport = *job_.transport;
  blocked.can_go_on =
      !blocked.is_from_self && (transport.can_write(sender) || transport.streams_directly(sender) || transport.rdma(sender));
  return blocked;
}

bool Releases::may_release(const Request& request, const ReleaseTerms& terms, std::size_t& migrated_pages) {
  if (request.is_send()) return may_release_send(request, terms);
  if (request.bytes < smallest_release) return false;
  const ReleaseDecision decision = judge(describe(request), terms);
  if (decision.answer == Answer::if_block) return is_block(request, terms.waited_ns, migrated_pages);
  return decision.answer == Answer::refused ? refuse(request, decision.reason, terms.waited_ns) : decision.answer == Answer::yes;
}

bool Releases::may_release_send(const Request& send, const ReleaseTerms& terms) {
  const ByteRange range = send.range();
  const ReleaseDecision decision = judge(BlockedSend{.bytes = send.bytes,
                                                     .is_standard = send.mode == SendMode::standard,
                                                     .is_answered = send.way != Request::Way::undecided,
                                                     .is_offered = send.offered},
                                         terms);
  if (decision.answer == Answer::no) return false;
  if (decision.answer == Answer::refused) {
    const bool has_earned = outlasts_migration(terms.waited_ns, PageRange::covering(range).size());
    if (decision.reason == Fallback::send_not_offered && has_earned) blocks_.earn(range);
    return refuse(send, decision.reason, terms.waited_ns);
  }
  if (!PageGuard::hears_writers()) return refuse(send, Fallback::foreign_handler, terms.waited_ns);
  return blocks_.is_live(range) || refuse(send, Fallback::not_eligible, terms.waited_ns);
}

/// The receive's memory is an alias block, or has been waited for long enough to become one now, after `migrated_pages` for the
/// same call.
bool Releases::is_block(const Request& receive, std::uint64_t waited_ns, std::size_t& migrated_pages) {
  const ByteRange range = ReleasedPages::range_of(receive);
  if (blocks_.is_live(range)) return true;
  migrated_pages += PageRange::covering(range).size();
  if (!outlasts_migration(waited_ns, migrated_pages)) return refuse(receive, Fallback::not_worth, waited_ns);
  held_signals::hold();
  const auto purpose = receive.matched ? AliasBlocks::Purpose::filled : AliasBlocks::Purpose::posted;
  return blocks_.make(range, purpose) || refuse(receive, Fallback::not_eligible, waited_ns);
}

bool Releases::release_all(std::span<Request* const> requests, CallSite site, std::uint64_t waited_ns,
                           std::uint64_t expected_ns) {
  ReleasingCall* call = nullptr;
  const std::uint64_t started = now_ns();
  for (Request* request : requests) {
    if (!is_open(request)) continue;
    if (!release(*request)) return refuse(*request, Fallback::guard_refused, waited_ns);
    if (!call) call = &policy_.begin(site);
    ++call->open;
    request->released_by = call;
  }
  if (!call) return true;
  // The application goes on from now on, also where the first of many was protected long ago.
  const std::uint64_t closed = now_ns();
  for (Request* request : requests) {
    if (request && request->released_by == call) request->released_at = closed;
  }
  policy_.closed(*call, closed - started, expected_ns);
  return true;
}

bool Releases::release(Request& request) {
  const bool is_send = request.is_send();
  if (!(is_send ? pages_.close_send(request) : pages_.close_receive(request))) return false;
  request.released = true;
  request.released_at = now_ns();
  if (!is_send) {
    has_released = true;
    request.taken_before = helper_time_.taken(request.released_at);
    helper_time_.released_on(sched_getcpu());
  }
  if (trace::on()) [[unlikely]] {
    const ByteRange range = is_send ? request.range() : ReleasedPages::range_of(request);
    trace::released(request, range, request.released_at - PageGuard::protected_at(*request.guarded));
  }
  ++(is_send ? statistics_.sends_released : statistics_.released);
  if (!is_send && !request.matched) {
    ++statistics_.released_unmatched;
    request.unknown = true;
    request.lazy_token = lazy_counts_.issue();
    request.release_mark = counts_.operations;
  }
  causality_.add(request);
  return true;
}

/// The protection, and what the message takes longer because the receiver does not wait in its call: there it would help with the
/// copy (rendezvous/write_delivery.hpp), or poll the socket.
std::uint64_t Releases::price_of(const Request& request) const {
  const bool could_help = !request.is_send() && request.way == Request::Way::write && ways_.can_read_from(request);
  const bool is_streamed = request.matched && request.peer != job_.self && job_.transport->streams_directly(request.peer);
  return cost_ns(request.range()) + (could_help ? request.limit * 1000 / copy_bytes_per_us / 2 : 0) +
         (is_streamed ? helper_delay_ns : 0);
}

void Releases::ended(Request& request) {
  const bool is_send = request.is_send();
  const std::uint64_t now = now_ns();
  const std::uint64_t lasted = now - request.released_at;
  const std::uint64_t touched = PageGuard::first_touch_after(*request.guarded);
  const std::uint64_t ran = PageGuard::ran_on_for(*request.guarded, now);
  const std::uint64_t closing = request.released_at - PageGuard::protected_at(*request.guarded);
  pages_.finish(request);
  request.released = false;
  causality_.remove(request);
  // The guard counts from before the protection, which hides nothing.
  const std::uint64_t not_hidden = closing + (is_send ? 0 : helper_time_.taken(now) - request.taken_before);
  const std::uint64_t hidden = std::min(ran - std::min(ran, not_hidden), lasted);
  const std::uint64_t price = price_of(request);
  (is_send ? statistics_.sends_touched_at_once : statistics_.touched_at_once) += hidden <= price ? 1 : 0;
  (is_send ? statistics_.sends_blocked_ns : statistics_.blocked_ns) += lasted;
  policy_.end(*std::exchange(request.released_by, nullptr), hidden, price);
  if (trace::on()) [[unlikely]]
    trace::release_ended(request, {lasted, hidden, touched, price});
}

void Releases::advance() {
  for (Request* request = causality_.released().first(); request; request = Causality::Released::next(request)) {
    if (!request->is_send()) {
      if (request->progress_slot != Transport::no_slot) {
        request->offset = std::min<std::size_t>(job_.transport->progress(request->progress_slot), request->limit);
      }
      ways_.look_at_sentinels(*request);
    }
    pages_.open(*request);
  }
}

void Releases::helper_wakes() {
  if (!causality_.released().empty()) helper_time_.wakes_on(sched_getcpu(), now_ns());
}

void Releases::helper_sleeps() {
  if (helper_time_.runs()) helper_time_.sleeps(now_ns());
}

}  // namespace sluice
