// Functions of the C library that Sluice stands in front of (LIBC in calls.def), and the shape of their wrappers.
//
// Included first: the definitions need both names of functions that take file offsets, and no checked inline versions.
//
// A wrapper is one line: prototype, arguments, and what must be done first while something is under guard. With nothing under
// guard it costs one load and a predictable branch. A system call that the kernel answered with EFAULT may have met a page that
// came under guard, or was migrated, while it ran; it is made again once the page is open (libc/settle.hpp).
//
// Calls that Sluice makes itself do not come through its wrappers: the linker turns them into __wrap_X, a jump to the next
// definition (libc/next.cpp). Calls inside other libraries do, if they go through the dynamic linker.
#pragma once

#pragma GCC diagnostic ignored "-Wattributes"  // nonnull and the like say nothing about a look-up by name
#pragma GCC diagnostic ignored "-Wignored-attributes"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // what is settled is not read
#endif
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <features.h>
#undef __USE_EXTERN_INLINES

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/libc/settle.hpp"

namespace sluice {

enum class LibcCall : std::uint16_t {
#define SLUICE_LIBC_CALL(name, offset) name,
#include "libc_calls.inc"
#undef SLUICE_LIBC_CALL
  count
};

namespace detail {
/// The next definition in the order of libraries; nullptr until it was looked up. The constructor of libc/next.cpp fills it,
/// and calls of other libraries' constructors that come earlier.
[[gnu::visibility("hidden")]] extern std::atomic<void*> libc_next[static_cast<std::size_t>(LibcCall::count)] asm(
    "sluice_libc_next");
void* look_up(LibcCall call);
}  // namespace detail

template <LibcCall call, typename Function>
Function* libc_next() {
  void* function = detail::libc_next[static_cast<std::size_t>(call)].load(std::memory_order_relaxed);
  if (!function) [[unlikely]]
    function = detail::look_up(call);
  return reinterpret_cast<Function*>(function);
}

}  // namespace sluice

#define NEXT(name) (sluice::libc_next<sluice::LibcCall::name, decltype(::name)>())

/// A system call. `...`: what comes first while something is under guard.
#define SYSTEM_CALL(result, name, parameters, arguments, ...)                                           \
  extern "C" __attribute__((visibility("default"))) result name parameters {                            \
    return sluice::guarded_call([&]() noexcept { __VA_ARGS__; }, [&] { return NEXT(name) arguments; }); \
  }
/// The same for a function that is more than one system call, or keeps state of its own, and must not be made again.
#define LIBRARY_CALL(result, name, parameters, arguments, ...)               \
  extern "C" __attribute__((visibility("default"))) result name parameters { \
    if (sluice::watching()) [[unlikely]] {                                   \
      __VA_ARGS__;                                                           \
    }                                                                        \
    return NEXT(name) arguments;                                             \
  }
