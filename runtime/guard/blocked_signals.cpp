#include "runtime/guard/blocked_signals.hpp"

namespace sluice::held_signals {
namespace {

/// In the static TLS block: the fault handler must not allocate it.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool already_blocked = false;

}  // namespace

AlreadyBlocked::AlreadyBlocked() : before_(already_blocked) { already_blocked = true; }

AlreadyBlocked::~AlreadyBlocked() { already_blocked = before_; }

bool are_already_blocked() { return already_blocked; }

}  // namespace sluice::held_signals
