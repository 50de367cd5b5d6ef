// A host of which nothing is there, for tests of what Sluice makes of calls. A test fills in the functions that it needs.

#include "interpose/host/host_activity.hpp"
#include "interpose/mpi/entry.hpp"

namespace sluice {
namespace detail {

HostTable host_table{};
Predefined predefined_objects{};
std::atomic<bool> host_resolved{true};
void resolve_host() {}
std::atomic<bool> engaged{true};
Engine* engine = nullptr;

}  // namespace detail

HostActivity& host_activity() {
  static HostActivity activity;
  return activity;
}

}  // namespace sluice
