// What system calls ask the kernel to keep with memory of the program: read from their arguments, the same for a function of the
// C library and for `syscall`. The range is noted before the call, and blocks in it are private again by then; a call that fails,
// or takes it back, has it forgotten.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <optional>

#include "runtime/alias/kept_memory.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

struct Keeping {
  ByteRange bytes;
  kept_memory::Keeper keeper{};
  bool keeps = true;  // false: gives up
};

std::optional<Keeping> keeping_of_ioctl(unsigned long request, const void* argument);
std::optional<Keeping> keeping_of_advice(const void* address, std::size_t bytes, int advice);
std::optional<Keeping> keeping_of_key(const void* address, std::size_t bytes, int key);
std::optional<Keeping> keeping_of_seal(const void* address, std::size_t bytes);

namespace detail {
void before_keeping(const Keeping& keeping);
void after_keeping(const Keeping& keeping, bool done);
}  // namespace detail

template <typename Call>
auto keep(const std::optional<Keeping>& keeping, Call&& call) {
  if (!keeping) [[likely]]
    return call();
  detail::before_keeping(*keeping);
  const auto result = call();
  detail::after_keeping(*keeping, result != -1);
  return result;
}

/// The kernel goes on using the pages of these bytes for longer than the call.
void lend(const void* data, std::size_t bytes);
void lend(const iovec* vectors, std::size_t count);

}  // namespace sluice
