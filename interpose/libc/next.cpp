#include "interpose/libc/next.hpp"

#include <dlfcn.h>

#include <cerrno>

namespace sluice {
namespace {

constexpr const char* names[] = {
#define SLUICE_LIBC_CALL(name, offset) #name,
#include "libc_calls.inc"
#undef SLUICE_LIBC_CALL
};

/// dlsym itself is one of them, so it is found by another way, under the names of its versions: since 2.34 it is in the C
/// library.
void* next_dlsym() {
  void* const found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  return found ? found : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
}

/// In place of a function that this C library does not have.
long absent() {
  errno = ENOSYS;
  return -1;
}

// Not at the first call: that may come from an allocator which holds its lock, while a thread that holds the dynamic linker's
// waits for it.
[[gnu::constructor(101)]] void look_up_all() {
  for (std::size_t i = 0; i < static_cast<std::size_t>(LibcCall::count); ++i) detail::look_up(static_cast<LibcCall>(i));
}

}  // namespace

constinit std::atomic<void*> detail::libc_next[static_cast<std::size_t>(LibcCall::count)]{};

void* detail::look_up(LibcCall call) {
  const auto index = static_cast<std::size_t>(call);
  void* function = call == LibcCall::dlsym ? next_dlsym() : NEXT(dlsym)(RTLD_NEXT, names[index]);
  if (!function) function = reinterpret_cast<void*>(absent);
  libc_next[index].store(function, std::memory_order_relaxed);
  return function;
}

}  // namespace sluice

// What Sluice calls itself (libc_own.txt). The constructor above is the first of Sluice's code to run.
// clang-format off
#define SLUICE_LIBC_CALL(name, offset)                                                             \
  asm(".text\n .globl __wrap_" #name "\n .hidden __wrap_" #name "\n .type __wrap_" #name ", @function\n" \
      "__wrap_" #name ": jmp *sluice_libc_next + " #offset "(%rip)\n .size __wrap_" #name ", . - __wrap_" #name);
// clang-format on
#include "libc_calls.inc"
#undef SLUICE_LIBC_CALL
