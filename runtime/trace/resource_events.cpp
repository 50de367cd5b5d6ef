#include "runtime/trace/resource_events.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::trace {
namespace {

constexpr double ps_per_ns = 1000;
constexpr double bytes_per_kib = 1024;

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

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

void became_frequent(ByteRange buffer, std::uint32_t uses, std::uint64_t nanoseconds) {
  write(
      {.kind = small(Kind::frequent), .duration_ns = nanoseconds, .bytes = buffer.size(), .value = buffer.begin, .extra = uses});
}

void frequent_terms(const FrequentCosts& costs) {
  const std::uint64_t wait_use_ps = rounded(costs.wait_use * ps_per_ns);
  write({.kind = small(Kind::frequent_terms),
         .duration_ns = rounded(costs.register_per_page),
         .bytes = rounded(costs.copy_per_byte * bytes_per_kib * ps_per_ns),
         .value = rounded(costs.use * ps_per_ns),
         .extra = static_cast<std::uint32_t>(std::min<std::uint64_t>(wait_use_ps, ~std::uint32_t{0}))});
}

void opened(std::uint32_t operation, ByteRange pages) {
  write({.kind = small(Kind::open), .bytes = pages.size(), .value = pages.begin, .operation = operation});
}

void fault_waited(std::uint32_t operation, std::uintptr_t address, Access access, std::uint32_t site, std::uint64_t since) {
  write({.kind = small(Kind::fault), .detail = small(access), .value = address, .operation = operation, .site = site}, since);
}

}  // namespace sluice::trace
