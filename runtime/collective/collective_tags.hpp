// Tags of the messages of a collective call: the number of the call in its communicator, and a fingerprint of what it is. Both
// are alike on all ranks that are in the same call. Several messages between two ranks may differ by a part.
//
// Calls are numbered as they begin. A persistent one has a number of its own, as it was made: MPI lets each rank start several
// of them in any order (MPI_Startall). Between two starts of one, messages keep their order.
#pragma once

#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

class CollectiveTags {
 public:
  /// How many persistent calls a communicator may have made.
  static constexpr std::uint32_t persistent_numbers = 1U << 15;

  constexpr CollectiveTags(std::uint32_t number, std::uint16_t fingerprint)
      : number_((number & (persistent_numbers - 1)) << fingerprint_bits), fingerprint_(fingerprint) {}
  static constexpr CollectiveTags of_persistent(std::uint32_t number, std::uint16_t fingerprint) {
    CollectiveTags tags(number, fingerprint);
    tags.number_ |= persistent_numbers << fingerprint_bits;
    return tags;
  }

  [[nodiscard]] constexpr Tag of(std::uint16_t part) const {
    return Tag{static_cast<std::int32_t>(number_ | ((fingerprint_ + std::uint32_t{part}) & most_fingerprints))};
  }
  [[nodiscard]] constexpr bool has_number_of(Tag tag) const { return number_of(tag) == number_; }
  [[nodiscard]] static constexpr bool have_same_number(Tag one, Tag other) { return number_of(one) == number_of(other); }

 private:
  static constexpr unsigned fingerprint_bits = 15;
  static constexpr std::uint32_t most_fingerprints = (1U << fingerprint_bits) - 1;
  static constexpr std::uint32_t number_of(Tag tag) { return static_cast<std::uint32_t>(tag) & ~most_fingerprints; }

  std::uint32_t number_;
  std::uint32_t fingerprint_;
};

}  // namespace sluice
