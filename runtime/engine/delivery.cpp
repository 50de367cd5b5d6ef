#include "runtime/engine/delivery.hpp"

#include <algorithm>

#include "runtime/alias/arena.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {

void deliver(Request& receive, std::span<const std::byte> payload, const AliasArena* arena) {
  const std::size_t bytes = std::min(payload.size(), receive.stop - receive.offset);
  if (receive.has_gaps()) {
    UserBuffer target = receive.layout_buffer;
    if (receive.released) {
      // The whole span is one block, so its alias is everywhere at the same distance.
      const std::uintptr_t begin = receive.range().begin;
      target.base += arena->alias(begin) - reinterpret_cast<std::byte*>(begin);
    }
    LayoutCursor cursor(target);
    cursor.seek(receive.offset);
    cursor.unpack(payload.first(bytes));
  } else if (bytes != 0) {
    copy_to_user(receive.data + receive.offset, payload.data(), bytes);
  }
  receive.offset += bytes;
}

}  // namespace sluice
