// How often a buffer was used for large messages: a buffer earns its alias block by being used again.
//
// Uses are counted only while it is no block. So when one that had earned its block is used again, the block is gone: the memory
// was freed and is somebody else's now, or it could not be made. Then the next one takes twice as many uses, so that a program
// which allocates its buffers anew for each message does not pay for a block at each of them.
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
  /// Where an adapter moves the data, each use of what is no block costs a registration and its end (docs/registration.md).
  static constexpr std::uint32_t uses_to_stay_registered = 2;

  /// Counts one more use of what is no block; true once the buffer has earned one, which the caller makes then.
  bool use(ByteRange buffer, std::uint32_t uses_needed = uses_to_earn_a_block);

  /// The buffer has earned its block with its next use: its last one cost more time than a block does.
  void earn(ByteRange buffer);

 private:
  struct Entry {
    std::uintptr_t start = 0;
    std::size_t earned = 0;  // a block of so many bytes
    std::uint32_t uses = 0;
    std::uint32_t factor = 1;
  };
  static constexpr std::uint32_t most_factor = 64;

  Entry& entry(ByteRange buffer);

  std::array<Entry, 1024> entries_{};
};

}  // namespace sluice
