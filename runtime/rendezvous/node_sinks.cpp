// What the ways inside a node, the stream, and the list of ways ask of the engine's inside, until that is made of objects as
// well.

#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {

using NodeSink = Engine::State::NodeSink;
using StreamSink = Engine::State::StreamSink;
using WaysSink = Engine::State::WaysSink;

void NodeSink::answer(const Request& request, MessageKind kind, std::span<const std::byte> payload, std::uint8_t flags) {
  state_.outbox.answer(request, kind, payload, flags);
}

void NodeSink::send_fin_of_chunks(const Request& request, std::uint8_t flags) {
  const auto all_flags = static_cast<std::uint8_t>(flags | flag_of_chunks);
  state_.outbox.send_control(request.peer, MessageKind::fin, request.remote_request, {}, all_flags);
  if (trace::on()) [[unlikely]]
    trace::message_left(request, MessageKind::fin, 0);
}

void NodeSink::finish(Request& request, std::uint64_t at_ns) { state_.all_requests.finish(&request, at_ns); }

void NodeSink::begin_again(Request& receive) {
  state_.end_expected_copies(receive);
  state_.begin_transfer(&receive);
}

void NodeSink::fall_back(const Request& request, Fallback reason) { state_.fall_back(request, reason); }

bool NodeSink::is_block(const Request& receive) {
  return state_.blocks.use(ByteRange::of(receive.data, receive.limit), BufferHistory::Use::copied,
                           {.begun = receive.sequence, .latest = state_.all_requests.counts().operations});
}

void NodeSink::deliver(Request& receive, std::span<const std::byte> payload) { state_.deliver(receive, payload); }

bool NodeSink::kernel_waits_for_pages() const { return state_.kernel_waits_for_pages(); }

void NodeSink::tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns) {
  state_.note_choice(receive, protocol, reason, at_ns);
}

CopyChoice NodeSink::choose(const Request& receive) { return state_.choose_copier(receive); }

void NodeSink::expect(Request& receive, Copier copier) { state_.expect_copies(receive, copier); }

void NodeSink::end_expected(Request& receive) { state_.end_expected_copies(receive); }

bool NodeSink::may_stay_in_outer_cache(const Request& receive) const { return state_.may_stay_in_outer_cache(receive); }

std::byte* StreamSink::reserve(Peer to, std::size_t payload_bytes) { return state_.outbox.reserve(to, payload_bytes); }

void StreamSink::commit(Peer to, const MessageHeader& header) { state_.outbox.commit(to, header); }

void StreamSink::answer(const Request& receive, MessageKind kind, std::span<const std::byte> payload) {
  state_.outbox.answer(receive, kind, payload);
}

void StreamSink::tell_choice(const Request& receive, trace::Reason reason) {
  state_.note_choice(receive, trace::Protocol::stream, reason, trace::with_last);
}

void StreamSink::finish(Request& request) { state_.all_requests.finish(&request); }

void WaysSink::finish(Request& request) { state_.all_requests.finish(&request, trace::with_last); }

void WaysSink::read_by_peer(const Request& send, bool handed_back) { state_.note_read_by_peer(send, handed_back); }

}  // namespace sluice
