// In whose cache the lines of a large buffer are, as far as messages tell: what a copy into it costs depends on that more than on
// anything else.
//
// A line that a peer has read is in its cache as well as here, and each plain store to it must wait until it is gone from there;
// streaming stores need not. A line that only this process has used is fastest overwritten by a plain store. Zen 5 guest, µs for
// 64 KB that the receiver copies out of the sender's memory and then reads, processors near to and far from each other:
//
//                                         near                     far
//                                  string  streaming        string  streaming
//   the buffer is its own             2.9        7.9           6.5        8.2
//   and was read by the sender       10.9        7.9            39         10
//
// So the table remembers for the last large buffers whether a message came into them or a peer read them, by their first byte. It
// knows nothing of what the program does with them in between. A receiver's own lines are forgotten when more bytes of messages
// have come since than fit into the cache that its processor has for itself. What a peer has read may be in a cache then that the
// peer's processor shares with others, and this one may be among them or not (store_rates.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/base/table_slot.hpp"
#include "runtime/copy/shared_copy.hpp"
#include "runtime/process/processors.hpp"

namespace sluice {

/// [one thread at a time]
class BufferLines {
 public:
  explicit BufferLines(ProcessorCaches caches) : caches_(caches) {}

  /// A message is about to come into these bytes: where their lines are now. From then on they are its receiver's own.
  TargetLines overwrite(const std::byte* start, std::size_t bytes);
  /// Since a peer copied out of them last, a message has come into them.
  [[nodiscard]] bool are_overwritten(const std::byte* start, std::size_t bytes) const;
  /// A peer has copied out of them.
  void note_read_by_peer(const std::byte* start, std::size_t bytes);
  /// ... and has handed their lines back (copy_engine.hpp).
  void note_handed_back(const std::byte* start, std::size_t bytes);

 private:
  struct Buffer {
    const std::byte* start = nullptr;
    std::size_t bytes = 0;
    std::uint64_t at = 0;  // of moved_
    TargetLines lines = TargetLines::unknown;
    bool by_message = false;
  };

  [[nodiscard]] static std::size_t place_of(const std::byte* start);
  [[nodiscard]] TargetLines lines_of(const std::byte* start, std::size_t bytes) const;
  void enter(const std::byte* start, std::size_t bytes, TargetLines lines, bool by_message);

  ProcessorCaches caches_;
  std::uint64_t moved_ = 0;                    // bytes of all messages so far
  std::array<Buffer, table_slots> buffers_{};  // each at the place that follows from its start; a later one takes it over
};

}  // namespace sluice
