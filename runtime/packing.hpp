// Packed bytes out of a user buffer, and into it, from a packed offset on. What is under guard is gone around
// (guard/user_memory.hpp).
#pragma once

#include <cstddef>

#include "runtime/datatype/layout.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {

inline void pack(const UserBuffer& from, std::size_t offset, std::byte* to, std::size_t bytes) {
  if (from.is_contiguous()) return copy_from_user(to, from.data() + offset, bytes);
  LayoutCursor cursor(from);
  cursor.seek(offset);
  cursor.pack({to, bytes});
}

inline void unpack(const std::byte* from, const UserBuffer& to, std::size_t offset, std::size_t bytes) {
  if (to.is_contiguous()) return copy_to_user(to.data() + offset, from, bytes);
  LayoutCursor cursor(to);
  cursor.seek(offset);
  cursor.unpack({from, bytes});
}

}  // namespace sluice
