// What the classes of this room ask of the engine's inside, until that is made of objects as well.

#include "runtime/engine/state.hpp"

namespace sluice {

bool Engine::State::RdmaHost::in_alias_block(ByteRange bytes) {
  return state_.in_alias_block(bytes, BufferHistory::Use::by_adapter);
}

bool Engine::State::RdmaHost::releases() const { return state_.releases(); }

void Engine::State::RdmaHost::fall_back(const Request& request, Fallback reason) { state_.fall_back(request, reason); }

void Engine::State::RdmaHost::answer(const Request& request, MessageKind kind, std::span<const std::byte> payload) {
  state_.answer(request, kind, payload);
}

void Engine::State::RdmaHost::finish(Request& request) { state_.finish(&request); }

void Engine::State::RdmaHost::begin_again(Request& receive) { state_.begin_transfer(&receive); }

void Engine::State::RdmaHost::put_posted(Request& send) { state_.all_of_put_posted(send); }

void Engine::State::RdmaHost::gathered(Request& send) { state_.on_gathered(send); }

void Engine::State::RdmaHost::tell_match() { state_.tell_match(); }

void Engine::State::RdmaHost::tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason) {
  state_.note_choice(receive, protocol, reason);
}

const RegistrationCache* Engine::registrations() const { return state_->job_registrations.cache().get(); }

}  // namespace sluice
