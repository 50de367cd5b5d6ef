// What the classes of this room ask of the engine's inside, until that is made of objects as well.

#include "runtime/engine/state.hpp"

namespace sluice {

bool Engine::State::RdmaHost::in_alias_block(ByteRange bytes) { return state_.blocks.use(bytes, BufferHistory::Use::by_adapter); }

bool Engine::State::RdmaHost::releases() const { return state_.releases(); }

void Engine::State::RdmaHost::fall_back(const Request& request, Fallback reason) { state_.fall_back(request, reason); }

void Engine::State::RdmaHost::answer(const Request& request, MessageKind kind, std::span<const std::byte> payload) {
  state_.outbox.answer(request, kind, payload);
}

void Engine::State::RdmaHost::finish(Request& request) { state_.all_requests.finish(&request); }

void Engine::State::RdmaHost::begin_again(Request& receive) { state_.begin_transfer(&receive); }

void Engine::State::RdmaHost::put_posted(Request& send) { state_.put_sender.posted(send); }

void Engine::State::RdmaHost::tell_match() { state_.tell_match(); }

void Engine::State::RdmaHost::tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason) {
  state_.note_choice(receive, protocol, reason);
}

void Engine::State::PutHost::send_in_turn(Request& send) { state_.send_in_turn(&send); }

void Engine::State::PutHost::check_context(Peer from, const MessageHeader& header) { state_.matcher.context_for(from, header); }

void Engine::State::PutHost::send_control(Peer to, MessageKind kind, std::uint64_t subject) {
  state_.outbox.send_control(to, kind, subject);
}

void Engine::State::PutHost::send_or_queue(Peer to, const MessageHeader& header, std::span<const std::byte> payload) {
  state_.outbox.send_or_queue(to, header, payload);
}

void Engine::State::PutHost::finish(Request& receive) { state_.all_requests.finish(&receive); }

void Engine::State::PutHost::note_match(Request& receive) { state_.causality.matched(receive); }

bool Engine::State::PutHost::awaits_matches() const { return state_.causality.unmatched() != 0; }

void Engine::State::PutHost::tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason) {
  state_.note_choice(receive, protocol, reason);
}

bool Engine::State::FrequentHost::in_alias_block(ByteRange bytes) {
  return state_.blocks.use(bytes, BufferHistory::Use::frequent);
}

bool Engine::State::FrequentHost::make_block(ByteRange bytes) { return state_.blocks.make(bytes); }

bool Engine::State::FrequentHost::guards(ByteRange bytes) const { return state_.guard && state_.guard->covers(bytes); }

void Engine::State::FrequentHost::finish(Request& send) { state_.all_requests.finish(&send); }

const RegistrationCache* Engine::registrations() const { return state_->job_registrations.cache().get(); }

}  // namespace sluice
