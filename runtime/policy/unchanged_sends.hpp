// Which buffers a process sends again as they were. Their lines are in their receiver's cache as well, from its last reading, and
// it copies them from there: Emerald Rapids, µs for 16 and 32 KB one way, 3.6 and 6.1 through the ring (shmem/ring.hpp), 2.0 and
// 2.6 so. What is written anew must come from the sender's cache either way, and through a ring needs no answer: 16 KB 4.4 and
// 5.0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/sampled_words.hpp"
#include "runtime/base/table_slot.hpp"

namespace sluice {

/// [one thread at a time]
class UnchangedSends {
 public:
  /// The buffer at `start` is about to be sent, and has these bytes: whether it had them when it was sent last, as far as samples
  /// tell. Remembers them.
  [[nodiscard]] bool sends_again(const std::byte* start, std::span<const std::byte> bytes) {
    const std::uint64_t words = hash_of_samples(bytes);
    Sent& sent = place(start);
    const bool is_unchanged = sent.start == start && sent.words == words;
    sent = {start, words};
    return is_unchanged;
  }

 private:
  struct Sent {
    const std::byte* start = nullptr;
    std::uint64_t words = 0;  // of its length, too
  };

  [[nodiscard]] Sent& place(const std::byte* start) { return sent_[slot_in_table(reinterpret_cast<std::uintptr_t>(start))]; }

  std::array<Sent, table_slots> sent_{};  // each at the place that follows from its start; a later one takes it over
};

}  // namespace sluice
