// A lane: what one rank of a communicator publishes in its collective calls, and all other members read. Its owner writes it, and
// nobody else.
//
// The calls of a communicator are numbered alike on all its members. Number n uses the slot n % slots, and with a payload that
// has no room there, the long slot n % long_slots:
//
//   head     one line: sequence, description, and a payload that has room there. The heads of all slots lie side by side, as
//            readers that are behind go through them like a stream
//   near     of a long slot, some lines for a longer payload, all in one page
//   far      a page for one that is longer still, which comes into being when it is used
//   wide     of blocking calls, several pages for one that needs more: number n uses the wide slot n % wide_slots
//   done     one line of the lane: a number that the owner is through with
//
// Writer / reader / ordering, and why it is enough:
//
//   sequence      owner, on entering call n (n, last) / members, until it is n / release, acquire: description and payload are
//                 written before. It only grows in a lane, whichever communicators have it in turn, so it is never zeroed
//   description   owner, before the sequence / members, after it / by the sequence
//   payload       likewise
//   done          owner, when it has read all that it wants of call n / owners of other lanes, before they write a slot again /
//                 release, acquire: its reads come before their stores. It is written for every second half of the slots only, as
//                 the line goes to and fro: of the long slots after calls in which it or one that it reads used one, else of all.
//                 That is enough: a member that all others wait for finds the `done` of each, which has left the call before,
//                 less than `slots` behind, and after the last use of a long slot. After each call in which it or one that it
//                 reads used a wide slot it is written. At the end of the communicator it is exact
//
// Reuse. A slot with number n is written again for n + slots, a long slot for n + long_slots, a wide one for n + wide_slots. The
// owner may do that when nobody reads n any more: nobody ever has, or every reader's `done` has reached n. Readers that are some
// of the members only look at those that write for them, so they see each size. Who has seen the arrival of another in n + 1
// knows that without a look at `done`: it has left n. So in calls where each waits for all, nobody reads a `done`.
//
// How many. Who is not waited for runs ahead by so many calls. Where processes share processors each time that it has to stop is
// a switch to another.
//
// Nonblocking calls have a lane of their own beside that of blocking ones. There a call may begin before the one before it has
// ended, so the arrival of another in n + 1 says nothing of n: each `done` is looked at, which is written at the short interval
// always. An own slot is read by its owner until the call ends, too.
//
// Waking. Who waits for one of these words sleeps as any call does, and looks at them before and, once more, a moment after it
// has gone to sleep (Progress::sleep). Who has published looks whether the others sleep (Team::is_asleep). Where a thread of
// the same process polls meanwhile, it wakes those that sleep (Teams).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/transport/lane_memory.hpp"

namespace sluice {

class Lane {
 public:
  static constexpr std::size_t slots = 64;
  static constexpr std::size_t long_slots = 8;
  static constexpr std::size_t most_bytes = 4096;  // of a payload
  static constexpr std::size_t wide_slots = 2;
  static constexpr std::size_t most_wide_bytes = std::size_t{16} << 10;
  // Of the numbers for which `done` is written.
  static constexpr std::uint64_t done_interval = slots / 2;
  static constexpr std::uint64_t long_done_interval = long_slots / 2;

  Lane() = default;
  enum class Of : std::uint8_t { blocking_calls, nonblocking_calls };
  /// Memory as LaneMemory has it. The nonblocking calls have its end, and no wide slots.
  explicit Lane(std::byte* memory, Of calls = Of::blocking_calls)
      : memory_(memory + (calls == Of::blocking_calls ? 0 : end_of_wide)) {}

  [[nodiscard]] std::atomic<std::uint64_t>& sequence(std::uint64_t number) const { return words(head(number))[0]; }
  [[nodiscard]] std::atomic<std::uint64_t>& description(std::uint64_t number) const { return words(head(number))[1]; }
  [[nodiscard]] static constexpr bool is_long(std::size_t bytes) { return bytes > in_head; }
  [[nodiscard]] static constexpr bool is_wide(std::size_t bytes) { return bytes > most_bytes; }
  /// Of the numbers for which `done` is written after a call with such a payload.
  [[nodiscard]] static constexpr std::uint64_t done_interval_of(std::size_t bytes) {
    return is_wide(bytes) ? 1 : is_long(bytes) ? long_done_interval : done_interval;
  }
  [[nodiscard]] std::byte* payload(std::uint64_t number, std::size_t bytes) const {
    if (!is_long(bytes)) return head(number) + 2 * sizeof(std::uint64_t);
    if (is_wide(bytes)) [[unlikely]]
      return memory_ + wide_at + number % wide_slots * most_wide_bytes;
    const std::size_t slot = number % long_slots;
    return bytes <= near_bytes ? memory_ + near_at + slot * near_bytes : memory_ + far_at + slot * most_bytes;
  }
  /// Has the owner's cache take the head for itself, before it is written. Its readers have copies of it.
  void expect_write(std::uint64_t number) const {
#ifdef __x86_64__
    asm volatile("prefetchw %0" : : "m"(*head(number)));
#else
    __builtin_prefetch(head(number), 1);
#endif
  }
  [[nodiscard]] std::atomic<std::uint64_t>& done() const { return words(memory_ + slots * cache_line)[0]; }

 private:
  static constexpr std::size_t in_head = cache_line - 2 * sizeof(std::uint64_t);
  static constexpr std::size_t near_at = (slots + 1) * cache_line;
  static constexpr std::size_t near_bytes = (page_bytes - cache_line) / long_slots / cache_line * cache_line;
  static constexpr std::size_t far_at = 2 * page_bytes;
  static_assert(slots * cache_line == page_bytes && near_at + long_slots * near_bytes <= far_at);
  static constexpr std::size_t wide_at = far_at + long_slots * most_bytes;
  static constexpr std::size_t end_of_wide = wide_at + wide_slots * most_wide_bytes;
  static_assert(end_of_wide + wide_at == LaneMemory::lane_bytes);

  [[nodiscard]] std::byte* head(std::uint64_t number) const { return memory_ + number % slots * cache_line; }
  static std::atomic<std::uint64_t>* words(std::byte* at) { return reinterpret_cast<std::atomic<std::uint64_t>*>(at); }

  std::byte* memory_ = nullptr;
};

}  // namespace sluice
