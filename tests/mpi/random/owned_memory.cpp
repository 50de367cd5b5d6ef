#include "owned_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace random_program {

namespace {

constexpr std::size_t page = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

/// The same address unless another thread has taken it meanwhile.
void* map_near(void* wanted, std::size_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* mapped = mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
  return mapped != MAP_FAILED ? mapped : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

void require(bool succeeded) {
  if (!succeeded) std::abort();
}

}  // namespace

Slot replace(const Slot& slot) {
  Slot taken = slot;
  taken.background = Background::pattern;
  void* memory = nullptr;
  if (slot.owner == Slot::Owner::heap) {
    std::free(slot.origin);
    memory = std::malloc(slot.mapped_bytes());
    require(memory != nullptr);
  } else {
    require(munmap(slot.origin, slot.mapped_bytes()) == 0);
    memory = map_near(slot.origin, slot.mapped_bytes());
    require(memory != MAP_FAILED);
  }
  taken.origin = static_cast<std::byte*>(memory);
  fill_background(taken);
  return taken;
}

void resize(Slot& slot, std::size_t bytes, bool unmap_the_end) {
  Slot resized = slot;
  resized.bytes = bytes;
  void* memory = slot.origin;
  if (slot.owner == Slot::Owner::heap) {
    memory = std::realloc(slot.origin, resized.mapped_bytes());
    require(memory != nullptr);
  } else if (unmap_the_end && bytes < slot.bytes) {
    const std::size_t kept = whole_pages(resized.mapped_bytes());
    const std::size_t rest = whole_pages(slot.mapped_bytes()) - kept;
    if (rest > 0) require(munmap(slot.origin + kept, rest) == 0);
  } else {
    memory = mremap(slot.origin, slot.mapped_bytes(), resized.mapped_bytes(), MREMAP_MAYMOVE);
    require(memory != MAP_FAILED);
  }
  resized.origin = static_cast<std::byte*>(memory);
  slot = resized;
}

void drop_contents(const Slot& slot, bool map_over) {
  if (!map_over) return require(madvise(slot.origin, slot.mapped_bytes(), MADV_DONTNEED) == 0);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  require(mmap(slot.origin, slot.mapped_bytes(), PROT_READ | PROT_WRITE, flags, -1, 0) == slot.origin);
}

void set_writable(const Slot& slot, bool writable) {
  require(mprotect(slot.origin, slot.mapped_bytes(), writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0);
}

}  // namespace random_program
