// Collective calls as the engine carries them by messages: what each rank does (runtime/collective/plans), with which buffers,
// and how a call gives its order to the engine.
//
// Threading: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "interpose/device/buffers.hpp"
#include "interpose/mpi/collective_arguments.hpp"
#include "interpose/mpi/entry.hpp"
#include "runtime/collective/description.hpp"
#include "runtime/collective/shape.hpp"
#include "runtime/collective_calls.hpp"
#include "runtime/lane_calls.hpp"

namespace sluice {

/// What all plans want to know: ranks, nodes, segments.
Shape shape_in(const Communicator& communicator);

using OrderKind = trace::CollectiveKind;
/// Of what MPI has all members agree on, and nothing else; 0 where there is no such thing.
std::uint16_t fingerprint(OrderKind kind, std::size_t root = 0, std::size_t reduction = 0, std::size_t bytes = 0);

CollectiveOrder barrier_order(const Communicator& communicator);
/// With the buffer where the processor reaches it.
CollectiveOrder bcast_order(const BcastArguments& call, const UserBuffer& buffer);
CollectiveOrder reduce_order(const ReduceArguments& call, const std::byte* own, std::byte* result);

/// A member is in another call: the program is wrong, and would hang on the host. MPI's answer.
int tell_mismatch(const Communicator& communicator, const Mismatch& found, const char* function);

/// Blocking. MPI's answer.
int carry_out(const Communicator& communicator, CollectiveOrder order, CallSite site);
/// Nonblocking. `staged`: of a result that goes to a device.
int start_collective(Communicator& communicator, CollectiveOrder order, std::unique_ptr<StagedReceive> staged, CallSite site,
                     MPI_Request* request);
/// ... in lanes, which the communicator has.
int start_in_lanes(Communicator& communicator, LaneOrder order, std::unique_ptr<StagedReceive> staged, CallSite site,
                   MPI_Request* request);
/// The host's, as a whole: `needs` says what must be complete before `start` calls it (host_needs.hpp).
template <typename Needs, typename Start>
int start_on_host(Needs needs, Start start, MPI_Request* request) {
  const HostCall call(needs);
  return host_activity().started(start(), request);
}

}  // namespace sluice
