#include "runtime/engine/matcher.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/base/fatal.hpp"
#include "runtime/collective/collective_tags.hpp"
#include "runtime/engine/delivery.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {
namespace {

/// Copied in the time that reading the clock takes.
constexpr std::size_t quickly_copied_bytes = 256;

}  // namespace

Matcher::Matcher(const Job& job, Requests& requests, Outbox& outbox, Causality& causality, MatchTrace& matches, Host& host)
    : job_(job), requests_(requests), outbox_(outbox), causality_(causality), host_(host), traced_(job.size), matches_(matches) {}

// --- contexts ------------------------------------------------------------------------------------------------------------

Context& Matcher::look_up(ContextId id) {
  auto& slot = contexts_[static_cast<std::uint64_t>(id)];
  // A peer may be done with making a communicator, and send on it, before this process is.
  if (!slot) slot = std::make_unique<Context>(id);
  return *(last_ = slot.get());
}

Context& Matcher::context_for(Peer from, const WireHeader& header) {
  Context& context = context_of(static_cast<ContextId>(header.subject));
  if (const char* fault = matching_fault(context, from, header, job_.size)) damaged(from, header.kind, fault);
  return context;
}

Context& Matcher::adopt(ContextId id, std::vector<Peer> group, Rank self) {
  Context& context = context_of(id);
  context.become(std::move(group), self);
  if (const Unexpected* message = context.find_nonmember()) {
    fatal("message of rank %d is for a communicator that it is not in", static_cast<int>(message->from));
  }
  return context;
}

void Matcher::retire(Context* context) {
  context->retired = true;
  if (context->operations == 0) drop(context);
}

void Matcher::let_go(Context* context) {
  if (--context->operations == 0 && context->retired) drop(context);
}

Matcher::~Matcher() {
  while (!contexts_.empty()) drop(contexts_.begin()->second.get());
}

void Matcher::drop(Context* context) {
  if (last_ == context) last_ = nullptr;
  while (Unexpected* message = context->find_unexpected(any_source, any_tag)) {
    context->remove_unexpected(message);
    delete message;
  }
  contexts_.erase(static_cast<std::uint64_t>(context->id()));
}

// --- a receive and its message ---------------------------------------------------------------------------------------------

std::uint32_t Matcher::traced_number(Peer from, const Context& context) {
  return trace::on() ? traced_.next(from, context.is_channel) : 0;
}

void Matcher::note_arrival(Request& receive, const Arrival& arrival) {
  receive.peer = arrival.from;
  receive.rank = arrival.source;
  receive.tag = arrival.tag;
  receive.message_bytes = arrival.message_bytes;
  receive.limit = receive.stop = std::min(arrival.message_bytes, receive.bytes);
  if (arrival.message_bytes > receive.bytes) {
    receive.failure = Failure::truncated;
    if (receive.released) {
      fatal("%s, already released, got %zu bytes from rank %d with tag %d for a buffer of %zu bytes (truncated message)",
            receive.site.function(), arrival.message_bytes, static_cast<int>(arrival.source), static_cast<int>(arrival.tag),
            receive.bytes);
    }
  }
}

void Matcher::accept_eager(Request& receive, const Arrival& arrival, std::span<const std::byte> payload,
                           std::uint64_t acknowledge) {
  leave_rtrs(receive);
  note_arrival(receive, arrival);
  if (trace::on()) [[unlikely]]
    trace::matched(receive, MessageKind::eager, arrival.number, arrival.unexpected);
  deliver(receive, payload, job_.arena);
  if (acknowledge != 0) {
    receive.remote_request = acknowledge;
    if (causality_.must_hold(receive.sequence)) {
      causality_.hold({.what = HeldBack::What::acknowledgement,
                       .operation = receive.sequence,
                       .peer = arrival.from,
                       .subject = acknowledge,
                       .traced = receive.traced});
    } else {
      outbox_.answer(receive, MessageKind::ack);
    }
  }
  causality_.matched(receive);
  requests_.finish(&receive, payload.size() <= quickly_copied_bytes ? trace::with_last : 0);
}

/// While a trace is written. It is told of at once where no answer leaves soon.
void Matcher::note_match(const Request& receive, const Arrival& arrival, bool brings_bytes) {
  matches_.keep(receive, arrival.number, arrival.unexpected);
  if (causality_.unmatched() != 0 || brings_bytes) matches_.tell();
}

void Matcher::accept_rts(Request& receive, const Arrival& arrival, const RtsMessage& sent) {
  leave_rtrs(receive);
  note_arrival(receive, arrival);
  receive.matched = true;
  receive.rts_flags = sent.flags;
  receive.remote_request = sent.rts.sender_request;
  receive.remote_address = sent.rts.sender_address;
  receive.registered_address = sent.rts.registered_address;
  receive.rts_key = sent.rts.sender_key;
  receive.rts_last_byte = sent.rts.last_byte;
  if (trace::on()) [[unlikely]]
    note_match(receive, arrival, !sent.first_bytes.empty());
  if (!sent.first_bytes.empty()) deliver(receive, sent.first_bytes, job_.arena);
  causality_.matched(receive);
  if (causality_.must_hold(receive.sequence)) {
    causality_.hold({.what = HeldBack::What::transfer,
                     .operation = receive.sequence,
                     .request = &receive,
                     .peer = receive.peer,
                     .traced = receive.traced});
  } else {
    host_.begin_transfer(&receive, 0);
  }
}

void Matcher::consume(Request& receive, Unexpected* message) {
  const std::unique_ptr<Unexpected> owner(message);
  const Arrival arrival{message->from, message->source, message->tag, message->message_bytes, message->number, true};
  if (message->kind == MessageKind::eager) {
    accept_eager(receive, arrival, message->payload(), message->sender_request);
  } else {
    accept_rts(receive, arrival,
               {message->flags,
                {.message_bytes = message->message_bytes,
                 .sender_request = message->sender_request,
                 .sender_address = message->sender_address,
                 .sender_key = message->sender_key,
                 .last_byte = message->last_byte,
                 .registered_address = message->registered_address},
                message->payload()});
  }
}

// --- messages ------------------------------------------------------------------------------------------------------------

std::unique_ptr<Unexpected> Matcher::describe(Peer from, const WireHeader& header) {
  auto message = std::make_unique<Unexpected>();
  message->from = from;
  message->source = header.source;
  message->tag = header.tag;
  message->kind = header.kind;
  return message;
}

/// A call has returned, and waits behind the guard for another message of its number: there is none.
void Matcher::check_released(const Context& channel, const Unexpected& message) {
  const auto waits_for_another = [&](const Request& receive) {
    return receive.released && CollectiveTags::have_same_number(receive.tag, message.tag);
  };
  if (const Request* receive = channel.find_posted_from(message.source, waits_for_another)) {
    fatal("%s, already released: rank %d of the communicator is in another collective call, or in one of another length",
          receive->site.function(), static_cast<int>(message.source));
  }
}

void Matcher::keep(Context& context, std::unique_ptr<Unexpected> message, std::span<const std::byte> bytes) {
  message->keep(bytes);
  context.keep_unexpected(message.get());
  if (context.is_channel) [[unlikely]]
    check_released(context, *message);
  if (trace::on()) [[unlikely]]
    trace::arrived(*message);
  static_cast<void>(message.release());
}

void Matcher::on_eager(Peer from, const WireHeader& header, std::span<const std::byte> payload) {
  std::uint64_t acknowledge = 0;
  if (header.flags & flag_synchronous) {
    if (payload.size() < sizeof acknowledge) damaged(from, header.kind, "is too short");
    payload = payload.first(payload.size() - sizeof acknowledge);
    std::memcpy(&acknowledge, payload.data() + payload.size(), sizeof acknowledge);
  }
  Context& context = context_for(from, header);
  const std::uint32_t number = traced_number(from, context);
  if (Request* receive = context.match_posted(header.source, header.tag)) {
    accept_eager(*receive, {from, header.source, header.tag, payload.size(), number}, payload, acknowledge);
    return;
  }
  auto message = describe(from, header);
  message->message_bytes = payload.size();
  message->sender_request = acknowledge;
  message->number = number;
  keep(context, std::move(message), payload);
}

void Matcher::on_rts(Peer from, const WireHeader& header, std::span<const std::byte> payload) {
  const auto rts = from_wire<ReadyToSend>(from, payload.first(std::min(payload.size(), sizeof(ReadyToSend))));
  const auto first_bytes = payload.subspan(sizeof rts);
  if (first_bytes.size() > rts.message_bytes) fatal("message of rank %d is damaged: too long", static_cast<int>(from));
  if (const char* fault = rts_fault(header.flags, rts)) damaged(from, header.kind, fault);
  Context& context = context_for(from, header);
  const std::uint32_t number = traced_number(from, context);
  if (Request* receive = context.match_posted(header.source, header.tag)) {
    accept_rts(*receive, {from, header.source, header.tag, rts.message_bytes, number}, {header.flags, rts, first_bytes});
    return;
  }
  auto message = describe(from, header);
  message->flags = header.flags;
  message->message_bytes = rts.message_bytes;
  message->sender_request = rts.sender_request;
  message->sender_address = rts.sender_address;
  message->registered_address = rts.registered_address;
  message->sender_key = rts.sender_key;
  message->last_byte = rts.last_byte;
  message->number = number;
  keep(context, std::move(message), first_bytes);
}

/// The receive that was posted for a message gets its bytes as if it had asked for them.
MessageSink::Begun Matcher::begin(Peer from, const WireHeader& header, std::span<const std::byte> head) {
  const bool eager = header.kind == MessageKind::eager && header.flags == 0;
  if (!eager && (header.kind != MessageKind::rts || head.size() < sizeof(ReadyToSend))) return {};
  Context& context = context_for(from, header);
  Request* receive = context.find_posted(header.source, header.tag);
  const auto rts = eager ? ReadyToSend{header.payload_bytes} : from_wire<ReadyToSend>(from, head.first(sizeof(ReadyToSend)));
  if (!receive || receive->has_gaps() || receive->bytes < rts.message_bytes) return {};
  if (!eager && causality_.must_hold(receive->sequence)) return {};
  const std::size_t data_at = eager ? 0 : sizeof rts;
  if (header.payload_bytes - data_at > rts.message_bytes) damaged(from, header.kind, "brings more than it announces");
  context.unpost(receive);
  const std::uint32_t number = traced_number(from, context);
  note_arrival(*receive, {from, header.source, header.tag, rts.message_bytes, number});
  receive->matched = true;
  receive->way = Request::Way::stream;
  receive->rts_flags = header.flags;
  receive->remote_request = rts.sender_request;
  if (trace::on()) [[unlikely]]
    trace::matched(*receive, header.kind, number, false);
  causality_.matched(*receive);
  const auto subject = static_cast<std::uint64_t>(receive->id);
  if (!eager) host_.begin_transfer(receive, header.payload_bytes - data_at);
  return {subject, data_at};
}

}  // namespace sluice
