// C++ allocation inside the library goes to the private heap: the helper thread and the fault handler must never enter the
// application's malloc, whose lock may be held by a thread that is stopped on a page that only they can complete. The
// version script keeps these operators inside the library.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/process/private_heap.hpp"

namespace {

void* allocate(std::size_t bytes) {
  void* memory = sluice::private_allocate(bytes);
  if (memory) return memory;
  std::fputs("sluice: the system has no memory left\n", stderr);
  std::abort();
}

/// In front of what is given out lies the address of its block.
void* allocate_aligned(std::size_t bytes, std::align_val_t alignment) {
  const auto mask = static_cast<std::uintptr_t>(alignment) - 1;
  void* const block = allocate(sizeof(void*) + bytes + mask);
  std::byte* const first = static_cast<std::byte*>(block) + sizeof block;
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  std::byte* const aligned = first + (((address + mask) & ~mask) - address);
  std::memcpy(aligned - sizeof block, &block, sizeof block);
  return aligned;
}

void free_aligned(void* memory) {
  if (!memory) return;
  void* block = nullptr;
  std::memcpy(&block, static_cast<std::byte*>(memory) - sizeof block, sizeof block);
  sluice::private_free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return sluice::private_allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return sluice::private_allocate(bytes); }
void operator delete(void* memory) noexcept { sluice::private_free(memory); }
void operator delete[](void* memory) noexcept { sluice::private_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { sluice::private_free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { sluice::private_free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { sluice::private_free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { sluice::private_free(memory); }

void* operator new(std::size_t bytes, std::align_val_t alignment) { return allocate_aligned(bytes, alignment); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return allocate_aligned(bytes, alignment); }
void operator delete(void* memory, std::align_val_t) noexcept { free_aligned(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { free_aligned(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { free_aligned(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { free_aligned(memory); }
