// Blocked sends over a network: what has not left yet is copied aside, and the call returns.
//
// A link takes a message slowly (160 KB in 1.3 ms at 1 Gbit/s), and its receiver may be slow to ask for it; a copy takes 20 µs.
// A send in standard mode may have been buffered, so nobody can tell. Done only after a wait that was as long as the copy: on a
// fast link the message is gone by then. Inside a node the copy would cost as much as the transfer; there sends can be released
// behind write protection (release/release.cpp).
//
// The copy goes to memory that is new to the process, 4 MB in 2 ms, which is what a socket holds at 2 Gbit/s. So it is made piece
// by piece, with the engine's other work in between: requests for data are answered, and no link runs dry.
//
// The request goes on by itself, as a detached one, once its call has returned (State::take).

#include <algorithm>

#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {
namespace {

/// What all sends of the process may have aside.
constexpr std::size_t most_aside_bytes = std::size_t{16} << 20;
/// A copy of memory that is not in the cache.
constexpr std::size_t copied_bytes_per_us = 4000;
/// Of a copy, between two rounds of the engine's work.
constexpr std::size_t piece_bytes = std::size_t{128} << 10;

/// End of what the receiver wants, as far as that is known.
std::size_t end_of(const Request& send) { return send.way == Request::Way::stream ? send.limit : send.bytes; }

}  // namespace

bool Engine::State::may_set_aside(const Request& send, std::uint64_t waited_ns) const {
  const bool under_way = send.way == Request::Way::stream || send.expects == Request::Expects::clearance;
  if (!send.is_send() || !under_way || send.owned || send.mode != SendMode::standard) return false;
  if (send.peer == self || send.offers_rdma || !transport->streams_directly(send.peer)) return false;
  const std::size_t end = end_of(send);
  return waited_ns >= (end - send.offset) * 1000 / copied_bytes_per_us && aside_bytes + end <= most_aside_bytes;
}

void Engine::State::set_aside(Lock& lock, Request& send) {
  const std::size_t end = end_of(send);
  auto copy = std::make_unique_for_overwrite<std::byte[]>(end);  // at their offsets; what has left is never touched
  for (std::size_t copied = send.offset; copied < end; copied = std::max(copied, send.offset)) {
    const std::size_t piece = std::min(piece_bytes, end - copied);
    pack_at(send, copied, {copy.get() + copied, piece});
    copied += piece;
    progress(lock);
    if (send.may_return()) return;
  }
  send.layout_buffer = {};
  send.gaps = false;
  send.data = copy.get();
  send.owned = std::move(copy);
  send.aside = end;
  aside_bytes += end;
  ++statistics.sends_set_aside;
  if (trace::on()) [[unlikely]]
    trace::set_aside(send);
}

void Engine::State::set_aside(Lock& lock, std::span<Request* const> requests, std::uint64_t waited_ns) {
  if (!uses_sockets) return;
  for (Request* request : requests) {
    if (request && !request->may_return() && may_set_aside(*request, waited_ns)) set_aside(lock, *request);
  }
}

}  // namespace sluice
