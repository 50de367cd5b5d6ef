// Functions by which the kernel comes to hold memory of the program, or to keep something with it, beyond the call.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <cstdarg>

#include "interpose/libc/kept_calls.hpp"

extern "C" int mseal(void*, size_t, unsigned long) noexcept;  // glibc 2.42

namespace sluice {
namespace {

/// Most requests say how much their argument points to; the oldest do not.
void settle_ioctl(unsigned long request, const void* argument) {
  constexpr std::size_t largest_of_old = 256;
  const std::size_t bytes = _IOC_SIZE(request);
  settle(argument, bytes != 0 ? bytes : largest_of_old);
}

}  // namespace
}  // namespace sluice

extern "C" __attribute__((visibility("default"))) int ioctl(int file, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return sluice::keep(sluice::keeping_of_ioctl(request, argument), [&] {
    return sluice::guarded_call([&] { sluice::settle_ioctl(request, argument); },
                                [&] { return NEXT(ioctl)(file, request, argument); });
  });
}

extern "C" __attribute__((visibility("default"))) int pkey_mprotect(void* address, size_t bytes, int protection,
                                                                    int key) noexcept {
  if (sluice::watching()) [[unlikely]]
    sluice::settle_inside_allocator(address, bytes);
  return sluice::keep(sluice::keeping_of_key(address, bytes, key),
                      [&] { return NEXT(pkey_mprotect)(address, bytes, protection, key); });
}

extern "C" __attribute__((visibility("default"))) int mseal(void* address, size_t bytes, unsigned long flags) noexcept {
  return sluice::keep(sluice::keeping_of_seal(address, bytes), [&] { return NEXT(mseal)(address, bytes, flags); });
}

/// The pipe goes on holding the pages.
extern "C" __attribute__((visibility("default"))) ssize_t vmsplice(int file, const iovec* vectors, size_t count, unsigned flags) {
  sluice::lend(vectors, count);
  return sluice::guarded_call(
      [&] {
        sluice::hold_output();
        sluice::settle_vectors(vectors, count, sluice::Access::read);
      },
      [&] { return NEXT(vmsplice)(file, vectors, count, flags); });
}
