// NEXT(name): the next definition of a function of the C library in the order of libraries, typed like the function and looked
// up once.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace sluice {

template <typename Function, typename Name>
Function* libc_next(Name name) {
  static constinit std::atomic<void*> found{nullptr};
  void* function = found.load(std::memory_order_relaxed);
  if (!function) [[unlikely]] {
    function = dlsym(RTLD_NEXT, name());
    found.store(function, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function*>(function);
}

}  // namespace sluice

// The attributes of these functions (nonnull and the like) say nothing about a look-up by name.
#pragma GCC diagnostic ignored "-Wignored-attributes"
#define NEXT(name) (sluice::libc_next<decltype(::name)>([] { return #name; }))
