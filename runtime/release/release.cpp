// Early release of blocked receives (ER section 2.2) and sends, and what it obliges to: causality, order, lazy counts (page-guard
// rules 1 to 6, 14).
//
// A blocked call first waits for as long as a release would cost; only then are its operations released, all that are still
// incomplete or none. So a wait that turns out short costs nothing, and one that turns out long loses at most that time twice.
//
// Causality: from the release of a receive whose message is not known until it is, sends, acknowledgements and clearances that
// the application caused *after* the release are kept in `held`, in order. Replies that belong to receives posted before the
// release go out: the process would have given them while blocked.

#include <sched.h>

#include <algorithm>
#include <utility>

#include "runtime/alias/kept_memory.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/process/alternate_stacks.hpp"
#include "runtime/process/lock_waiters.hpp"

namespace sluice {
namespace {

/// Smaller receives are never released: a handful of pages arrives faster than a protection change pays.
constexpr std::size_t smallest_release = 16 * 1024;
/// What the sender's copy puts in place per microsecond, at least; decides whether the rest of a message is worth a release.
constexpr std::size_t copy_bytes_per_us = 8000;
/// The same for what comes through sockets: between two processes of one machine, hence more than any network brings.
constexpr std::size_t stream_bytes_per_us = 4000;
/// Later than a thread that polls a socket, the helper thread takes what comes there: interrupt, wake-up, lock.
constexpr std::uint64_t helper_delay_ns = 15'000;
/// A span with more gaps than that is mostly other data, which would be touched.
constexpr std::size_t most_span_per_byte = 8;
/// Making an alias block, per page.
constexpr std::uint64_t migration_ns_per_page = 2000;

thread_local bool this_thread_released = false;

/// So much of the receive's range, from its start, is in place.
std::size_t completed_prefix(const Request& receive) {
  if (!receive.has_gaps()) return receive.offset;
  if (!receive.layout_buffer.layout->is_ascending()) return 0;
  LayoutCursor cursor(receive.layout_buffer);
  cursor.seek(receive.offset);
  return cursor.address() - receive.range().begin;
}

/// glibc keeps the arena of a thread in the first page of its heap. Whoever allocates from it, or frees into it, would wait for
/// the message, and who goes to sleep on its lock would die of EFAULT.
bool begins_beside_an_arena(ByteRange range) {
  constexpr std::uintptr_t heap_alignment = std::uintptr_t{64} << 20;  // HEAP_MAX_SIZE
  constexpr std::uintptr_t arena_bytes = 2048;                         // at least
  const std::uintptr_t offset = range.begin % heap_alignment;
  return offset >= arena_bytes && offset < page_bytes;
}

/// Other threads, and the kernel, can do without these pages.
bool may_close(ByteRange range) {
  return !alternate_stacks::share_pages_with(range) && !begins_beside_an_arena(range) && !kept_memory::overlaps(range);
}

}  // namespace

/// A datatype with gaps is released over its span, before its message is known: then the wait is for a late sender. Once the
/// message is there, this process has to unpack it anyhow, and may as well do it now.
bool Engine::State::span_pays(const Request& receive, std::uint64_t waited_ns) const {
  const ByteRange span = receive.range();
  return span.size() <= most_span_per_byte * receive.bytes && waited_ns >= policy.cost_ns(PageRange::covering(span).size());
}

/// While the receiver has not come. Once it has, what is left to do is this process's own work, or done in a moment.
bool Engine::State::may_release_send(const Request& send, std::uint64_t waited_ns) {
  const auto no = [&](Fallback reason) { return refuse_release(send, reason, waited_ns); };
  if (!config.send_release || send.mode != SendMode::standard || send.bytes < smallest_release) return false;
  if (concurrent_calls) return no(Fallback::concurrent_calls);
  if (send.way != Request::Way::undecided) return no(Fallback::send_answered);
  const ByteRange range = send.range();
  if (!send.offered) {
    if (waited_ns >= PageRange::covering(range).size() * migration_ns_per_page) blocks.earn(range);
    return no(Fallback::send_not_offered);
  }
  if (!PageGuard::hears_writers()) return no(Fallback::foreign_handler);
  return blocks.is_live(range) || no(Fallback::not_eligible);
}

bool Engine::State::may_release(const Request& receive, std::uint64_t waited_ns, std::size_t& migrated_pages) {
  const auto no = [&](Fallback reason) { return refuse_release(receive, reason, waited_ns); };
  if (receive.is_send()) return may_release_send(receive, waited_ns);
  if (receive.bytes < smallest_release) return false;
  if (receive.has_gaps() && (receive.matched || !span_pays(receive, waited_ns))) return no(Fallback::not_contiguous);
  const ByteRange range = receive.matched ? ByteRange::of(receive.data, receive.limit) : receive.range();
  const std::size_t pages = PageRange::covering(range).size();
  if (receive.matched) {
    const bool streamed = receive.way == Request::Way::stream && transport->streams_directly(receive.peer);
    const bool moved_behind = receive.way == Request::Way::rdma && receive.rdma->in_block;
    const bool written = receive.way == Request::Way::write && !receive.shared.if_idle;
    if (!written && !streamed && !moved_behind) return no(Fallback::other_copy);
    const std::size_t missing = receive.way == Request::Way::write ? missing_bytes(receive) : receive.stop - receive.offset;
    const std::uint64_t rest_ns = missing * 1000 / (streamed ? stream_bytes_per_us : copy_bytes_per_us);
    if (rest_ns < 2 * policy.cost_ns(pages)) return no(Fallback::not_worth);
    if (streamed) return can_be_block(receive, waited_ns, migrated_pages);
  } else {
    if (receive.rank == any_source || receive.tag == any_tag) return no(Fallback::wildcard_unmatched);
    if (config.release == ReleaseMode::matched) return no(Fallback::mode_matched_only);
    if (config.release == ReleaseMode::automatic && receive.context->errors_return) return no(Fallback::errors_return);
    if (concurrent_calls) return no(Fallback::concurrent_calls);
    if (receive.context->peer(receive.rank) == self) return false;
    const Peer sender = receive.context->peer(receive.rank);
    if (!transport->can_write(sender) && !transport->streams_directly(sender) && !transport->rdma(sender))
      return no(Fallback::other_copy);
    return can_be_block(receive, waited_ns, migrated_pages);
  }
  return true;
}

/// The receive's memory is an alias block, or has been waited for long enough to become one now, after `migrated_pages` for the
/// same call.
bool Engine::State::can_be_block(const Request& receive, std::uint64_t waited_ns, std::size_t& migrated_pages) {
  const ByteRange range = receive.matched ? ByteRange::of(receive.data, receive.limit) : receive.range();
  if (blocks.is_live(range)) return true;
  migrated_pages += PageRange::covering(range).size();
  const bool is_early = waited_ns < migrated_pages * migration_ns_per_page;
  if (is_early) return refuse_release(receive, Fallback::not_worth, waited_ns);
  held_signals::hold();
  const auto purpose = receive.matched ? AliasArena::Purpose::filled : AliasArena::Purpose::posted;
  return blocks.make(range, purpose) || refuse_release(receive, Fallback::not_eligible, waited_ns);
}

bool Engine::State::refuse_release(const Request& request, Fallback reason, std::uint64_t waited_ns) {
  statistics.count(reason);
  if (trace::on()) [[unlikely]]
    trace::not_released(request, reason, waited_ns);
  return false;
}

/// All that are pending, for a reason that none of them is the cause of; counted once.
void Engine::State::refuse_release(std::span<Request* const> requests, Fallback reason, std::uint64_t waited_ns) {
  statistics.count(reason);
  if (!trace::on()) return;
  for (const Request* request : requests) {
    if (request && !request->may_return()) trace::not_released(*request, reason, waited_ns);
  }
}

void Engine::State::fall_back(const Request& request, Fallback reason) {
  statistics.count(reason);
  if (trace::on()) [[unlikely]]
    trace::fell_back(request, reason);
}

bool Engine::State::try_release(Lock& lock, std::span<Request* const> requests, CallSite site, std::uint64_t waited_ns) {
  if (!releases()) return false;
  if (host.outstanding && host.outstanding()) {
    refuse_release(requests, Fallback::host_outstanding, waited_ns);
    return false;
  }
  const auto pending = [](const Request* request) { return request && !request->may_return(); };
  if (announced_count != 0 && awaits_announced(requests, waited_ns)) return false;
  // Each of many receives costs a release: as long as all of them do, they may as well be waited for.
  std::uint64_t least_wait_ns = 0;
  std::uint64_t cost_ns = 0;
  for (const Request* request : requests) {
    if (!pending(request)) continue;
    if (request->bytes < smallest_release) return false;
    least_wait_ns += policy.cost_ns(0);
    cost_ns += policy.cost_ns(PageRange::covering(request->range()).size());
    if (waited_ns < least_wait_ns) return false;
  }
  for (Request* request : requests) {
    if (pending(request) && !request->is_send()) look_at_sentinels(*request);
  }
  std::size_t migrated_pages = 0;
  for (const Request* request : requests) {
    if (pending(request) && !may_release(*request, waited_ns, migrated_pages)) return false;
  }
  if (!guard->handler_installed()) {
    refuse_release(requests, Fallback::foreign_handler, waited_ns);
    return false;
  }
  // A copy that another thread has under way reads or writes pages by their own address: let it come to the end of its chunk.
  while (busy_copies != 0) {
    lock.unlock();
    __builtin_ia32_pause();
    lock.lock();
  }
  ReleasingCall* call = nullptr;
  const std::uint64_t started = now_ns();
  for (Request* request : requests) {
    if (!pending(request)) continue;
    if (!(request->is_send() ? release_send(request) : release(request))) {
      return refuse_release(*request, Fallback::guard_refused, waited_ns);
    }
    if (!call) call = &policy.begin(site);
    ++call->open;
    request->released_by = call;
  }
  if (!call) return true;
  // The application goes on from now on, also where the first of many was protected long ago.
  const std::uint64_t closed = now_ns();
  for (Request* request : requests) {
    if (request && request->released_by == call) request->released_at = closed;
  }
  policy.closed(*call, closed - started, cost_ns);
  return true;
}

/// Receives that their senders may be writing to right now. A sender that is late is asked not to (receiver_initiated.hpp); they
/// are released when it has answered.
bool Engine::State::awaits_announced(std::span<Request* const> requests, std::uint64_t waited_ns) {
  bool any = false;
  for (Request* receive : requests) {
    if (!receive || !receive->announced) continue;
    any = true;
    if (trace::on()) [[unlikely]]
      trace::not_released(*receive, Fallback::announced, waited_ns);
    if (waited_ns >= config.rtr_wait * std::uint64_t{1000}) withdraw(*receive);
  }
  if (any) statistics.count(Fallback::announced);
  return any;
}

bool Engine::State::release(Request* receive) {
  const ByteRange range = receive->matched ? ByteRange::of(receive->data, receive->limit) : receive->range();
  if (!may_close(range)) return false;
  if (receive->progress_slot != Transport::no_slot) receive->offset = transport->progress(receive->progress_slot);
  arena->note_release(range);
  const lock_waiters::Closing closing({range.begin + receive->offset, range.end});
  if (!closing.permitted()) return false;
  held_signals::hold();
  receive->guarded = guard->protect(range, receive->offset, KeptOut::everybody, receive->traced);
  if (!receive->guarded) return false;
  receive->released = this_thread_released = true;
  receive->released_at = now_ns();
  receive->taken_before = taken_by_helper(receive->released_at);
  releasing_processor = sched_getcpu();
  if (trace::on()) [[unlikely]]
    trace::released(*receive, range, receive->released_at - PageGuard::protected_at(*receive->guarded));
  released.push_back(receive);
  ++statistics.released;
  if (!receive->matched) {
    ++statistics.released_unmatched;
    receive->unknown = true;
    receive->lazy_token = lazy_counts.issue();
    receive->release_mark = operations;
    ++unmatched_releases;
  }
  return true;
}

bool Engine::State::release_send(Request* send) {
  const ByteRange range = send->range();
  if (!may_close(range)) return false;
  arena->note_release(range);
  const lock_waiters::Closing closing(range);
  if (!closing.permitted()) return false;
  held_signals::hold();
  send->guarded = guard->protect(range, 0, KeptOut::writers, send->traced);
  if (!send->guarded) return false;
  arena->note_send(range, true);
  send->alias = blocks.alias(range.begin);
  send->released = true;
  send->released_at = now_ns();
  if (trace::on()) [[unlikely]]
    trace::released(*send, range, send->released_at - PageGuard::protected_at(*send->guarded));
  released.push_back(send);
  ++statistics.sends_released;
  return true;
}

void Engine::State::note_match(Request& receive) {
  if (!receive.unknown) return;
  receive.unknown = false;
  --unmatched_releases;
  lazy_counts.settle(receive.lazy_token, receive.limit);
  let_go();
}

bool Engine::State::must_hold(std::uint64_t operation) const {
  if (unmatched_releases == 0) return false;
  // In order of release, so the first unknown one has the lowest mark.
  const Request* receive = released.first();
  while (!receive->unknown) receive = decltype(released)::next(receive);
  return operation > receive->release_mark;
}

void Engine::State::hold(HeldBack item) {
  if (trace::on()) [[unlikely]] {
    item.since_ns = now_ns();
    trace::held(item.traced, item.peer, static_cast<trace::Held>(item.what));
  }
  held.push_back(item);
}

void Engine::State::let_go() {
  // Held sends have growing numbers, so those that may go keep their order.
  for (std::size_t left = held.size(); left > 0; --left) {
    const HeldBack item = held.front();
    held.pop_front();
    if (must_hold(item.operation)) {
      held.push_back(item);
      continue;
    }
    if (trace::on()) [[unlikely]]
      trace::let_go(item.traced, item.peer, static_cast<trace::Held>(item.what), item.since_ns);
    switch (item.what) {
      case HeldBack::What::send:
        transmit(item.request);
        break;
      case HeldBack::What::transfer:
        begin_transfer(item.request);
        break;
      case HeldBack::What::acknowledgement:
        send_control(item.peer, MessageKind::ack, item.subject);
        if (trace::on()) [[unlikely]]
          trace::control(trace::Kind::message_out, item.peer, MessageKind::ack, 0, item.traced);
        break;
    }
  }
}

/// The protection, and what the message takes longer because the receiver does not wait in its call: there it would help with the
/// copy (rendezvous/write_delivery.hpp), or poll the socket.
std::uint64_t Engine::State::price_of_release(const Request& request) const {
  const std::uint64_t protection = policy.cost_ns(PageRange::covering(request.range()).size());
  const bool could_help = !request.is_send() && request.way == Request::Way::write && can_read_from(request);
  const bool is_streamed = request.matched && request.peer != self && transport->streams_directly(request.peer);
  return protection + (could_help ? request.limit * 1000 / copy_bytes_per_us / 2 : 0) + (is_streamed ? helper_delay_ns : 0);
}

/// So long the helper thread has had the processor of a thread that has released something.
std::uint64_t Engine::State::taken_by_helper(std::uint64_t now) const {
  return helper_took_ns + (helper_takes_since == 0 ? 0 : now - helper_takes_since);
}

void Engine::State::end_release(Request& request) {
  const std::uint64_t now = now_ns();
  const std::uint64_t lasted = now - request.released_at;
  const std::uint64_t touched = PageGuard::first_touch_after(*request.guarded);
  const std::uint64_t ran = PageGuard::ran_on_for(*request.guarded, now);
  const std::uint64_t closing = request.released_at - PageGuard::protected_at(*request.guarded);
  guard->finish(request.guarded);
  if (request.is_send()) arena->note_send(request.range(), false);
  request.guarded = nullptr;
  request.released = false;
  released.remove(&request);
  // The guard counts from before the protection, which hides nothing.
  const std::uint64_t not_hidden = closing + (request.is_send() ? 0 : taken_by_helper(now) - request.taken_before);
  const std::uint64_t hidden = std::min(ran - std::min(ran, not_hidden), lasted);
  const std::uint64_t price = price_of_release(request);
  (request.is_send() ? statistics.sends_touched_at_once : statistics.touched_at_once) += hidden <= price ? 1 : 0;
  (request.is_send() ? statistics.sends_blocked_ns : statistics.blocked_ns) += lasted;
  policy.end(*std::exchange(request.released_by, nullptr), hidden, price);
  if (trace::on()) [[unlikely]]
    trace::release_ended(request, {lasted, hidden, touched, price});
}

void Engine::State::advance_releases() {
  for (Request* receive = released.first(); receive; receive = decltype(released)::next(receive)) {
    if (!receive->is_send() && receive->progress_slot != Transport::no_slot) {
      receive->offset = std::min<std::size_t>(transport->progress(receive->progress_slot), receive->limit);
    }
    if (!receive->is_send()) look_at_sentinels(*receive);
    if (receive->offset != 0) guard->open(*receive->guarded, completed_prefix(*receive));
  }
}

// --- the engine's calls ------------------------------------------------------------------------------------------------

bool Engine::released_by_this_thread() { return this_thread_released; }

}  // namespace sluice
