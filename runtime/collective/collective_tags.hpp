// Tags of the messages of a collective call: the number of the call in its communicator, and a fingerprint of what it is. Both
// are alike on all ranks that are in the same call. Several messages between two ranks may differ by a part.
#pragma once

#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

class CollectiveTags {
 public:
  constexpr CollectiveTags(std::uint32_t number, std::uint16_t fingerprint)
      : number_((number & most_numbers) << fingerprint_bits), fingerprint_(fingerprint) {}

  [[nodiscard]] constexpr Tag of(std::uint16_t part) const {
    return Tag{static_cast<std::int32_t>(number_ | ((fingerprint_ + std::uint32_t{part}) & most_fingerprints))};
  }
  [[nodiscard]] constexpr bool has_number_of(Tag tag) const { return number_of(tag) == number_; }
  [[nodiscard]] static constexpr bool have_same_number(Tag one, Tag other) { return number_of(one) == number_of(other); }

 private:
  static constexpr unsigned fingerprint_bits = 15;
  static constexpr std::uint32_t most_fingerprints = (1U << fingerprint_bits) - 1;
  static constexpr std::uint32_t most_numbers = (1U << (31 - fingerprint_bits)) - 1;
  static constexpr std::uint32_t number_of(Tag tag) { return static_cast<std::uint32_t>(tag) & ~most_fingerprints; }

  std::uint32_t number_;
  std::uint32_t fingerprint_;
};

}  // namespace sluice
