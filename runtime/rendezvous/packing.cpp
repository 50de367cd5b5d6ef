#include "runtime/rendezvous/packing.hpp"

#include "runtime/datatype/layout.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {

std::size_t pack_at(const Request& send, std::size_t offset, std::span<std::byte> target) {
  if (send.has_gaps()) {
    LayoutCursor cursor(send.layout_buffer);
    cursor.seek(offset);
    return cursor.pack(target);
  }
  copy_from_user(target.data(), send.source() + offset, target.size());
  return target.size();
}

}  // namespace sluice
