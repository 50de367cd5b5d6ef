// How often a buffer was used for large messages: a buffer earns its alias block by being used again.
//
// A fixed direct-mapped table; a collision forgets the older buffer, which then merely earns its block later.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/types.hpp"

namespace sluice {

class BufferHistory {
 public:
  /// Making a block costs 0.6 to 3 µs a page (fresh file pages in a virtual machine are the dear ones); a direct copy
  /// saves about 0.2 µs a page over cross-memory attach at every use.
  static constexpr std::uint32_t uses_to_earn_a_block = 6;

  /// Counts one more use; true once the buffer has earned its block.
  bool use(ByteRange buffer);

  /// The buffer has earned its block with its next use: its last one cost more time than a block does.
  void earn(ByteRange buffer);

 private:
  struct Entry {
    std::uintptr_t start = 0;
    std::uint32_t uses = 0;
  };
  Entry& entry(ByteRange buffer);

  std::array<Entry, 1024> entries_{};
};

}  // namespace sluice
