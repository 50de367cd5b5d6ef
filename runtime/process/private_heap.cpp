#include "runtime/process/private_heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

namespace {

struct alignas(16) Header {
  /// Next free block of the class; of a block with a mapping of its own, the length of that mapping.
  std::atomic<std::uintptr_t> next_or_length;
  std::size_t size_class;
};
static_assert(sizeof(Header) == 16);

constexpr std::size_t quantum = 16;
constexpr std::size_t linear_limit = 128;  // up to here there is a class for every multiple of the quantum
constexpr std::size_t linear_classes = linear_limit / quantum;
constexpr std::size_t steps_per_doubling = 4;
constexpr std::size_t largest_classed = std::size_t{64} << 10;
constexpr std::size_t class_count =
    linear_classes + steps_per_doubling * static_cast<std::size_t>(std::countr_zero(largest_classed / linear_limit));
constexpr std::size_t own_mapping = class_count;  // in place of a class

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
/// A class without free blocks takes this much of a chunk, at least one block.
constexpr std::size_t refill_bytes = std::size_t{16} << 10;

constexpr std::size_t class_for(std::size_t bytes) {
  if (bytes <= linear_limit) return bytes == 0 ? 0 : (bytes - 1) / quantum;
  const std::size_t last = bytes - 1;
  const auto doubling = static_cast<std::size_t>(std::bit_width(last)) - 1;  // 2^doubling <= last < 2^(doubling + 1)
  const std::size_t step = (last >> (doubling - 2)) & (steps_per_doubling - 1);
  return linear_classes + (doubling - 7) * steps_per_doubling + step;
}

constexpr std::size_t class_bytes(std::size_t size_class) {
  if (size_class < linear_classes) return (size_class + 1) * quantum;
  const std::size_t above = size_class - linear_classes;
  const std::size_t base = linear_limit << (above / steps_per_doubling);
  return base + (above % steps_per_doubling + 1) * (base / steps_per_doubling);
}
static_assert(class_for(129) == linear_classes && class_bytes(linear_classes) == 160);
static_assert(class_for(largest_classed) == class_count - 1 && class_bytes(class_count - 1) == largest_classed);

/// Head of a stack of free blocks: block address / 16 (43 bits for user addresses) below a count of pushes.
class Head {
 public:
  Head() = default;
  Header* first() const { return reinterpret_cast<Header*>((word_ & address_mask) * quantum); }
  Head popped_to(std::uintptr_t next) const { return Head((word_ & ~address_mask) | next / quantum); }
  Head pushed(const Header* block) const {
    return Head(((word_ & ~address_mask) + (address_mask + 1)) | reinterpret_cast<std::uintptr_t>(block) / quantum);
  }

 private:
  explicit Head(std::uint64_t word) : word_(word) {}
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << 43) - 1;
  std::uint64_t word_ = 0;
};

/// A line of its own, so that threads that use different classes do not disturb each other.
struct alignas(64) FreeStack {
  std::atomic<Head> head;

  Header* pop() {
    Head old = head.load(std::memory_order_acquire);
    while (Header* block = old.first()) {
      const auto next = block->next_or_length.load(std::memory_order_relaxed);
      if (head.compare_exchange_weak(old, old.popped_to(next), std::memory_order_acquire)) return block;
    }
    return nullptr;
  }

  /// Pushes a chain whose links are set up to `last`.
  void push(Header* first, Header* last) {
    Head old = head.load(std::memory_order_relaxed);
    do {
      last->next_or_length.store(reinterpret_cast<std::uintptr_t>(old.first()), std::memory_order_relaxed);
    } while (!head.compare_exchange_weak(old, old.pushed(first), std::memory_order_release, std::memory_order_relaxed));
  }
};
static_assert(std::atomic<Head>::is_always_lock_free);

// Constant-initialized and never destroyed: usable before the first constructor and after the last destructor.
constinit std::array<FreeStack, class_count> free_stacks{};
/// Where the next refill begins; chunks are aligned to their size, and the border of one means that it is used up.
constinit std::atomic<std::uintptr_t> chunk_cursor{0};

void* map_pages(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// A mapping of chunk_bytes at a multiple of chunk_bytes; 0 when the system has no memory.
std::uintptr_t map_chunk() {
  void* const memory = map_pages(2 * chunk_bytes);
  if (!memory) return 0;
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  const auto chunk = (start + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  if (chunk > start) ::munmap(memory, chunk - start);
  if (const auto rest = start + chunk_bytes - chunk) ::munmap(reinterpret_cast<void*>(chunk + chunk_bytes), rest);
  return chunk;
}

/// Takes `bytes` out of the current chunk, or out of a new one, whose predecessor's rest is given up.
std::uintptr_t carve(std::size_t bytes) {
  auto cursor = chunk_cursor.load(std::memory_order_relaxed);
  while (true) {
    const auto room = (chunk_bytes - cursor % chunk_bytes) % chunk_bytes;
    if (room >= bytes) {
      if (chunk_cursor.compare_exchange_weak(cursor, cursor + bytes, std::memory_order_relaxed)) return cursor;
      continue;
    }
    const auto chunk = map_chunk();
    if (chunk == 0) return 0;
    if (chunk_cursor.compare_exchange_strong(cursor, chunk + bytes, std::memory_order_relaxed)) return chunk;
    ::munmap(reinterpret_cast<void*>(chunk), chunk_bytes);  // another thread was faster; its chunk has room
  }
}

Header* refill(std::size_t size_class) {
  const std::size_t stride = sizeof(Header) + class_bytes(size_class);
  const std::size_t blocks = std::max<std::size_t>(1, refill_bytes / stride);
  const auto start = carve(blocks * stride);
  if (start == 0) return nullptr;
  const auto block_at = [&](std::size_t index) { return reinterpret_cast<Header*>(start + index * stride); };
  for (std::size_t index = 0; index < blocks; ++index) {
    block_at(index)->next_or_length.store(reinterpret_cast<std::uintptr_t>(block_at(index + 1)), std::memory_order_relaxed);
    block_at(index)->size_class = size_class;
  }
  if (blocks > 1) free_stacks[size_class].push(block_at(1), block_at(blocks - 1));
  return block_at(0);
}

Header* map_own(std::size_t bytes) {
  std::size_t length = 0;
  if (__builtin_add_overflow(bytes, sizeof(Header) + page_bytes - 1, &length)) return nullptr;
  length = length / page_bytes * page_bytes;
  auto* const block = static_cast<Header*>(map_pages(length));
  if (!block) return nullptr;
  block->next_or_length.store(length, std::memory_order_relaxed);
  block->size_class = own_mapping;
  return block;
}

}  // namespace

void* private_allocate(std::size_t bytes) {
  Header* block = nullptr;
  if (bytes > largest_classed) {
    block = map_own(bytes);
  } else {
    const std::size_t size_class = class_for(bytes);
    block = free_stacks[size_class].pop();
    if (!block) block = refill(size_class);
  }
  return block ? block + 1 : nullptr;
}

void private_free(void* memory) {
  if (!memory) return;
  Header* const block = static_cast<Header*>(memory) - 1;
  if (block->size_class == own_mapping) {
    ::munmap(block, block->next_or_length.load(std::memory_order_relaxed));
  } else {
    free_stacks[block->size_class].push(block, block);
  }
}

}  // namespace sluice
