#include "runtime/buffer_history.hpp"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

namespace {

constexpr std::uint32_t enough_uses = 1U << 20;

}  // namespace

BufferHistory::Entry& BufferHistory::entry(ByteRange buffer) {
  Entry& found = entries_[XXH3_64bits(&buffer.begin, sizeof(buffer.begin)) % entries_.size()];
  if (found.start != buffer.begin) found = {.start = buffer.begin};
  return found;
}

bool BufferHistory::use(ByteRange buffer, std::uint32_t uses_needed) {
  Entry& used = entry(buffer);
  if (used.earned >= buffer.size()) {
    used.factor = std::min(2 * used.factor, most_factor);
    used.uses = 0;
    used.earned = 0;
  }
  if (used.uses < enough_uses) ++used.uses;
  if (used.uses < uses_needed * used.factor) return false;
  used.earned = buffer.size();
  return true;
}

void BufferHistory::earn(ByteRange buffer) {
  Entry& waited = entry(buffer);
  waited.uses = enough_uses;
  waited.earned = 0;
}

}  // namespace sluice
