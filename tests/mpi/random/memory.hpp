// Buffers of one lane: packed next to each other, so that several messages and the program's own data share pages.
//
// Between two buffers lie a few bytes that belong to the program ("cells"); it rewrites and checks them at any time, also
// while a message into the same page is under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "prng.hpp"

namespace random_program {

/// What the bytes of a buffer are before a message arrives.
enum class Background : std::uint8_t { pattern, zero };
std::byte background_byte(Background background, std::size_t position);

struct Slot {
  std::byte* origin = nullptr;
  std::size_t bytes = 0;
  Background background = Background::pattern;

  enum class Owner : std::uint8_t { arena, heap, mapping };
  Owner owner = Owner::arena;
  std::size_t arena = 0;

  [[nodiscard]] bool owned() const { return owner != Owner::arena; }
  [[nodiscard]] std::size_t mapped_bytes() const { return bytes + 1; }  // of a slot that owns its memory; nothing is too little
};

void fill_background(const Slot& slot);

/// A region that hands out neighbouring slots and starts over once none is in use.
class Arena {
 public:
  Arena(std::byte* start, std::size_t bytes) : start_(start), bytes_(bytes) {}

  std::byte* allocate(std::size_t bytes, std::size_t alignment, Random& random);  // nullptr when full
  void release();
  /// False when a cell has changed.
  bool rewrite_cell(Random& random);
  [[nodiscard]] bool cells_intact() const;

 private:
  struct Cell {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::byte value{};
  };
  [[nodiscard]] bool intact(const Cell& cell) const;

  std::byte* start_;
  std::size_t bytes_;
  std::size_t used_ = 0;
  std::size_t slots_ = 0;
  std::vector<Cell> cells_;
};

class Memory {
 public:
  explicit Memory(int lane);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  enum class Placement : std::uint8_t { anywhere, own };
  Slot allocate(std::size_t bytes, std::size_t alignment, Placement placement, Random& random);
  /// False when the program's own data next to a buffer has changed.
  bool release(const Slot& slot);
  bool rewrite_some_cell(Random& random) { return arenas_[random.below(arenas_.size())].rewrite_cell(random); }

 private:
  std::unique_ptr<std::byte[]> heap_;
  std::byte* mapping_ = nullptr;
  std::vector<Arena> arenas_;
};

}  // namespace random_program
