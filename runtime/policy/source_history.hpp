// Which of its peers' buffers a process reads again and again, and whether they are written anew in between.
//
// A line that is read out of another processor's cache is in both caches, and the next store to it there waits until it is gone
// from this one. That time is the sender's, when it writes its next message: it shows in no message, and takes longer than the
// copy. Zen 5 guest, processors that share a cache, µs for 64 KB that the sender writes, the receiver copies out of its memory,
// and reads:
//
//                                                   write   copy   read   together
//   by plain stores                                  10.1    1.5    0.6       12.5
//   handing the lines back (copy_engine.hpp)          4.6    2.3    0.6        7.7
//   (the sender copies, streaming)                    4.5    2.4    2.9       10.1
//
// A buffer that is sent again unchanged is best left in both caches. So the table remembers for the last large messages that were
// read whence they came and a few of their words, and says that a buffer is written anew if these had changed when it was read
// last. When more bytes were read since, and copied to somewhere, than fit into a processor's own cache, its lines are not in
// this one's any more, and are not to be handed back. (1 MB, which both ranks write, exchange and read, µs, such a cache of 1 MB:
// 108, and 143 where lines are handed back.) That the sender copies is worth it for longer: two pieces of 512 KB reduced by two
// ranks, 138 µs where they are read and 120 where senders copy; and between processors that share no cache always.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/table_slot.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

/// When a peer's buffer was read last, if it had been written anew for that; in order.
enum class WrittenAnew : std::uint8_t {
  no,
  long_ago,  // its lines may be in no cache of this processor's any more
  lately,    // half of this processor's own cache holds it, and all of that what was read since
  just_now   // ... and half of it what was read since
};

/// [one thread at a time]
class SourceHistory {
 public:
  explicit SourceHistory(std::size_t own_bytes) : own_bytes_(own_bytes) {}

  /// So many bytes at an address of the peer's.
  [[nodiscard]] WrittenAnew written_anew(Peer peer, std::uint64_t address, std::size_t bytes) const;
  /// They were read; `copy` has them.
  void note_read(Peer peer, std::uint64_t address, std::span<const std::byte> copy);

 private:
  struct Source {
    std::uint64_t address = 0;
    std::size_t bytes = 0;  // 0: none
    Peer peer{};
    bool changes = false;
    std::uint64_t words = 0;  // a hash of some
    std::uint64_t at = 0;     // of read_
  };

  [[nodiscard]] static std::size_t place_of(Peer peer, std::uint64_t address);

  std::size_t own_bytes_;
  std::uint64_t read_ = 0;                     // bytes so far
  std::array<Source, table_slots> sources_{};  // each at the place that follows from peer and address; a later one takes it over
};

}  // namespace sluice
