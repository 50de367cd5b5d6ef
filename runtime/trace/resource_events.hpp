// What alias blocks, guard, registrations and rings tell the trace: records that are about memory and know no request. [any
// thread] Only while `on()`.
#pragma once

#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/trace/trace.hpp"

namespace sluice::trace {

void ring(Peer peer, RingEvent what, std::uint64_t messages);
void registered(RegistrationEvent what, ByteRange pages, std::uint64_t nanoseconds = 0);
/// Memory became a block, or could not: `result` says why (alias/arena.hpp).
void migrated(ByteRange range, std::uint16_t result, std::uint64_t nanoseconds);
void opened(std::uint32_t operation, ByteRange pages);
void fault_waited(std::uint32_t operation, std::uintptr_t address, Access access, std::uint32_t site, std::uint64_t since);

}  // namespace sluice::trace
