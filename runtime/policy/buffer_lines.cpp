#include "runtime/policy/buffer_lines.hpp"

#include <algorithm>

namespace sluice {

std::size_t BufferLines::place_of(const std::byte* start) { return slot_in_table(reinterpret_cast<std::uintptr_t>(start)); }

TargetLines BufferLines::lines_of(const std::byte* start, std::size_t bytes) const {
  const Buffer& known = buffers_[place_of(start)];
  const bool is_known = known.start == start && known.bytes >= bytes;
  const std::size_t since = std::max<std::size_t>(bytes, moved_ - known.at);
  if (is_known && since <= caches_.own_bytes) return known.lines;
  const bool was_shared = is_known && known.lines == TargetLines::shared && since <= caches_.largest_bytes;
  return was_shared ? TargetLines::outer : TargetLines::unknown;
}

void BufferLines::enter(const std::byte* start, std::size_t bytes, TargetLines lines, bool by_message) {
  moved_ += bytes;
  buffers_[place_of(start)] = {start, bytes, moved_, lines, by_message};
}

TargetLines BufferLines::overwrite(const std::byte* start, std::size_t bytes) {
  const TargetLines found = lines_of(start, bytes);
  enter(start, bytes, TargetLines::own, true);
  return found;
}

bool BufferLines::are_overwritten(const std::byte* start, std::size_t bytes) const {
  const Buffer& known = buffers_[place_of(start)];
  return known.by_message && known.start == start && known.bytes >= bytes;
}

void BufferLines::note_handed_back(const std::byte* start, std::size_t bytes) { enter(start, bytes, TargetLines::own, false); }

void BufferLines::note_read_by_peer(const std::byte* start, std::size_t bytes) {
  enter(start, bytes, TargetLines::shared, false);
}

}  // namespace sluice
