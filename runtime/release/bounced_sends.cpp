#include "runtime/release/bounced_sends.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/engine/trace_events.hpp"
#include "runtime/rendezvous/packing.hpp"

namespace sluice {
namespace {

/// A copy of memory that is not in the cache.
constexpr std::size_t copied_bytes_per_us = 4000;
/// Of a copy, between two rounds of the engine's work.
constexpr std::size_t part_bytes = std::size_t{128} << 10;

/// End of what the receiver wants, as far as that is known.
std::size_t end_of(const Request& send) { return send.way == Request::Way::stream ? send.limit : send.bytes; }

}  // namespace

bool BouncedSends::may_bounce(const Request& send, std::uint64_t waited_ns) const {
  const bool under_way = send.way == Request::Way::stream || send.expects == Request::Expects::clearance;
  if (!send.is_send() || !under_way || send.owned || send.mode != SendMode::standard) return false;
  if (send.peer == job_.self || send.offers_rdma || !job_.transport->streams_directly(send.peer)) return false;
  const std::size_t end = end_of(send);
  return waited_ns >= (end - send.offset) * 1000 / copied_bytes_per_us && bytes_ + end <= max_bytes;
}

void BouncedSends::bounce(Lock& lock, Request& send) {
  const std::size_t end = end_of(send);
  auto copy = std::make_unique_for_overwrite<std::byte[]>(end);  // at their offsets; what has left is never touched
  for (std::size_t copied = send.offset; copied < end; copied = std::max(copied, send.offset)) {
    const std::size_t segment = std::min(part_bytes, end - copied);
    pack_at(send, copied, {copy.get() + copied, segment});
    copied += segment;
    host_.progress(lock);
    if (send.may_return()) return;
  }
  send.layout_buffer = {};
  send.gaps = false;
  send.data = copy.get();
  send.owned = std::move(copy);
  send.bounced = end;
  bytes_ += end;
  ++statistics_.bounced_sends;
  if (trace::on()) [[unlikely]]
    trace::set_aside(send);
}

void BouncedSends::bounce(Lock& lock, std::span<Request* const> requests, std::uint64_t waited_ns) {
  if (!job_.uses_sockets) return;
  for (Request* request : requests) {
    if (request && !request->may_return() && may_bounce(*request, waited_ns)) bounce(lock, *request);
  }
}

}  // namespace sluice
