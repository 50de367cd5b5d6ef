#include "runtime/work.hpp"

#include <algorithm>
#include <span>

#include "runtime/rendezvous/receiver_initiated.hpp"

namespace sluice {
namespace {

/// Polls between two chunks of a copy, a message or so of every peer each; they take about as long as a chunk.
constexpr int max_taken_before_a_chunk = 64;
/// About as long as the helper thread takes to be woken, on a machine where a process has a processor: 10 µs.
constexpr std::size_t min_worth_waking = std::size_t{128} << 10;

}  // namespace

Work::Work(const Parts& parts)
    : sends_rtrs_(parts.job.transport && receiver_initiated(parts.job.config.rendezvous)),
      transport_(parts.job.transport),
      parts_(parts) {}

bool Work::work_besides() {
  bool moved = false;
  parts_.put_receiver.resend_rtrs();
  if (parts_.outbox.self_pending()) moved |= parts_.outbox.poll_self(parts_.sink) > 0;
  if (!parts_.stream.empty()) moved |= parts_.stream.work();
  moved |= parts_.rdma.work();
  moved |= parts_.put_receiver.work();
  moved |= parts_.put_sender.work();
  return moved;
}

bool Work::round(Lock& lock, const std::uint32_t& inside) {
  NodeWay& node = parts_.node;
  const std::uint64_t completions = parts_.requests.completions();
  bool moved = take_messages();
  if (has_collective_calls()) [[unlikely]]
    moved |= advance_collective_calls(lock);
  if (has_windows()) [[unlikely]]
    moved |= parts_.far_windows.advance(lock);
  // All that is there is taken before a chunk, though not without end: what is behind the announcements of many long messages
  // would wait for a chunk of each otherwise.
  bool more = moved && (has_copies() || !node.helping().empty());
  for (int taken = 1; more && parts_.requests.completions() == completions && taken < max_taken_before_a_chunk; ++taken)
    more = take_messages();
  // What is complete now may be what a thread waits for, and should not wait for another chunk (COOP-chunked, CO section II-C).
  // Copies are not put off for ever: only so many operations can be completed as have been posted.
  if (parts_.requests.completions() != completions) return true;
  if (has_copies()) {
    node.work(lock);
    moved = true;
  }
  // Only who waits in a call takes part in the peer's copy: the helper thread would take the processor from the application.
  if (!node.helping().empty() && inside != 0) {
    node.delivery().help(lock);
    moved = true;
  }
  return moved;
}

bool Work::advance_collective_calls(Lock& lock) {
  const bool moved = parts_.lane_calls.advance();
  return parts_.collective_calls.advance(lock) || moved;
}

bool Work::may_use_blocks() const {
  const RequestCounts& counts = parts_.requests.counts();
  return parts_.node.copies().busy() != 0 || has_released() || counts.large_receives != 0 || counts.pending_sends != 0 ||
         parts_.outbox.queued() != 0 || parts_.transfers.outlive_requests();
}

bool Work::next_copy_is_short() const {
  const Request& copy = *parts_.node.list().first();
  return (copy.is_send() ? copy.limit : copy.stop) - copy.offset <= min_worth_waking;
}

bool Work::some_peer_is_asleep() const {
  const std::span<const Peer> peers = parts_.node.list().peers();
  return std::any_of(peers.begin(), peers.end(), [this](Peer peer) { return transport_->is_asleep(peer); });
}

}  // namespace sluice
