#include "runtime/engine/match_trace.hpp"

#include "runtime/engine/matching.hpp"

namespace sluice {

std::uint64_t MatchTrace::tell() {
  if (!kept_.receive) return 0;
  trace::matched(*kept_.receive, MessageKind::rts, kept_.number, kept_.unexpected);
  kept_ = {};
  return trace::with_last;
}

void MatchTrace::tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns) {
  tell();
  const Rendezvous wanted = receive.context->rendezvous.value_or(config_.rendezvous);
  const bool asked = wanted != Rendezvous::automatic && name_of(wanted) == trace::name_of(protocol);
  trace::chosen(receive, protocol, asked ? trace::Reason::asked_for : reason, at_ns);
}

}  // namespace sluice
