// A payload with parts whose lengths only pairs of ranks know: a table of lengths, and behind it the parts for which there is
// room.
//
//   word[entries]   packed bytes of each part, or `left_out`: it goes by a message
//   parts           those that are in, one behind the other
//
// The writer decides what is in, and each reader sees that. Plain memory of the caller's, of `Room::used` bytes, at most `bytes`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/collective/lane.hpp"

namespace sluice {

class PartTable {
 public:
  static constexpr std::size_t bytes = Lane::most_bytes;
  static constexpr std::uint32_t left_out = ~std::uint32_t{0};

  /// Which parts are in, asked in order.
  class Room {
   public:
    explicit Room(std::size_t entries) : used_(entries * sizeof(std::uint32_t)) {}

    /// Whether the next part is in.
    bool add(std::size_t part_bytes) {
      if (part_bytes > bytes - used_) return false;
      used_ += part_bytes;
      return true;
    }
    /// Table and parts.
    [[nodiscard]] std::size_t used() const { return used_; }

   private:
    std::size_t used_;
  };

  /// Writes a table. Its entries are made in order, each once.
  class Writer {
   public:
    Writer(std::byte* payload, std::size_t entries) : payload_(payload), room_(entries) {}

    /// Where the next part is to be written. nullptr: there is no room, and it is left out.
    std::byte* add(std::size_t part_bytes) {
      std::byte* const place = payload_ + room_.used();
      const bool fits = room_.add(part_bytes);
      const auto word = fits ? static_cast<std::uint32_t>(part_bytes) : left_out;
      std::memcpy(payload_ + entry_++ * sizeof word, &word, sizeof word);
      return fits ? place : nullptr;
    }

   private:
    std::byte* payload_;
    Room room_;
    std::size_t entry_ = 0;
  };

  PartTable(const std::byte* payload, std::size_t entries) : payload_(payload), entries_(entries) {}

  /// `left_out`, or the packed bytes of a part.
  [[nodiscard]] std::uint32_t length(std::size_t entry) const {
    std::uint32_t word = 0;
    std::memcpy(&word, payload_ + entry * sizeof word, sizeof word);
    return word;
  }
  /// Of one that is in.
  [[nodiscard]] const std::byte* part(std::size_t entry) const {
    const std::byte* place = payload_ + entries_ * sizeof(std::uint32_t);
    for (std::size_t before = 0; before < entry; ++before) place += length(before) == left_out ? 0 : length(before);
    return place;
  }

 private:
  const std::byte* payload_;
  std::size_t entries_;
};

}  // namespace sluice
