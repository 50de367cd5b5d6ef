#include "runtime/buffer_history.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

BufferHistory::Entry& BufferHistory::entry(ByteRange buffer) {
  Entry& found = entries_[XXH3_64bits(&buffer.begin, sizeof(buffer.begin)) % entries_.size()];
  if (found.start != buffer.begin) found = {buffer.begin, 0};
  return found;
}

bool BufferHistory::use(ByteRange buffer) {
  Entry& used = entry(buffer);
  if (used.uses < uses_to_earn_a_block) ++used.uses;
  return used.uses >= uses_to_earn_a_block;
}

void BufferHistory::earn(ByteRange buffer) { entry(buffer).uses = uses_to_earn_a_block; }

}  // namespace sluice
