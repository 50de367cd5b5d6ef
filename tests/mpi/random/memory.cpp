#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace random_program {

namespace {

constexpr std::size_t max_lanes = 4;
constexpr std::size_t heap_bytes = std::size_t{12} << 20;
constexpr std::size_t mapping_bytes = std::size_t{20} << 20;
constexpr std::size_t static_bytes = std::size_t{3} << 20;

// Every lane has whole pages: a thread that touches a page in which another thread's receive is under way may wait for that
// message, and two processes that do so crosswise would wait for each other.
alignas(4096) std::array<std::array<std::byte, static_bytes>, max_lanes> static_buffers;

}  // namespace

std::byte background_byte(Background background, std::size_t position) {
  return background == Background::zero ? std::byte{0} : static_cast<std::byte>(0xc0 + (position * 7) % 61);
}

void fill_background(const Slot& slot) {
  for (std::size_t i = 0; i < slot.bytes; ++i) slot.origin[i] = background_byte(slot.background, i);
}

std::byte* Arena::allocate(std::size_t bytes, std::size_t alignment, Random& random) {
  const std::size_t start = (used_ + alignment - 1) / alignment * alignment;
  const Cell cell{start + bytes, random.between(0, 40), static_cast<std::byte>(random.below(256))};
  if (cell.offset + cell.bytes > bytes_) return nullptr;
  used_ = cell.offset + cell.bytes;
  ++slots_;
  if (cell.bytes > 0) {
    std::memset(start_ + cell.offset, static_cast<int>(cell.value), cell.bytes);
    cells_.push_back(cell);
  }
  return start_ + start;
}

void Arena::release() {
  if (--slots_ > 0) return;
  used_ = 0;
  cells_.clear();
}

bool Arena::intact(const Cell& cell) const {
  return std::all_of(start_ + cell.offset, start_ + cell.offset + cell.bytes, [&](std::byte b) { return b == cell.value; });
}

bool Arena::cells_intact() const {
  return std::ranges::all_of(cells_, [this](const Cell& cell) { return intact(cell); });
}

bool Arena::rewrite_cell(Random& random) {
  if (cells_.empty()) return true;
  Cell& cell = cells_[random.below(cells_.size())];
  if (!intact(cell)) return false;
  cell.value = static_cast<std::byte>(random.below(256));
  std::memset(start_ + cell.offset, static_cast<int>(cell.value), cell.bytes);
  return true;
}

Memory::Memory(int lane) : heap_(new std::byte[heap_bytes]) {
  void* mapped = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) std::abort();
  mapping_ = static_cast<std::byte*>(mapped);
  arenas_.emplace_back(heap_.get(), heap_bytes);
  arenas_.emplace_back(mapping_, mapping_bytes);
  arenas_.emplace_back(static_buffers[static_cast<std::size_t>(lane)].data(), static_bytes);
}

Memory::~Memory() { munmap(mapping_, mapping_bytes); }

Slot Memory::allocate(std::size_t bytes, std::size_t alignment, Placement placement, Random& random) {
  Slot slot;
  slot.bytes = bytes;
  if (placement == Placement::anywhere && !random.chance(20)) {
    slot.arena = random.below(arenas_.size());
    slot.origin = arenas_[slot.arena].allocate(bytes, alignment, random);
  }
  if (slot.origin == nullptr) {
    slot.owner = random.chance(50) ? Slot::Owner::heap : Slot::Owner::mapping;
    // Left untouched every other time: then the message is the first to write to the pages.
    if (slot.owner == Slot::Owner::mapping && random.chance(50)) slot.background = Background::zero;
    void* memory = slot.owner == Slot::Owner::heap
                       ? std::malloc(slot.mapped_bytes())
                       : mmap(nullptr, slot.mapped_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == nullptr || memory == MAP_FAILED) std::abort();
    slot.origin = static_cast<std::byte*>(memory);
  }
  if (slot.background == Background::pattern) fill_background(slot);
  return slot;
}

bool Memory::release(const Slot& slot) {
  switch (slot.owner) {
    case Slot::Owner::heap:
      std::free(slot.origin);
      return true;
    case Slot::Owner::mapping:
      munmap(slot.origin, slot.mapped_bytes());
      return true;
    case Slot::Owner::arena:
      break;
  }
  const bool intact = arenas_[slot.arena].cells_intact();
  arenas_[slot.arena].release();
  return intact;
}

}  // namespace random_program
