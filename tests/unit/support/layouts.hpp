// Layouts by the plainest description there is: the offset of every single byte, in packed order.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/datatype/layout.hpp"

namespace sluice {

using Bytes = std::vector<std::byte>;
using Runs = std::vector<StridedRun>;

inline Bytes numbered(std::size_t bytes) {
  Bytes memory(bytes);
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::byte>(i * 131 + (i >> 8));
  return memory;
}

inline void list_offsets(std::span<const StridedRun> runs, std::ptrdiff_t origin, std::vector<std::ptrdiff_t>& offsets) {
  for (const StridedRun& run : runs) {
    for (std::size_t block = 0; block < run.count; ++block) {
      const std::ptrdiff_t start = origin + run.offset + run.stride * static_cast<std::ptrdiff_t>(block);
      if (run.nested) {
        list_offsets(run.nested->runs(), start, offsets);
      } else {
        for (std::size_t i = 0; i < run.bytes; ++i) offsets.push_back(start + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

/// Offsets from the buffer's base of every packed byte, in order.
inline std::vector<std::ptrdiff_t> byte_offsets(const Runs& runs, std::ptrdiff_t extent, std::size_t count) {
  std::vector<std::ptrdiff_t> offsets;
  for (std::size_t i = 0; i < count; ++i) list_offsets(runs, extent * static_cast<std::ptrdiff_t>(i), offsets);
  return offsets;
}

inline std::shared_ptr<const Layout> make(Runs runs, std::ptrdiff_t extent) {
  return std::make_shared<const Layout>(std::move(runs), extent);
}

inline Bytes pack_all(const UserBuffer& buffer) {
  Bytes packed(buffer.bytes());
  EXPECT_EQ(LayoutCursor(buffer).pack(packed), packed.size());
  return packed;
}

inline Bytes expected_pack(const std::byte* base, const std::vector<std::ptrdiff_t>& offsets) {
  Bytes packed;
  for (const std::ptrdiff_t offset : offsets) packed.push_back(base[offset]);
  return packed;
}

}  // namespace sluice
