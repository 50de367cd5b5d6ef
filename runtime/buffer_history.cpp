#include "runtime/buffer_history.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

bool BufferHistory::use(ByteRange buffer) {
  Entry& entry = entries_[XXH3_64bits(&buffer.begin, sizeof(buffer.begin)) % entries_.size()];
  if (entry.start != buffer.begin) entry = {buffer.begin, 0};
  if (entry.uses < uses_to_earn_a_block) ++entry.uses;
  return entry.uses >= uses_to_earn_a_block;
}

}  // namespace sluice
