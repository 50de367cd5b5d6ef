// A ring of messages from one process to another: one producer, one consumer, no lock, one line of cache per small message.
//
// Records start on cache lines. A record is
//
//     8 bytes   control word: length and sort of the record; zero while the record is not there yet
//    24 bytes   WireHeader
//     payload   at byte 32 when it fits into the first line, otherwise at byte 64
//
// so 32 bytes of payload travel with header and control word in one line. A larger payload leaves the first line alone: the
// consumer polls that line, and would take it away from the producer in the middle of its copy.
//
// Positions count bytes since the start and never wrap; `position & (capacity - 1)` is the place in the buffer. `tail` is known
// to the producer alone and `head` to the consumer; only a late copy of `head` is shared, in RingControl.
//
// Invariants
//  1. The control word at `tail` is zero. The consumer polls the word at its `head`; as long as that is `tail` it sees nothing.
//     Stale payload could be taken for a control word, so before the producer publishes a record it zeroes the word that follows
//     it ("arms" it). Hence one free line more than the record is needed. The word after a one-line record is armed in advance,
//     after the record before was published, because that line's transfer would otherwise delay the message itself.
//  2. Publication is one store of the control word, ordered after payload, header and arming. The consumer's acquiring
//     load of that word is all it needs.
//  3. A record never wraps. If it does not fit before the end of the buffer, a skip record fills the rest.
//     Room for skip and record is found before either is written. A record is at most half the buffer less one line, so that
//     an empty ring always has that room.
//  4. Between the shared head and tail nothing is written except by the consumer's permission: the producer writes only below
//     shared head + capacity, and the shared head is stored (release) after the consumer has done with the bytes before it.
//
// Laps. A ring that is walked from end to end has left the nearest caches of both sides when its start is written again. So a
// producer whose consumer keeps up turns back early: once it has gone a lap, and everything before this lap's first records is
// known to be consumed, a skip record takes the rest of the buffer and the next record goes to its start. Positions only grow all
// the same, and the room for that skip is found like any other, so invariants 1 to 4 hold as they are. A consumer that is behind
// lets the producer go on to the buffer's end; the producer asks again a lap later.
//
// Until the consumer has come to the skip, there is only as much room behind it as the consumer had left when the producer
// turned. A consumer that begins many receives before it looks again does not come to it, and a burst meant for these does not
// fit. So each time that happens to a producer its laps become twice as long, until it goes to the end. How long they are at
// first depends on the processor (cache_hints.hpp).
//
// Room. The consumer publishes its head every half of a first lap. The producer reads it when its last copy leaves too little
// room, or does not allow to turn back, so about once per lap. When there is no room:
//
//     producer                                consumer
//     want_room = 1            (seq_cst)      head = ...               (seq_cst)
//     read head                (seq_cst)      read want_room           (seq_cst)
//     still too little: give up               set: clear it, wake the producer
//
// This is Dekker's pattern: either the producer sees the new head, or the consumer sees the wish. A head that has not been
// published because less than half a lap was consumed is published as soon as the consumer finds the ring empty and the wish set.
//
// Everything read from the buffer was written by another process, so the consumer checks each length against the buffer before
// use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/transport/message.hpp"
#include "shmem/cache_hints.hpp"

namespace sluice {

/// The words of a ring that both sides use, apart from the records. Lives in shared memory, zero at the start.
struct RingControl {
  alignas(cache_line) std::atomic<std::uint64_t> head;
  alignas(cache_line) std::atomic<std::uint32_t> want_room;
};
static_assert(sizeof(RingControl) == 2 * cache_line && std::atomic<std::uint64_t>::is_always_lock_free);

namespace ring {

/// Low bits of the control word; the rest is the record's length in bytes, a multiple of the line.
enum Sort : std::uint64_t { absent = 0, small = 1, large = 2, skip = 3 };
inline constexpr std::uint64_t sort_mask = cache_line - 1;
inline constexpr std::size_t small_payload_at = 32;
inline constexpr std::size_t large_payload_at = cache_line;
inline constexpr std::size_t largest_small_payload = cache_line - small_payload_at;
static_assert(sizeof(std::uint64_t) + sizeof(WireHeader) == small_payload_at);

/// Largest payload for a buffer of `capacity` bytes (invariant 3).
constexpr std::size_t largest_payload(std::size_t capacity) { return capacity / 2 - 2 * cache_line; }

/// Of a longer record the copy itself fetches the rest in time.
inline constexpr std::size_t max_short = 8 * cache_line;
/// Short records follow each other faster than a line comes from the other side, so both sides ask for those that come later:
/// in a burst these are full or free, and otherwise nobody is using them.
inline constexpr std::size_t records_ahead = 2;

inline std::atomic_ref<std::uint64_t> control_word(std::byte* record) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(record));
}

}  // namespace ring

class RingWriter {
 public:
  RingWriter() = default;
  /// `capacity` is a power of two; `buffer` and `control` are zero and outlive the writer. `elsewhere`: the consumer has a
  /// processor of its own. `lap`: bytes; both sides' are the same.
  RingWriter(RingControl* control, std::byte* buffer, std::size_t capacity, std::size_t lap, bool elsewhere)
      : control_(control), buffer_(buffer), capacity_(capacity), lap_(lap), elsewhere_(elsewhere) {}

  /// Place for a payload of at most `payload_bytes`; nullptr when there is no room, and then the consumer knows that we wait.
  std::byte* reserve(std::size_t payload_bytes) {
    const bool fits_first_line = payload_bytes <= ring::largest_small_payload;
    const std::size_t payload_at = fits_first_line ? ring::small_payload_at : ring::large_payload_at;
    const std::size_t record = (payload_at + payload_bytes + cache_line - 1) & ~(cache_line - 1);
    const std::size_t to_end = capacity_ - (tail_ & (capacity_ - 1));
    const std::size_t skipped = record > to_end || turns_back(to_end, record) ? to_end : 0;
    if (!has_room(skipped + record + cache_line)) {
      if (known_head_ < turned_at_) lap_ = std::min(2 * lap_, capacity_);
      return nullptr;
    }
    if (skipped != 0) publish_skip(skipped);
    arm(tail_ + record);
    reserved_ = record | (fits_first_line ? ring::small : ring::large);
    return at(tail_) + payload_at;
  }

  /// Publishes the record that was reserved. Sequentially consistent, the caller may look at the consumer's wake mask next
  /// without a fence. With release order the consumer sees the record soon, but maybe only after the caller has looked
  /// (wake_word.hpp). `awaited`: as far as can be known, the consumer waits for just this record.
  template <std::memory_order order = std::memory_order_seq_cst>
  void publish(const WireHeader& header, bool awaited) {
    static_assert(order == std::memory_order_seq_cst || order == std::memory_order_release);
    std::byte* record = at(tail_);
    std::memcpy(record + sizeof(std::uint64_t), &header, sizeof header);
    ring::control_word(record).store(reserved_, order);
    tail_ += reserved_ & ~ring::sort_mask;
    if (tail_ + 2 * cache_line <= known_head_ + capacity_) arm(tail_ + cache_line);
    hint(record, reserved_ & ~ring::sort_mask, awaited);
  }

  /// Nothing was ever published.
  [[nodiscard]] bool is_fresh() const { return tail_ == 0; }
  /// A reserve failed and the consumer has not made room since.
  [[nodiscard]] bool wish_stands() const { return control_->want_room.load(std::memory_order_seq_cst) != 0; }

 private:
  [[nodiscard]] std::byte* at(std::uint64_t position) const { return buffer_ + (position & (capacity_ - 1)); }

  bool has_room(std::size_t bytes) {
    if (tail_ + bytes <= known_head_ + capacity_) return true;
    known_head_ = control_->head.load(std::memory_order_acquire);
    if (tail_ + bytes <= known_head_ + capacity_) return true;
    control_->want_room.store(1, std::memory_order_seq_cst);
    known_head_ = control_->head.load(std::memory_order_seq_cst);
    if (tail_ + bytes > known_head_ + capacity_) return false;
    control_->want_room.store(0, std::memory_order_relaxed);
    return true;
  }

  /// Whether a record of so many bytes shall go to the buffer's start, though it would fit where we are: see "Laps".
  bool turns_back(std::size_t to_end, std::size_t record) {
    if (capacity_ - to_end < lap_ || tail_ < next_turn_) return false;
    const std::uint64_t end = tail_ + to_end + record + cache_line;
    if (end > known_head_ + capacity_) known_head_ = control_->head.load(std::memory_order_acquire);
    if (end <= known_head_ + capacity_) {
      turned_at_ = tail_ + to_end;
      return true;
    }
    next_turn_ = tail_ + lap_;
    return false;
  }

  void arm(std::uint64_t position) {
    if (position <= armed_) return;
    armed_ = position;
    ring::control_word(at(position)).store(ring::absent, std::memory_order_relaxed);
  }

  /// After a record of so many bytes was published. A message is mostly followed by one of its size: that one's lines, which the
  /// consumer has read last, are fetched now and not when the message is in a hurry. Where it will turn back is a guess.
  void hint(const std::byte* record, std::size_t bytes, bool awaited) const {
    if (elsewhere_ && awaited) cache_hints::demote(record, std::min(bytes, max_demoted));
    if (elsewhere_ && bytes <= ring::max_short) own_ahead(ring::records_ahead * bytes, bytes);
    if (bytes <= cache_line) return;
    const std::size_t to_end = capacity_ - (tail_ & (capacity_ - 1));
    const bool turns = elsewhere_ && (bytes > to_end || (capacity_ - to_end >= lap_ && tail_ >= next_turn_));
    const std::uint64_t next = turns ? tail_ + to_end : tail_;
    if (!turns && next + bytes > known_head_ + capacity_) return;
    cache_hints::own(at(next), std::min({bytes, elsewhere_ ? bytes : max_of_a_neighbour, turns ? bytes : to_end}));
  }

  /// Of a record that begins so many bytes after the next one does.
  void own_ahead(std::size_t ahead, std::size_t bytes) const {
    const bool is_ours = tail_ + ahead + bytes <= known_head_ + capacity_;
    if (is_ours && (tail_ & (capacity_ - 1)) + ahead + bytes <= capacity_) cache_hints::own(at(tail_ + ahead), bytes);
  }

  void publish_skip(std::size_t bytes) {
    arm(tail_ + bytes);
    ring::control_word(at(tail_)).store(bytes | ring::skip, std::memory_order_release);
    tail_ += bytes;
  }

  /// The consumer of a longer record is already reading it.
  static constexpr std::size_t max_demoted = 4096 + 2 * cache_line;
  /// Of a consumer that shares the producer's processor, whose lines are mostly there.
  static constexpr std::size_t max_of_a_neighbour = max_demoted;

  RingControl* control_ = nullptr;
  std::byte* buffer_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t lap_ = 0;
  bool elsewhere_ = false;
  std::uint64_t tail_ = 0;
  std::uint64_t known_head_ = 0;
  std::uint64_t turned_at_ = 0;  // the position to which the last turn has skipped
  std::uint64_t next_turn_ = 0;  // no asking before this position
  std::uint64_t armed_ = 0;      // the highest position whose control word was zeroed
  std::uint64_t reserved_ = 0;   // control word of the record that is being filled
};

class RingReader {
 public:
  RingReader() = default;
  RingReader(RingControl* control, std::byte* buffer, std::size_t capacity, std::size_t lap)
      : control_(control), buffer_(buffer), capacity_(capacity), lap_(lap) {}

  enum class Found : std::uint8_t { nothing, message, corrupt };

  /// Hands the next message to `deliver(header, payload)`. The payload is only valid during that call.
  template <typename Deliver>
  Found take(Deliver&& deliver) {
    std::uint64_t head = this->head();
    std::uint64_t control = ring::control_word(at(head)).load(std::memory_order_acquire);
    if (control == ring::absent) return Found::nothing;
    if ((control & ring::sort_mask) == ring::skip) {
      if (!is_possible(control)) return Found::corrupt;
      head += control & ~ring::sort_mask;
      head_.store(head, std::memory_order_relaxed);
      control = ring::control_word(at(head)).load(std::memory_order_acquire);
      if (control == ring::absent) return Found::nothing;
    }
    if (!is_possible(control) || (control & ring::sort_mask) == ring::skip) return Found::corrupt;
    const std::size_t record = control & ~ring::sort_mask;
    const std::byte* start = at(head);
    cache_hints::fetch(start + cache_line, std::min(record - cache_line, ring::max_short));
    if (record <= ring::max_short) cache_hints::fetch(at(head + ring::records_ahead * record), record);
    WireHeader header;
    std::memcpy(&header, start + sizeof(std::uint64_t), sizeof header);
    const std::size_t payload_at = (control & ring::sort_mask) == ring::small ? ring::small_payload_at : ring::large_payload_at;
    if (header.payload_bytes > record - payload_at) return Found::corrupt;
    deliver(static_cast<const WireHeader&>(header), std::span<const std::byte>(start + payload_at, header.payload_bytes));
    head_.store(head + record, std::memory_order_relaxed);
    return Found::message;
  }

  /// True when `take` would find something. Sequentially consistent, to be used after the wake mask was raised.
  [[nodiscard]] bool pending() const { return ring::control_word(at(head())).load(std::memory_order_seq_cst) != ring::absent; }

  /// [any thread] Nothing to take, and no wish to answer, as far as can be seen without a fence. Beside a `take` it may look at
  /// the place of a record that was taken before, which is as good as a look some time ago.
  [[nodiscard]] bool is_silent() const {
    return ring::control_word(at(head())).load(std::memory_order_relaxed) == ring::absent &&
           control_->want_room.load(std::memory_order_relaxed) == 0;
  }

  /// After a `take`: makes room known when half a lap was freed. True when the producer must be woken.
  bool yield_room() { return head() - published_head_ >= lap_ / 2 && publish_head(); }

  /// The producer waits for room that it does not know of yet.
  [[nodiscard]] bool owes_room() const {
    return head() != published_head_ && control_->want_room.load(std::memory_order_seq_cst) != 0;
  }

  /// Makes all room known. True when the producer must be woken.
  bool publish_head() {
    published_head_ = head();
    control_->head.store(published_head_, std::memory_order_seq_cst);
    return control_->want_room.load(std::memory_order_seq_cst) != 0 &&
           control_->want_room.exchange(0, std::memory_order_seq_cst) != 0;
  }

 private:
  [[nodiscard]] std::uint64_t head() const { return head_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::byte* at(std::uint64_t position) const { return buffer_ + (position & (capacity_ - 1)); }

  /// The record lies within the buffer and is of a known sort.
  [[nodiscard]] bool is_possible(std::uint64_t control) const {
    const std::uint64_t sort = control & ring::sort_mask;
    const std::uint64_t bytes = control & ~ring::sort_mask;
    return sort >= ring::small && sort <= ring::skip && bytes >= (sort == ring::large ? 2 : 1) * cache_line &&
           bytes <= capacity_ - (head() & (capacity_ - 1));
  }

  RingControl* control_ = nullptr;
  std::byte* buffer_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t lap_ = 0;
  std::atomic<std::uint64_t> head_{0};  // stored by who takes, alone
  std::uint64_t published_head_ = 0;
};

}  // namespace sluice
