// The bytes of a message: 64-bit words that follow from sender, receiver and trial and from their place, so that no two messages
// and no two places are alike, and every bit can be checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace apps {

class Payload {
 public:
  Payload(int from, int to, int trial);

  void write(std::span<std::byte> buffer) const;
  [[nodiscard]] bool is_in(std::span<const std::byte> buffer) const;

 private:
  std::uint64_t first_;
};

/// Reads a byte of every page, as whoever is given a message uses it: a receive that has returned early is over after this.
void touch(std::span<const std::byte> buffer);

}  // namespace apps
