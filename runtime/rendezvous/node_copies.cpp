#include "runtime/rendezvous/node_copies.hpp"

#include <algorithm>
#include <cstdint>

#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/packing.hpp"

namespace sluice {
namespace {

/// What the trace tells of one copy: how long the processor was at it.
class TracedCopy {
 public:
  explicit TracedCopy(const Request& request) : request_(request) {
    if (trace::on()) [[unlikely]]
      started_ns_ = trace::now();
  }
  void tell(std::size_t bytes) const {
    if (started_ns_ != 0 && bytes != 0) [[unlikely]]
      trace::copied(request_, bytes, started_ns_);
  }

 private:
  const Request& request_;
  std::uint64_t started_ns_ = 0;
};

}  // namespace

bool NodeCopies::write(Lock& lock, Request& send, std::size_t end) {
  const Turn turn(*this, send);
  bool written = true;
  while (written && send.offset < end) written = write_segment(lock, send, end - send.offset);
  return written;
}

/// The next segment of a claimed chunk, up to `max_bytes` of it.
bool NodeCopies::write_segment(Lock& lock, Request& send, std::size_t max_bytes) {
  const std::byte* source = nullptr;
  std::size_t bytes = max_bytes;
  Bounce bounce;
  if (send.alias) {
    source = send.alias + send.offset;
  } else if (!send.has_gaps()) {
    source = unguarded_address(send.data + send.offset, bytes);
  }
  if (!source) {
    bytes = std::min(bytes, bounce_bytes);
    bounce = std::make_unique_for_overwrite<std::byte[]>(bounce_bytes);
    pack_at(send, send.offset, {bounce.get(), bytes});
    source = bounce.get();
  }
  StoreTrial trial(send.lines, parts_.lines.of_writing(send.peer));
  lock.unlock();
  const TracedCopy traced(send);
  const std::size_t written = store(send, {source, bytes}, trial.lines());
  trial.stop();
  if (written != 0) parts_.memory->report_progress(send.peer, send.progress_slot, send.offset + written);
  traced.tell(written);
  lock.lock();
  if (written == bytes) trial.keep(bytes);
  send.offset += written;
  count(written);
  return written == bytes;
}

/// How many bytes. Into a memory file all or none.
std::size_t NodeCopies::store(const Request& send, std::span<const std::byte> source, TargetLines lines) const {
  const std::uint64_t target = send.remote_address + send.offset;
  if (send.shared.by_address) return parts_.memory->write_at(send.peer, target, source);
  return parts_.memory->write(send.peer, target, source, lines) ? source.size() : 0;
}

std::size_t NodeCopies::read(Lock& lock, const Request& receive, std::size_t offset, std::size_t bytes) {
  std::byte* const user = receive.data + offset;
  std::byte* target =
      receive.released ? parts_.arena->alias(reinterpret_cast<std::uintptr_t>(user)) : unguarded_address(user, bytes);
  Bounce bounce;
  if (!target) {
    bounce = std::make_unique_for_overwrite<std::byte[]>(bytes);
    target = bounce.get();
  }
  StoreTrial trial(receive.lines, parts_.lines.of_reading(receive.peer));
  lock.unlock();
  const TracedCopy traced(receive);
  const std::size_t arrived = fetch(receive, offset, {target, bytes}, trial.lines());
  trial.stop();
  traced.tell(arrived);
  lock.lock();
  if (arrived == bytes) trial.keep(bytes);
  if (bounce) copy_to_user(user, target, arrived);
  count(arrived);
  return arrived;
}

std::size_t NodeCopies::fetch(Lock& lock, const Request& receive, std::size_t offset, std::span<std::byte> target) {
  lock.unlock();
  const TracedCopy traced(receive);
  const std::size_t arrived = fetch(receive, offset, target, TargetLines::unknown);
  traced.tell(arrived);
  lock.lock();
  count(arrived);
  return arrived;
}

/// Out of the sender's memory file if it offered its block, otherwise by cross-memory attach. What was offered as a block is
/// never read by its address: the sender may have released it, and something else may be there.
std::size_t NodeCopies::fetch(const Request& receive, std::size_t offset, std::span<std::byte> target, TargetLines lines) const {
  const std::uint64_t source = receive.remote_address + offset;
  if ((receive.rts_flags & flag_block) == 0) return parts_.memory->read(receive.peer, source, target);
  return parts_.memory->read_block(receive.peer, source, target, lines, receive.source_lines) ? target.size() : 0;
}

/// Cross-memory attach cannot wait at a page that is under guard. Such a page holds a part of another message as well: of a row
/// that is received beside one that is sent. That says nothing about the peer, of which other messages are read.
Fallback NodeCopies::why_short(const Request& receive) const {
  const bool by_address = (receive.rts_flags & flag_block) == 0;
  return by_address && parts_.memory->can_read(receive.peer) ? Fallback::page_closed : Fallback::read_refused;
}

void NodeCopies::count(std::size_t bytes) {
  parts_.statistics.bytes_copied += bytes;
  parts_.hints->copied(bytes);
}

}  // namespace sluice
