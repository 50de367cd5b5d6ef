#include "runtime/alias/buffer_history.hpp"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

namespace {

constexpr std::uint32_t enough_uses = 1U << 20;

constexpr std::uint32_t uses_needed(BufferHistory::Use how) {
  switch (how) {
    case BufferHistory::Use::copied:
      return BufferHistory::uses_to_earn_a_block;
    case BufferHistory::Use::by_adapter:
      return BufferHistory::uses_to_stay_registered;
    case BufferHistory::Use::frequent:
      break;
  }
  return 1;
}

}  // namespace

BufferHistory::Entry& BufferHistory::slot(ByteRange buffer) {
  return entries_[XXH3_64bits(&buffer.begin, sizeof(buffer.begin)) % entries_.size()];
}

BufferHistory::Entry& BufferHistory::entry(ByteRange buffer) {
  Entry& found = slot(buffer);
  if (found.start != buffer.begin) found = {.start = buffer.begin};
  return found;
}

bool BufferHistory::use(ByteRange buffer, Use how) {
  Entry& used = entry(buffer);
  if (used.earned >= buffer.size()) {
    used.factor = std::min(2 * used.factor, max_factor);
    used.uses = 0;
    used.earned = 0;
    used.trusted = false;
  }
  if (used.uses < enough_uses) ++used.uses;
  if (!earns(used, buffer, how)) return false;
  used.earned = buffer.size();
  return true;
}

bool BufferHistory::earns(Entry& used, ByteRange buffer, Use how) {
  if (used.uses >= uses_needed(how) * used.factor) return true;
  if (how != Use::by_adapter || used.uses > 1 || used.factor > 1 || buffer.size() > trust_) return false;
  trust_ -= buffer.size();
  used.trusted = true;
  return true;
}

void BufferHistory::came_back(ByteRange buffer) {
  Entry& used = slot(buffer);
  if (used.start != buffer.begin || !used.trusted) return;
  used.trusted = false;
  trust_ = std::min(trust_ + 2 * used.earned, max_trusted);
}

void BufferHistory::earn(ByteRange buffer) {
  Entry& waited = entry(buffer);
  waited.uses = enough_uses;
  waited.earned = 0;
}

}  // namespace sluice
