// A payload with parts for neighbours: a table that says for whom each is, and the parts for which there is room.
//
//   edges      number of entries behind it, or `no_table`: there are too many, and all parts go by messages
//   entry[]    rank and part of the edge, as the receiver has them in its sources (neighbours.hpp); where the part begins behind
//              the table; its packed bytes, or `left_out`: it goes by a message
//   parts      those that are in. Several entries may name one
//
// The writer decides what is in, and each reader sees that. Plain memory of the caller's, of `used` bytes, at most `bytes`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "runtime/collective/lane.hpp"
#include "runtime/collective/neighbours.hpp"

namespace sluice {

class EdgeTable {
 public:
  static constexpr std::size_t bytes = Lane::most_wide_bytes;
  /// A longer part goes by a message of its own, which takes less time.
  static constexpr std::size_t most_part_bytes = Lane::most_bytes - 1;

 private:
  static constexpr std::uint64_t no_table = ~std::uint64_t{0};
  static constexpr std::uint16_t left_out = 0xFFFF;
  struct Entry {
    std::uint16_t rank = 0;
    std::uint16_t part = 0;
    std::uint16_t begin = 0;
    std::uint16_t length = left_out;
  };
  static_assert(bytes < left_out);
  static constexpr std::size_t most_entries = Lane::most_bytes / 2 / sizeof(Entry);
  static constexpr std::size_t table_bytes(std::size_t entries) { return sizeof(std::uint64_t) + entries * sizeof(Entry); }

 public:
  /// Which parts are in, asked in order, and where.
  class Room {
   public:
    explicit Room(std::size_t entries)
        : has_table_(entries <= most_entries), used_(has_table_ ? table_bytes(entries) : sizeof(std::uint64_t)) {}

    /// Where the next part begins in the payload; nothing where it is left out.
    std::optional<std::size_t> add(std::size_t part_bytes) {
      if (!has_table_ || part_bytes > most_part_bytes || part_bytes > bytes - used_) return std::nullopt;
      const std::size_t begin = used_;
      used_ += part_bytes;
      return begin;
    }
    [[nodiscard]] bool has_table() const { return has_table_; }
    /// Table and parts.
    [[nodiscard]] std::size_t used() const { return used_; }

   private:
    bool has_table_;
    std::size_t used_;
  };

  /// Entries in order, each once. `begin`: as Room has it.
  class Writer {
   public:
    Writer(std::byte* payload, const Room& room, std::size_t entries) : next_(payload + sizeof(std::uint64_t)) {
      const std::uint64_t edges = room.has_table() ? entries : no_table;
      std::memcpy(payload, &edges, sizeof edges);
    }
    void add(const Edge& edge, std::optional<std::size_t> begin, std::size_t part_bytes) {
      Entry entry{.rank = static_cast<std::uint16_t>(edge.rank), .part = edge.part};
      if (begin) {
        entry.begin = static_cast<std::uint16_t>(*begin);
        entry.length = static_cast<std::uint16_t>(part_bytes);
      }
      std::memcpy(next_, &entry, sizeof entry);
      next_ += sizeof entry;
    }

   private:
    std::byte* next_;
  };

  explicit EdgeTable(const std::byte* payload) : payload_(payload) {}

  struct Part {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  /// What is for that edge of a reader's; nothing where it is not in.
  [[nodiscard]] std::optional<Part> find(Rank reader, std::uint16_t part) const {
    std::uint64_t edges = 0;
    std::memcpy(&edges, payload_, sizeof edges);
    for (std::uint64_t i = 0; edges != no_table && i < edges; ++i) {
      Entry entry;
      std::memcpy(&entry, payload_ + table_bytes(i), sizeof entry);
      if (entry.rank != static_cast<std::uint16_t>(reader) || entry.part != part) continue;
      if (entry.length == left_out) break;
      return Part{payload_ + entry.begin, entry.length};
    }
    return std::nullopt;
  }

 private:
  const std::byte* payload_;
};

}  // namespace sluice
