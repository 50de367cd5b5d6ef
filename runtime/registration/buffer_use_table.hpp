// Which small send buffers are used often (FB, sections 3.3.3 and 3.4): how many messages began at each address.
//
// A hash table with chains. A buffer that is there is counted whatever happens. A new one is entered unless the table would not
// pay: once chains form, and fewer than a fifth of its buffers are frequent, it stops growing (section 3.4), so that a program
// which sends from ever new addresses is not made to search ever longer chains.
//
// Buffers have numbers, from 1 on, for as long as the table lives.
//
// Threading: engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/alias/watched_memory.hpp"
#include "runtime/base/posix.hpp"

namespace sluice {

class BufferUseTable {
 public:
  using Number = std::uint32_t;

  static constexpr std::size_t buckets = std::size_t{1} << 20;
  /// Of 100 buffers in the table, at least so many are frequent, or it stops growing.
  static constexpr std::size_t min_share = 20;

  struct Entry {
    std::uintptr_t start = 0;
    std::uint32_t uses = 0;
    Number next = 0;  // of its chain, as in a bucket
    bool frequent = false;
    watched_memory::Watch watch;  // of its frequent use
  };

  /// Counts one more use of the buffer. 0 when it is not in the table and does not get into it.
  Number use(std::uintptr_t start);
  /// Valid until the next use.
  [[nodiscard]] Entry& entry(Number number) { return entries_[number - 1]; }
  void mark_frequent(Number number);
  /// It is counted anew, and is frequent no longer.
  void forget(Number number);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t frequent() const { return frequent_; }
  [[nodiscard]] bool grows() const { return !has_chains_ || frequent_ * 100 >= entries_.size() * min_share; }

 private:
  [[nodiscard]] Number* bucket(std::uintptr_t start);

  Mapping heads_;  // a word for each bucket: 0, or the number of a buffer. Pages come as they are used
  std::vector<Entry> entries_;
  std::size_t frequent_ = 0;
  bool has_chains_ = false;
};

}  // namespace sluice
