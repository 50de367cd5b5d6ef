#include "runtime/release/early_return.hpp"

#include "runtime/engine/trace_events.hpp"

namespace sluice {

EarlyReturn::EarlyReturn(Engine::State& state)
    : engine(state),
      releases(state.job, state.blocks, state.causality, *this, {state.busy_copies, state.announced_count, state.operations},
               state.statistics),
      memory(state.causality),
      aside(state.job, *this, state.aside_bytes, state.statistics) {}

void EarlyReturn::look_at_sentinels(Request& receive) { engine.look_at_sentinels(receive); }

std::size_t EarlyReturn::missing_bytes(const Request& receive) const { return engine.missing_bytes(receive); }

bool EarlyReturn::can_read_from(const Request& receive) const { return engine.can_read_from(receive); }

void EarlyReturn::withdraw(Request& receive) { engine.withdraw(receive); }

void EarlyReturn::progress(Lock& lock) { engine.progress(lock); }

// --- what State has to do with releases and their like ------------------------------------------------------------------

void Engine::State::acknowledge_held(Peer peer, std::uint64_t subject, std::uint32_t traced) {
  send_control(peer, MessageKind::ack, subject);
  if (trace::on()) [[unlikely]]
    trace::control(trace::Kind::message_out, peer, MessageKind::ack, 0, traced);
}

void Engine::State::fall_back(const Request& request, Fallback reason) {
  statistics.count(reason);
  if (trace::on()) [[unlikely]]
    trace::fell_back(request, reason);
}

}  // namespace sluice
