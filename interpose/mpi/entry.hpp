// What every wrapper needs, and the macros that turn a body into a pair of exported symbols.
//
// A carried call X is a function sluice::calls::X(CallSite, arguments...) followed, at the end of its file, by EXPORT(X). That
// defines MPI_X, which calls the host while Sluice is not engaged and the body otherwise, and PMPI_X, an alias of it: the
// host's Fortran layers call PMPI_X.
#pragma once

#include "interpose/host/host.hpp"
#include "interpose/host/host_activity.hpp"
#include "interpose/session/session.hpp"
#include "runtime/engine.hpp"
#include "runtime/trace/call.hpp"

#define SLUICE_EXPORTED __attribute__((visibility("default")))
#define SLUICE_ALIAS_OF(function) __attribute__((alias(#function), visibility("default")))
#define EXPORT(X) EXPORT_##X

namespace sluice {

/// A call of the host's, while it lasts. It communicates or touches buffers: whatever is under guard comes first (page-guard
/// rules 1 and 9). It may block, and then peers must get their answers from the helper thread, also after the program has made
/// carried calls in a callback of the host's. And peers may reach into this process's memory, so no page is replaced meanwhile.
class HostCall {
 public:
  explicit HostCall(trace::SettleCause cause = trace::SettleCause::host_call) {
    if (Engine::anything_released()) [[unlikely]]
      engine().settle_all(cause);
    if (engaged() && !Engine::prepared_for_host_call()) [[unlikely]]
      engine().prepare_for_host_call();
    host_activity().entered();
    Engine::wait_until_memory_rests();
  }
  ~HostCall() { host_activity().left(); }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

 private:
  const Engine::InHostCall here_;
};

}  // namespace sluice
