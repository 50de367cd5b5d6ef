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
/// Times in ns; of a copy, those of a byte.
struct FrequentCosts {
  double copy_per_byte = 0;
  double use = 0;
  double wait_use = 0;
  double register_per_page = 0;
};
void became_frequent(ByteRange buffer, std::uint32_t uses, std::uint64_t nanoseconds);
void frequent_terms(const FrequentCosts& costs);
void opened(std::uint32_t operation, ByteRange pages);
void fault_waited(std::uint32_t operation, std::uintptr_t address, Access access, std::uint32_t site, std::uint64_t since);

}  // namespace sluice::trace
