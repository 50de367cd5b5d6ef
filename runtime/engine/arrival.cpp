// Arrival of what takes part in matching: eager messages and announcements, and the receives that they meet.

#include <algorithm>
#include <cstring>

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// Copied in the time that reading the clock takes.
constexpr std::size_t quickly_copied_bytes = 256;

/// Describes a message to the receive that it matched.
struct Arrival {
  Peer from;
  Rank source;
  Tag tag;
  std::size_t message_bytes;
  std::uint32_t number;     // in the trace
  bool unexpected = false;  // it was there before the receive
};

void note_arrival(Request& receive, const Arrival& arrival) {
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

void accept_eager(Engine::State& state, Request* receive, const Arrival& arrival, std::span<const std::byte> payload,
                  std::uint64_t acknowledge) {
  state.leave_announcements(*receive);
  note_arrival(*receive, arrival);
  if (trace::on()) [[unlikely]]
    trace::matched(*receive, MessageKind::eager, arrival.number, arrival.unexpected);
  state.deliver(*receive, payload);
  if (acknowledge != 0) {
    receive->remote_request = acknowledge;
    if (state.must_hold(receive->sequence)) {
      state.hold({.what = HeldBack::What::acknowledgement,
                  .operation = receive->sequence,
                  .peer = arrival.from,
                  .subject = acknowledge,
                  .traced = receive->traced});
    } else {
      state.outbox.answer(*receive, MessageKind::ack);
    }
  }
  state.note_match(*receive);
  state.all_requests.finish(receive, payload.size() <= quickly_copied_bytes ? trace::with_last : 0);
}

struct Announcement {
  std::uint8_t flags = 0;
  std::uint64_t sender_request = 0;
  std::uint64_t sender_address = 0;
  std::uint64_t registered_address = 0;
  std::uint32_t sender_key = 0;
  std::uint8_t last_byte = 0;
  std::span<const std::byte> first_bytes;
};

void accept_announcement(Engine::State& state, Request* receive, const Arrival& arrival, const Announcement& announced) {
  state.leave_announcements(*receive);
  note_arrival(*receive, arrival);
  receive->matched = true;
  receive->rts_flags = announced.flags;
  receive->remote_request = announced.sender_request;
  receive->remote_address = announced.sender_address;
  receive->registered_address = announced.registered_address;
  receive->announced_key = announced.sender_key;
  receive->announced_last_byte = announced.last_byte;
  if (trace::on()) [[unlikely]] {
    state.untold_match = {receive, arrival.number, arrival.unexpected};
    if (state.unmatched_releases != 0 || !announced.first_bytes.empty()) state.tell_match();
  }
  if (!announced.first_bytes.empty()) state.deliver(*receive, announced.first_bytes);
  state.note_match(*receive);
  if (state.must_hold(receive->sequence)) {
    state.hold({.what = HeldBack::What::transfer,
                .operation = receive->sequence,
                .request = receive,
                .peer = receive->peer,
                .traced = receive->traced});
  } else {
    state.begin_transfer(receive);
  }
}

}  // namespace

Context& Engine::State::context_of(ContextId id) {
  if (last_context && last_context->id() == id) return *last_context;
  auto& slot = contexts[static_cast<std::uint64_t>(id)];
  // A peer may be done with making a communicator, and send on it, before this process is.
  if (!slot) slot = std::make_unique<Context>(id);
  return *(last_context = slot.get());
}

Context& Engine::State::context_for(Peer from, const MessageHeader& header) {
  Context& context = context_of(static_cast<ContextId>(header.subject));
  if (const char* fault = matching_fault(context, from, header, job.size)) damaged(from, header.kind, fault);
  return context;
}

std::uint32_t Engine::State::count_message(Peer from) { return trace::on() ? ++messages_in[static_cast<std::size_t>(from)] : 0; }

void Engine::State::keep_unexpected(Context& context, std::unique_ptr<Message> message) {
  context.keep_unexpected(message.get());
  if (trace::on()) [[unlikely]]
    trace::arrived(*message);
  static_cast<void>(message.release());
}

void Engine::State::consume(Request* receive, Message* message) {
  const std::unique_ptr<Message> owner(message);
  const Arrival arrival{message->from, message->source, message->tag, message->message_bytes, message->number, true};
  if (message->kind == MessageKind::eager) {
    accept_eager(*this, receive, arrival, message->payload(), message->sender_request);
  } else {
    accept_announcement(*this, receive, arrival,
                        {message->flags, message->sender_request, message->sender_address, message->registered_address,
                         message->sender_key, message->last_byte, message->payload()});
  }
}

void Engine::State::on_message(Peer from, const MessageHeader& header, std::span<const std::byte> payload) {
  if (header.kind == MessageKind::eager) {
    before_matching(from, header.rtrs);
    std::uint64_t acknowledge = 0;
    if (header.flags & flag_synchronous) {
      if (payload.size() < sizeof acknowledge) damaged(from, header.kind, "is too short");
      payload = payload.first(payload.size() - sizeof acknowledge);
      std::memcpy(&acknowledge, payload.data() + payload.size(), sizeof acknowledge);
    }
    Context& context = context_for(from, header);
    const std::uint32_t number = count_message(from);
    if (Request* receive = context.match_posted(header.source, header.tag)) {
      accept_eager(*this, receive, {from, header.source, header.tag, payload.size(), number}, payload, acknowledge);
      return;
    }
    auto message = std::make_unique<Message>();
    message->from = from;
    message->source = header.source;
    message->tag = header.tag;
    message->kind = MessageKind::eager;
    message->message_bytes = payload.size();
    message->sender_request = acknowledge;
    message->number = number;
    message->keep(payload);
    keep_unexpected(context, std::move(message));
    return;
  }
  if (header.kind == MessageKind::rts) {
    before_matching(from, header.rtrs);
    const auto rts = from_wire<ReadyToSend>(from, payload.first(std::min(payload.size(), sizeof(ReadyToSend))));
    const auto first_bytes = payload.subspan(sizeof rts);
    if (first_bytes.size() > rts.message_bytes) fatal("message of rank %d is damaged: too long", static_cast<int>(from));
    if (const char* fault = announcement_fault(header.flags, rts)) damaged(from, header.kind, fault);
    Context& context = context_for(from, header);
    const std::uint32_t number = count_message(from);
    if (Request* receive = context.match_posted(header.source, header.tag)) {
      accept_announcement(*this, receive, {from, header.source, header.tag, rts.message_bytes, number},
                          {header.flags, rts.sender_request, rts.sender_address, rts.registered_address, rts.sender_key,
                           rts.last_byte, first_bytes});
      return;
    }
    auto message = std::make_unique<Message>();
    message->from = from;
    message->source = header.source;
    message->tag = header.tag;
    message->kind = MessageKind::rts;
    message->flags = header.flags;
    message->message_bytes = rts.message_bytes;
    message->sender_request = rts.sender_request;
    message->sender_address = rts.sender_address;
    message->registered_address = rts.registered_address;
    message->sender_key = rts.sender_key;
    message->last_byte = rts.last_byte;
    message->number = number;
    message->keep(first_bytes);
    keep_unexpected(context, std::move(message));
    return;
  }
  const bool names_no_request =
      header.kind == MessageKind::rtr || header.kind == MessageKind::withdraw || header.kind == MessageKind::withdrawn;
  if (trace::on() && names_no_request) [[unlikely]]
    trace::control(trace::Kind::message_in, from, header.kind, payload.size());
  if (header.kind == MessageKind::rtr) return on_ready_to_receive(from, header, from_wire<ReadyToReceive>(from, payload));
  if (header.kind == MessageKind::withdraw) return on_withdraw(from, header.subject);
  if (header.kind == MessageKind::withdrawn) return on_withdrawn(from, header.subject);
  on_reply(from, header, payload);
}

/// The receive that was posted for a message gets its bytes as if it had asked for them.
MessageSink::Begun Engine::State::begin(Peer from, const MessageHeader& header, std::span<const std::byte> head) {
  const bool eager = header.kind == MessageKind::eager && header.flags == 0;
  if (!eager && (header.kind != MessageKind::rts || head.size() < sizeof(ReadyToSend))) return {};
  Context& context = context_for(from, header);
  Request* receive = context.find_posted(header.source, header.tag);
  const auto rts = eager ? ReadyToSend{header.payload_bytes} : from_wire<ReadyToSend>(from, head.first(sizeof(ReadyToSend)));
  if (!receive || receive->has_gaps() || receive->bytes < rts.message_bytes) return {};
  if (!eager && must_hold(receive->sequence)) return {};
  const std::size_t data_at = eager ? 0 : sizeof rts;
  if (header.payload_bytes - data_at > rts.message_bytes) damaged(from, header.kind, "brings more than it announces");
  context.unpost(receive);
  const std::uint32_t number = count_message(from);
  note_arrival(*receive, {from, header.source, header.tag, rts.message_bytes, number});
  receive->matched = true;
  receive->way = Request::Way::stream;
  receive->rts_flags = header.flags;
  receive->remote_request = rts.sender_request;
  if (trace::on()) [[unlikely]]
    trace::matched(*receive, header.kind, number, false);
  note_match(*receive);
  const auto subject = static_cast<std::uint64_t>(receive->id);
  if (!eager) begin_transfer(receive, header.payload_bytes - data_at);
  return {subject, data_at};
}

void Engine::State::deliver(Request& receive, std::span<const std::byte> payload) {
  const std::size_t bytes = std::min(payload.size(), receive.stop - receive.offset);
  if (receive.has_gaps()) {
    UserBuffer target = receive.layout_buffer;
    // The whole span is one block, so its alias is everywhere at the same distance.
    if (receive.released) target.base += alias_distance(receive.range());
    LayoutCursor cursor(target);
    cursor.seek(receive.offset);
    cursor.unpack(payload.first(bytes));
  } else if (bytes != 0) {
    copy_to_user(receive.data + receive.offset, payload.data(), bytes);
  }
  receive.offset += bytes;
}

}  // namespace sluice
