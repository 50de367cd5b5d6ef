#include "runtime/trace/resource_events.hpp"

namespace sluice::trace {
namespace {

template <class Enumeration>
std::uint16_t small(Enumeration value) {
  return static_cast<std::uint16_t>(value);
}

}  // namespace

void ring(Peer peer, RingEvent what, std::uint64_t messages) {
  write({.kind = small(Kind::ring), .detail = small(what), .value = messages, .peer = static_cast<std::int32_t>(peer)});
}

void registered(RegistrationEvent what, ByteRange pages, std::uint64_t nanoseconds) {
  write({.kind = small(Kind::registration),
         .detail = small(what),
         .duration_ns = nanoseconds,
         .bytes = pages.size(),
         .value = pages.begin});
}

void migrated(ByteRange range, std::uint16_t result, std::uint64_t nanoseconds) {
  write(
      {.kind = small(Kind::migrate), .detail = result, .duration_ns = nanoseconds, .bytes = range.size(), .value = range.begin});
}

void opened(std::uint32_t operation, ByteRange pages) {
  write({.kind = small(Kind::open), .bytes = pages.size(), .value = pages.begin, .operation = operation});
}

void fault_waited(std::uint32_t operation, std::uintptr_t address, Access access, std::uint32_t site, std::uint64_t since) {
  write({.kind = small(Kind::fault), .detail = small(access), .value = address, .operation = operation, .site = site}, since);
}

}  // namespace sluice::trace
