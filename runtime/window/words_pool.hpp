// Words of windows, kept for the next window of the same members.
//
// Memory that all members share costs a millisecond, and the words of one window need little of it. So the first window of some
// members makes room for 64, and those after it take what is free. Before that each member says what it can give (WordsOffer).
// All decide alike, by what all have said.
//
// What a member offers is set aside until it knows the choice. So windows that two threads make at once get different slots.
//
// A rank zeroes its own words when it gives a slot back. That is after MPI_Win_free, which nobody leaves before all have entered
// it. Others take the slot when all members have offered it again.
//
// Threading: any. A mutex of its own, under which nothing else is locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/window/control.hpp"
#include "runtime/window/member.hpp"

namespace sluice {

/// What one member says.
struct WordsOffer {
  std::uint64_t pool = 0;  // the name of what it has for these members; 0: nothing
  std::uint64_t free = 0;  // a bit for each slot
  std::uint64_t name = 0;  // for a pool that could be made; 0: no more of them
};

struct WordsChoice {
  enum class Kind { slot, new_pool, alone };
  Kind kind = Kind::alone;
  std::size_t slot = 0;
  std::uint64_t pool = 0;
};

/// The same for all who have the same offers.
WordsChoice choose_words(std::span<const WordsOffer> offers);

class WordsPools {
 public:
  static constexpr std::size_t slots = 64;
  static constexpr std::size_t max_pools = 16;

  /// Of one slot: of all slots it is this many times `slots`. A multiple of a cache line.
  [[nodiscard]] static constexpr std::size_t slot_bytes(std::size_t members) {
    return (WindowControl::bytes(members) + cache_line - 1) / cache_line * cache_line;
  }

  /// `process`: differs between all processes of the job, and is not 0.
  WordsOffer offer(std::span<const WindowMember> members, std::uint32_t process);
  /// A pool that all members have made: `memories` by rank, of all slots, zeros. All of it is set aside as by an offer that
  /// `pool` and `free` of the answer describe.
  WordsOffer add(std::uint64_t name, std::span<const WindowMember> members, std::size_t self, std::vector<std::byte*> memories);
  /// The words of all members; other slots of the offer are free again.
  std::vector<WindowControl> take(const WordsOffer& offer, std::size_t slot);
  void withdraw(const WordsOffer& offer);
  /// Zeroes this rank's words.
  void give_back(std::uint64_t pool, std::size_t slot);

 private:
  struct Pool {
    std::uint64_t name = 0;
    std::vector<Peer> members;
    std::size_t self = 0;
    std::vector<std::byte*> memories;
    std::uint64_t free = 0;
  };

  Pool& named(std::uint64_t name);

  std::mutex mutex_;  // protects what follows
  std::vector<Pool> pools_;
  std::uint32_t names_ = 0;
};

}  // namespace sluice
