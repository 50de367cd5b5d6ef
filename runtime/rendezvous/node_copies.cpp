#include "runtime/rendezvous/node_copies.hpp"

#include <algorithm>
#include <cstdint>

#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/packing.hpp"

namespace sluice {

bool NodeCopies::write(Lock& lock, Request& send, std::size_t end) {
  const Turn turn(*this, send);
  bool written = true;
  while (written && send.offset < end) written = write_piece(lock, send, end - send.offset);
  return written;
}

/// The next piece of a claimed chunk, up to `most` bytes of it.
bool NodeCopies::write_piece(Lock& lock, Request& send, std::size_t most) {
  const std::byte* source = nullptr;
  std::size_t bytes = most;
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
  const bool written = parts_.memory->write(send.peer, send.remote_address + send.offset, {source, bytes}, trial.lines());
  trial.stop();
  if (written) parts_.memory->report_progress(send.peer, send.progress_slot, send.offset + bytes);
  lock.lock();
  if (!written) return false;
  trial.keep(bytes);
  send.offset += bytes;
  count(bytes);
  return true;
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
  const std::size_t arrived = fetch(receive, offset, {target, bytes}, trial.lines());
  trial.stop();
  lock.lock();
  if (arrived == bytes) trial.keep(bytes);
  if (bounce) copy_to_user(user, target, arrived);
  count(arrived);
  return arrived;
}

std::size_t NodeCopies::fetch(Lock& lock, const Request& receive, std::size_t offset, std::span<std::byte> target) {
  lock.unlock();
  const std::size_t arrived = fetch(receive, offset, target, TargetLines::unknown);
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
