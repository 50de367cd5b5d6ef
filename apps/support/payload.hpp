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

/// What whoever is given a message reads of it: every cache line, or only a byte of every page. A receive that has returned early
/// is over after either; what it costs to get the data from where the sender left them shows in the first only.
enum class Look : std::uint8_t { all, pages };
void look_at(std::span<const std::byte> buffer, Look look);

}  // namespace apps
