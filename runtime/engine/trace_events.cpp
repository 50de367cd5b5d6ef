#include "runtime/engine/trace_events.hpp"

#include <algorithm>

#include "runtime/base/clock.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/trace/call.hpp"

namespace sluice::trace {
namespace {

template <class Enumeration>
std::uint16_t small(Enumeration value) {
  return static_cast<std::uint16_t>(value);
}

std::uint32_t short_name(ContextId context) { return static_cast<std::uint32_t>(context); }

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

std::uint32_t saturated(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~std::uint32_t{0}));
}

/// The other side, as far as it is known.
std::int32_t other_side(const Request& request) {
  if (request.is_send()) return static_cast<std::int32_t>(request.peer);
  return request.rank == any_source ? -1 : static_cast<std::int32_t>(request.context->peer(request.rank));
}

/// Members that many kinds have; what a kind does not have stays away (trace/kinds.hpp).
enum Member : unsigned { site = 1, peer = 2, tag = 4, context = 8 };

Record about(Kind kind, const Request& request, unsigned members) {
  Record record;
  record.kind = small(kind);
  record.operation = request.traced;
  if ((members & site) != 0) record.site = request.traced_site;
  if ((members & peer) != 0) record.peer = other_side(request);
  if ((members & tag) != 0) record.tag = static_cast<std::int32_t>(request.tag);
  if ((members & context) != 0) record.context = short_name(request.context->id());
  return record;
}

std::uint32_t is_part(const Context& context) { return context.is_channel ? 1 : 0; }

std::uint16_t how_posted(const Request& request) {
  unsigned how = current_call().number != 0 ? post_blocking : 0;
  if (request.has_gaps()) how |= post_gaps;
  if (request.is_send() && request.mode == SendMode::synchronous) how |= post_synchronous;
  if (request.is_send() && request.mode == SendMode::buffered) how |= post_buffered;
  return static_cast<std::uint16_t>(how);
}

}  // namespace

void named(Request& request, std::uint32_t number) {
  request.traced = number;
  request.traced_site = current_call().site;
}

void posted(Request& request, std::uint16_t besides) {
  if (request.post_traced) return;
  request.post_traced = true;
  if (request.context->is_channel) return;  // part_begins has told
  Record record = about(request.is_send() ? Kind::post_send : Kind::post_receive, request, site | peer | tag | context);
  record.detail = static_cast<std::uint16_t>(how_posted(request) | besides);
  record.bytes = request.bytes;
  record.value = request.has_gaps() ? request.layout_buffer.span().begin : address_of(request.data);
  write(record);
}

void part_begins(const Request& part, const Request& collective) {
  Record record = about(Kind::part, part, site | peer | tag | context);
  record.detail = part.is_send() ? part_send : std::uint16_t{0};
  record.bytes = part.bytes;
  record.value = collective.traced;
  write(record);
}

void posted_at_once(const Envelope& to, std::span<const std::byte> message, std::uint32_t number) {
  write({.kind = small(Kind::post_send),
         .detail = post_at_once,
         .bytes = message.size(),
         .value = address_of(message.data()),
         .site = current_call().site,
         .peer = static_cast<std::int32_t>(to.peer),
         .tag = static_cast<std::int32_t>(to.tag),
         .context = short_name(to.context),
         .extra = number});
}

void matched(const Request& receive, MessageKind kind, std::uint32_t number, bool unexpected) {
  unsigned how = kind == MessageKind::rts ? match_rendezvous : 0;
  if (unexpected) how |= match_unexpected;
  if (receive.failure == Failure::truncated) how |= match_truncated;
  if (receive.released) how |= match_released;
  Record record = about(Kind::match, receive, peer | tag | context);
  record.detail = static_cast<std::uint16_t>(how);
  record.bytes = receive.message_bytes;
  record.value = number;
  record.extra = is_part(*receive.context);
  write(record);
}

void arrived(const Unexpected& message) {
  write({.kind = small(Kind::arrive),
         .detail = small(message.kind),
         .bytes = message.message_bytes,
         .value = message.number,
         .peer = static_cast<std::int32_t>(message.from),
         .tag = static_cast<std::int32_t>(message.tag),
         .context = short_name(message.context->id()),
         .extra = is_part(*message.context)});
}

void chosen(const Request& receive, Protocol protocol, Reason reason, std::uint64_t at_ns) {
  Record record = about(Kind::protocol, receive, peer);
  record.detail = small(protocol);
  record.bytes = receive.stop - receive.offset;
  record.extra = small(reason);
  write(record, 0, at_ns);
}

void message_left(const Request& request, MessageKind kind, std::size_t payload, std::uint32_t number, std::uint64_t at_ns) {
  Record record = about(Kind::message_out, request, peer | tag | context);
  record.detail = small(kind);
  record.bytes = payload;
  record.value = number;
  record.extra = is_part(*request.context);
  write(record, 0, at_ns);
}

void control(Kind kind, Peer peer, MessageKind message, std::size_t payload, std::uint32_t operation) {
  write({.kind = small(kind),
         .detail = small(message),
         .bytes = payload,
         .operation = operation,
         .peer = static_cast<std::int32_t>(peer)});
}

void put_began(Request& send, std::uint32_t rtr_number) {
  posted(send);
  Record record = about(Kind::message_out, send, peer | tag | context);
  record.detail = message_put;
  record.bytes = send.bytes;
  record.value = rtr_number;
  record.extra = is_part(*send.context);
  write(record);
}

void matched_put(const Request& receive, std::uint32_t rtr_number) {
  Record record = about(Kind::match, receive, peer | tag | context);
  record.detail = static_cast<std::uint16_t>(match_put | (receive.released ? match_released : 0));
  record.bytes = receive.message_bytes;
  record.value = rtr_number;
  record.extra = is_part(*receive.context);
  write(record);
}

void answer_came(const Request& request, MessageKind kind, std::size_t payload) {
  Record record = about(Kind::message_in, request, peer);
  record.detail = small(kind);
  record.bytes = payload;
  write(record);
}

void progressed(const Request& request, std::size_t in_place) {
  Record record = about(Kind::progress, request, peer);
  record.bytes = in_place;
  record.value = request.limit;
  write(record);
}

void copied(const Request& request, std::size_t bytes, std::uint64_t started_ns) {
  Record record = about(Kind::copy, request, peer);
  record.bytes = bytes;
  write(record, started_ns);
}

void completed(const Request& request, std::uint64_t at_ns) {
  Record record = about(Kind::complete, request, site | peer | tag);
  record.detail = small(request.cancelled                       ? Outcome::cancelled
                        : request.failure == Failure::truncated ? Outcome::truncated
                                                                : Outcome::success);
  record.bytes = request.is_send() ? request.bytes : request.limit;
  write(record, 0, at_ns);
  current_call().completed = request.traced;
}

void held(std::uint32_t operation, Peer peer, Held what) {
  write({.kind = small(Kind::hold), .detail = small(what), .operation = operation, .peer = static_cast<std::int32_t>(peer)});
}

void let_go(std::uint32_t operation, Peer peer, Held what, std::uint64_t since_ns) {
  write({.kind = small(Kind::let_go),
         .detail = small(what),
         .duration_ns = now_ns() - since_ns,
         .operation = operation,
         .peer = static_cast<std::int32_t>(peer)});
}

void set_aside(const Request& send) {
  Record record = about(Kind::set_aside, send, peer);
  record.bytes = send.bounced;
  write(record);
}

void released(const Request& request, ByteRange range, std::uint64_t closing_ns) {
  Record record = about(Kind::release, request, peer | tag);
  // That call returns early, and what its program then waits for pages is the price of it. The post told who posted.
  record.site = current_call().site != 0 ? current_call().site : request.traced_site;
  const bool unmatched = !request.is_send() && !request.matched;
  record.detail = static_cast<std::uint16_t>((request.is_send() ? release_send : 0) | (unmatched ? release_unmatched : 0));
  record.duration_ns = closing_ns;
  record.bytes = range.size();
  record.value = range.begin;
  record.extra = saturated(PageRange::covering(range).size());
  write(record);
}

void not_released(const Request& request, Fallback why, std::uint64_t waited_ns) {
  Record record = about(Kind::not_released, request, site);
  record.detail = small(why);
  record.duration_ns = waited_ns;
  record.bytes = request.bytes;
  write(record);
}

void release_ended(const Request& request, const ReleaseEnd& end) {
  Record record = about(Kind::release_end, request, site);
  unsigned how = request.is_send() ? release_send : 0;
  if (end.touched_after_ns != 0) how |= release_touched;
  if (end.hidden_ns <= end.price_ns) how |= release_at_once;
  record.detail = static_cast<std::uint16_t>(how);
  record.duration_ns = end.lasted_ns;
  record.bytes = end.hidden_ns;
  record.value = end.touched_after_ns;
  record.extra = saturated(end.price_ns);
  write(record);
}

void fell_back(const Request& request, Fallback why) {
  Record record = about(Kind::fallback, request, peer);
  record.detail = small(why);
  write(record);
}

namespace {

void tell_of_wait(Kind kind, const Request& request, std::uint64_t since, std::uint64_t at) {
  const WaitEnd end = request.complete.load(std::memory_order_relaxed) ? WaitEnd::complete
                      : request.released                               ? WaitEnd::released
                      : request.bounced != 0                           ? WaitEnd::aside
                                                                       : WaitEnd::incomplete;
  write({.kind = small(kind),
         .detail = kind == Kind::wait ? small(end) : std::uint16_t{0},
         .operation = request.traced,
         .site = current_call().site,
         .extra = current_call().number},
        since, at);
}

}  // namespace

void Wait::begin() {
  for (Request* request : requests_) {
    if (!request || request->may_return()) continue;
    request->awaited = true;
    if (started_ == 0) started_ = now();
  }
}

void Wait::tell() {
  written_ = true;
  const std::uint64_t at = now();
  for (const Request* request : requests_) {
    if (request && request->awaited && !request->may_return()) tell_of_wait(Kind::waiting, *request, started_, at);
  }
}

void Wait::end() {
  // That this thread completed what it waited for is its last record, or what it did since then has told later ones.
  const Request* const only = requests_.size() == 1 ? requests_[0] : nullptr;
  const bool just_told = only && only->traced != 0 && only->traced == current_call().completed;
  const std::uint64_t at = just_told ? std::max(last_record_ns(), started_) : now();
  for (Request* request : requests_) {
    if (!request || !request->awaited) continue;
    request->awaited = false;
    tell_of_wait(Kind::wait, *request, started_, at);
  }
  current_call().waited_ns += at - started_;
  // What there may be to unpack takes time.
  if (only && !only->has_gaps()) current_call().over_ns = at;
}

void Settling::begin() {
  started_ = now();
  site_ = current_call().site;
  // Not out of an allocator, nor for MPI's own end.
  const bool by_library = cause_ == SettleCause::operation || cause_ == SettleCause::output || cause_ == SettleCause::count;
  if (site_ == 0 && by_library) site_ = site_of_this_call();
}

void Settling::add(const Request& released) {
  if (count_ < releases_.size()) releases_[count_++] = {released.traced, released.range()};
}

void Settling::end() {
  const std::uint64_t at = now();
  for (const Release& release : std::span(releases_).first(count_)) {
    write({.kind = small(Kind::settle),
           .detail = small(cause_),
           .bytes = release.bytes.size(),
           .value = release.bytes.begin,
           .operation = release.operation,
           .site = site_},
          started_, at);
  }
  current_call().waited_ns += at - started_;
}

}  // namespace sluice::trace
