// C++ allocation inside the library goes to the private heap: the helper thread and the fault handler must never enter the
// application's malloc, whose lock may be held by a thread that is stopped on a page that only they can complete. The
// version script keeps these operators inside the library.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "runtime/private_heap.hpp"

namespace {

void* allocate(std::size_t bytes) {
  void* memory = sluice::private_allocate(bytes);
  if (memory) return memory;
  std::fputs("sluice: the system has no memory left\n", stderr);
  std::abort();
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
