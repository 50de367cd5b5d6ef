// Packed bytes as a buffer.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/datatype/layout.hpp"

namespace sluice {

/// Its layout is not counted, and never destroyed.
inline UserBuffer packed_buffer(std::byte* bytes, std::size_t size) {
  static const auto* const byte = new std::shared_ptr<const Layout>(Layout::contiguous(1));
  return {bytes, size, {std::shared_ptr<const Layout>{}, byte->get()}};
}

}  // namespace sluice
