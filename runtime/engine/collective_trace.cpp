#include "runtime/engine/collective_trace.hpp"

#include "runtime/trace/call.hpp"

namespace sluice::trace {

CollectiveTrace::CollectiveTrace(std::uint32_t operation, const Call& call)
    : operation_(operation), site_(current_call().site), ranks_(call.ranks), how_(call.how) {
  write({.kind = static_cast<std::uint16_t>(Kind::collective),
         .detail = static_cast<std::uint16_t>(call.kind),
         .bytes = call.bytes,
         .value = static_cast<std::uint64_t>(call.first) << 32 | static_cast<std::uint32_t>(call.number),
         .operation = operation_,
         .site = site_,
         .peer = static_cast<std::int32_t>(call.root),
         .context = static_cast<std::uint32_t>(call.communicator),
         .extra = how_});
  began_ns_ = last_record_ns();
}

void CollectiveTrace::waited(std::uint64_t nanoseconds) {
  has_waited(nanoseconds);
  current_call().waited_ns += nanoseconds;
}

void CollectiveTrace::came(Peer last) {
  last_ = last;
  came_after_ns_ = now() - began_ns_;
}

void CollectiveTrace::end(bool has_failed) {
  write({.kind = static_cast<std::uint16_t>(Kind::collective_end),
         .detail = static_cast<std::uint16_t>(how_ | (has_failed ? collective_failed : 0)),
         .bytes = came_after_ns_,
         .value = waited_ns_,
         .operation = operation_,
         .site = site_,
         .peer = static_cast<std::int32_t>(last_),
         .extra = ranks_},
        began_ns_);
}

}  // namespace sluice::trace
