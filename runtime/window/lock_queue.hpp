// The lock of one member of a window on several nodes, kept by that member: for many readers or one writer, in the order in which
// they ask. What lock_word.hpp is where members share memory.
//
// A reader waits behind a writer that has asked before, as readers that come all the time must not keep a writer out for ever.
// But a holder may be waiting for that very reader, so one that insists goes first.
//
// It knows no message and waits for nobody. Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "runtime/window/lock_word.hpp"

namespace sluice {

class LockQueue {
 public:
  using Use = LockWord::Use;

  explicit LockQueue(std::size_t members) : places_(members) {}

  /// True: the member has it. Otherwise it waits, and may ask again.
  [[nodiscard]] bool lock(std::size_t member, Use use);
  /// By a holder. Those that have it now, after they have waited.
  [[nodiscard]] std::vector<std::size_t> unlock(std::size_t member);
  /// True: the member had to wait, and has it now.
  [[nodiscard]] bool insist(std::size_t member);

 private:
  enum class Place : unsigned char { none, waits, holds };
  struct Waiting {
    std::size_t member;
    Use use;
  };

  [[nodiscard]] bool is_free_for(Use use) const { return use == Use::shared ? !has_writer_ : holders_ == 0; }
  void give(std::size_t member, Use use);

  std::vector<Place> places_;  // by member
  std::deque<Waiting> waiting_;
  std::size_t holders_ = 0;
  bool has_writer_ = false;
};

}  // namespace sluice
