// What every wrapper needs, and the macros that turn a body into a pair of exported symbols.
//
// A carried call X is a function sluice::calls::X(CallSite, arguments...) followed, at the end of its file, by EXPORT(X). That
// defines MPI_X, which calls the host while Sluice is not engaged and the body otherwise, and PMPI_X, an alias of it: the
// host's Fortran layers call PMPI_X.
#pragma once

#include <concepts>

#include "interpose/host/host.hpp"
#include "interpose/host/host_activity.hpp"
#include "interpose/session/session.hpp"
#include "runtime/engine.hpp"
#include "runtime/release/host_needs.hpp"
#include "runtime/trace/call.hpp"

#define SLUICE_EXPORTED __attribute__((visibility("default")))
#define SLUICE_ALIAS_OF(function) __attribute__((alias(#function), visibility("default")))
#define EXPORT(X) EXPORT_##X

namespace sluice {

/// A call of the host's, while it lasts. It communicates or touches buffers: what of all that is under guard must be complete
/// before, comes first (page-guard rules 1 and 9; docs/host-calls.md). It may block, and then peers must get their answers from
/// the helper thread, also after the program has made carried calls in a callback of the host's. And peers may reach into this
/// process's memory, so no page is replaced meanwhile.
class HostCall {
 public:
  /// Everything must be.
  explicit HostCall(trace::SettleCause cause = trace::SettleCause::host_call) : HostCall(complete_all(cause)) {}
  /// What `describe` says, which is asked only if need be.
  template <std::invocable Describe>
  explicit HostCall(Describe describe) : HostCall(complete(describe)) {}
  ~HostCall() { host_activity().left(); }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

 private:
  /// All that must be is complete. As long as it was waited for, this was no call of the host's yet.
  struct Complete {};
  explicit HostCall(Complete) { begin(); }

  static Complete complete_all(trace::SettleCause cause) {
    if (Engine::Memory::anything_released()) [[unlikely]]
      engine().memory().settle_all(cause);
    return {};
  }
  template <std::invocable Describe>
  static Complete complete(Describe& describe) {
    if (Engine::Memory::anything_released()) [[unlikely]]
      engine().memory().settle_for_host(describe());
    return {};
  }
  static void begin() {
    if (engaged() && !Engine::HostCalls::prepared()) [[unlikely]]
      engine().host_calls().prepare();
    host_activity().entered();
    Engine::HostCalls::wait_until_memory_rests();
  }

  const InHostCall here_;
};

}  // namespace sluice
