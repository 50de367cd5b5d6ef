// Small messages straight from the program's memory (FB): a send buffer that is used often is registered, and the adapter gathers
// header and data; the copy into a send slot is saved. Which buffers, and from which use on.
//
// The rule (FB, section 3.3.1). With R the cost of registering a message's memory, C the copy that is saved and V what a use of
// registered memory costs instead, a buffer pays from n > R / (C - V) uses on. It is registered after a share of these
// (SLUICE_FREQUENT_SHARE, a quarter in the paper), in the hope of the others. Where V is more than the copy of the longest such
// message, nothing is counted any more.
//
// Here R is an alias block and its registration, since only a block stays registered (docs/registration.md). V has two parts. One
// is to find that the block still lies at the program's address, and its registration. The other is a send that has a request,
// against one that is over when its call returns. For a call that waits for its send (MPI_Send) V has the wait for the adapter.
//
// First terms are measured when the first buffer comes back, in memory of Sluice's own. What really comes corrects them: C by the
// first copies, V by the first sends that were gathered, R by the first buffers that became blocks. Of calls that wait the first
// few are gathered to learn what they wait.
//
// Threading: engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/base/types.hpp"
#include "runtime/registration/buffer_use_table.hpp"
#include "runtime/registration/first_samples.hpp"

namespace sluice {

/// In ns.
struct FrequentTerms {
  double copy_per_byte = 0;      // C
  double use = 0;                // V
  double register_per_page = 0;  // R

  bool operator==(const FrequentTerms&) const = default;
};

class FrequentSends {
 public:
  static constexpr std::size_t never = ~std::size_t{0};
  /// Shorter messages go along with their request (inline): the adapter fetches nothing.
  static constexpr std::size_t min_sge_bytes = 257;
  using Number = BufferUseTable::Number;

  enum class Call : std::uint8_t { goes_on, waits };

  /// `share`: percent. With 0, a buffer counts as frequent with its second use, and nothing is measured.
  explicit FrequentSends(unsigned share) : share_(share), measured_(share == 0) {}

  /// Counts a message from there. Not 0: the buffer is used often, its memory is to be registered. `measure` is asked for the
  /// terms (an optional of them) when they are first needed. Where that is refused just then, it is asked again later.
  template <class Measure>
  Number use(ByteRange message, Call call, Measure&& measure) {
    const Number number = table_.use(message.begin);
    if (number == 0 || table_.entry(number).uses < min_uses) return 0;
    if (!measured_) {
      if (!is_time_to_measure()) return 0;
      const std::optional<FrequentTerms> terms = measure();
      if (!terms) return 0;
      set_terms(*terms);
    }
    if (table_.entry(number).uses < uses_needed(message.size(), call)) return 0;
    table_.mark_frequent(number);
    return number;
  }
  /// The memory cannot be registered, or has ended: it is counted anew.
  void forget(Number number) { table_.forget(number); }
  [[nodiscard]] BufferUseTable& table() { return table_; }

  /// How many uses make a message of so many bytes worth it; the largest number when none does.
  [[nodiscard]] std::uint32_t uses_needed(std::size_t bytes, Call call = Call::goes_on) const;
  /// Shorter messages than this need not be counted.
  [[nodiscard]] std::size_t min_bytes(Call call = Call::goes_on) const { return min_bytes_[static_cast<std::size_t>(call)]; }
  /// As far as they are known by now.
  [[nodiscard]] FrequentTerms terms(Call call = Call::goes_on) const {
    return {terms_.copy_per_byte, use_of(call), terms_.register_per_page};
  }
  [[nodiscard]] bool is_measured() const { return measured_; }
  void set_terms(const FrequentTerms& terms);

  // --- what really comes, in ns
  [[nodiscard]] bool wants_copies() const { return !copies_.are_enough(); }
  [[nodiscard]] bool wants_gathered(Call call) const { return !(call == Call::waits ? waited_ : gathered_).are_enough(); }
  /// A counted message was copied: the copy, and the whole call.
  void note_copied(std::size_t bytes, double copy, double whole);
  /// The call that gathered one.
  void note_gathered(Call call, double whole);
  void note_registered(std::size_t bytes, double took);

 private:
  static constexpr std::uint32_t min_uses = 2;
  /// Between two attempts to measure: an attempt costs some 100 µs, so they become rarer where all are refused.
  static constexpr std::uint32_t max_uses_to_wait = 1U << 20;

  [[nodiscard]] bool is_time_to_measure();
  [[nodiscard]] double use_of(Call call) const;
  void correct_terms();

  unsigned share_;
  bool measured_;
  std::uint32_t uses_to_wait_ = 1;
  std::uint32_t uses_since_refusal_ = 0;
  FrequentTerms terms_;
  double wait_use_ = 0;  // V of calls that wait
  std::size_t min_bytes_[2] = {min_sge_bytes, min_sge_bytes};
  FirstSamples copies_;         // per byte
  FirstSamples rest_;           // of the same calls, what was no copy
  FirstSamples gathered_;       // whole calls
  FirstSamples waited_;         // likewise
  FirstSamples registrations_;  // per page
  BufferUseTable table_;
};

}  // namespace sluice
