// How often a buffer was used for large messages: a buffer earns its alias block by being used again.
//
// Uses are counted only while it is no block. So when one that had earned its block is used again, the block is gone: the memory
// was freed and is somebody else's now, or it could not be made. Then the next one takes twice as many uses, so that a program
// which allocates its buffers anew for each message does not pay for a block at each of them.
//
// Where an adapter moves the data, a buffer is trusted to come back: it gets its block with its first use, and so is registered
// once. A program that uses each buffer once would pay for blocks in vain, so trust is a sum of bytes that such blocks use up,
// and that each of them gives back twofold when its buffer does come back. Without trust it takes a second use.
//
// A fixed direct-mapped table; a collision forgets the older buffer, which then merely earns its block later.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

class BufferHistory {
 public:
  /// Making a block costs 0.6 to 3 µs a page (fresh file pages in a virtual machine are the dear ones); a direct copy
  /// saves about 0.2 µs a page over cross-memory attach at every use.
  static constexpr std::uint32_t uses_to_earn_a_block = 6;
  /// Where an adapter moves the data, each use of what is no block costs a registration and its end (docs/registration.md).
  static constexpr std::uint32_t uses_to_stay_registered = 2;
  /// Some 5 to 25 ms of a program that uses each of its buffers once, at 0.6 to 3 µs a page.
  static constexpr std::size_t trusted_at_first = std::size_t{32} << 20;
  static constexpr std::size_t max_trusted = 8 * trusted_at_first;

  enum class Use : std::uint8_t {
    copied,      // by a processor
    by_adapter,  // which has to know the memory
    frequent     // the same, and known to come back (FrequentSends)
  };

  /// Counts one more use of what is no block; true once the buffer has earned one, which the caller makes then.
  bool use(ByteRange buffer, Use how = Use::copied);

  /// A buffer that an adapter uses is a block already.
  void came_back(ByteRange buffer);

  /// The buffer has earned its block with its next use: its last one cost more time than a block does, or none could be made just
  /// then.
  void earn(ByteRange buffer);

 private:
  struct Entry {
    std::uintptr_t start = 0;
    std::size_t earned = 0;  // a block of so many bytes
    std::uint32_t uses = 0;
    std::uint32_t factor = 1;
    bool trusted = false;  // has its block with the first use, and was not seen again since
  };
  static constexpr std::uint32_t max_factor = 64;

  Entry& slot(ByteRange buffer);
  Entry& entry(ByteRange buffer);
  bool earns(Entry& used, ByteRange buffer, Use how);

  std::array<Entry, 1024> entries_{};
  std::size_t trust_ = trusted_at_first;
};

}  // namespace sluice
