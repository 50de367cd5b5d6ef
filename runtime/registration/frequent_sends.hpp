// Small messages straight from the program's memory (FB): a send buffer that is used often is registered, and the adapter gathers
// header and data; the copy into a send slot is saved. Which buffers, and from which use on.
//
// The rule (FB, section 3.3.1). With R the cost of registering a message's memory, C the copy that is saved and V what a use of
// registered memory costs instead, a buffer pays from n > R / (C - V) uses on. It is registered after a share of these
// (SLUICE_FREQUENT_SHARE, a quarter in the paper), in the hope of the others. R, C and V are measured when the first buffer comes
// back. Where V is more than the copy of the longest such message, nothing is counted any more.
//
// Here R is an alias block and its registration, since only a block stays registered (docs/registration.md), and V is the
// question whether the block still lies at the program's address, besides the look-up.
//
// Threading: engine lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/registration/buffer_use_table.hpp"

namespace sluice {

/// In ns.
struct FrequentTerms {
  double copy_per_byte = 0;      // C
  double use = 0;                // V
  double register_per_page = 0;  // R
};

class FrequentSends {
 public:
  static constexpr std::size_t never = ~std::size_t{0};
  /// Shorter messages go along with their request (inline): the adapter fetches nothing.
  static constexpr std::size_t least_gathered_bytes = 257;

  /// `share`: percent. With 0, a buffer counts as frequent with its second use, and nothing is measured.
  explicit FrequentSends(unsigned share) : share_(share), measured_(share == 0) {}

  /// Counts a message from there. True: the buffer is used often, its memory is to be registered. `measure` is asked for the
  /// terms when they are first needed.
  template <class Measure>
  bool use(ByteRange message, Measure&& measure) {
    BufferUseTable::Entry* const entry = table_.use(message.begin);
    if (!entry || entry->uses < min_uses) return false;
    if (!measured_) set_terms(measure());
    if (entry->uses < uses_needed(message.size())) return false;
    table_.mark_frequent(*entry);
    return true;
  }
  /// The memory cannot be registered: it is counted anew.
  void forget(ByteRange message);

  /// How many uses make a message of so many bytes worth it; the largest number when none does.
  [[nodiscard]] std::uint32_t uses_needed(std::size_t bytes) const;
  /// Shorter messages than this need not be counted.
  [[nodiscard]] std::size_t least_bytes() const { return min_bytes_; }
  void set_terms(const FrequentTerms& terms);

 private:
  static constexpr std::uint32_t min_uses = 2;

  unsigned share_;
  bool measured_;
  FrequentTerms terms_;
  std::size_t min_bytes_ = least_gathered_bytes;
  BufferUseTable table_;
};

}  // namespace sluice
