// Large messages, as the engine's inside hears of them: what is checked and counted before the ways (ways.hpp) are asked.

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"

namespace sluice {

void Engine::State::note_progress(const Request& request) {
  if (trace::on()) [[unlikely]]
    trace::progressed(request, request.offset);
}

void Engine::State::on_clear_to_send(Request* send, const ClearToSend& clear) {
  if (const char* fault = clearance_fault(*send, clear)) {
    fatal("rank %d %s: bytes %zu to %zu of a message of %zu bytes", static_cast<int>(send->peer), fault,
          static_cast<std::size_t>(clear.offset), static_cast<std::size_t>(clear.limit), send->bytes);
  }
  ways.cleared(*send, clear);
}

void Engine::State::on_refuse(Request* receive, std::size_t offset) {
  if (const char* fault = refusal_fault(*receive, offset)) fatal("rank %d %s", static_cast<int>(receive->peer), fault);
  ways.refused(*receive, offset);
}

}  // namespace sluice
