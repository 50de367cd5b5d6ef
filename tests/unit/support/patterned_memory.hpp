// Application memory with contents that can be checked, for the tests of alias blocks.
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "runtime/base/types.hpp"

namespace sluice {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool allocator_is_glibc = false;  // sanitizers bring their own
#else
inline constexpr bool allocator_is_glibc = true;
#endif

/// An anonymous private mapping, every byte set.
class Memory {
 public:
  explicit Memory(std::size_t pages, int flags = MAP_PRIVATE)
      : bytes_(pages * page_bytes),
        start_(static_cast<std::byte*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0))) {
    for (std::size_t i = 0; i < bytes_; ++i) start_[i] = pattern(i);
  }
  ~Memory() { munmap(start_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  static std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 7 + i / page_bytes); }
  [[nodiscard]] std::byte* start() const { return start_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] ByteRange range() const { return ByteRange::of(start_, bytes_); }
  [[nodiscard]] bool intact() const {
    for (std::size_t i = 0; i < bytes_; ++i) {
      if (start_[i] != pattern(i)) return false;
    }
    return true;
  }

 private:
  std::size_t bytes_;
  std::byte* start_;
};

}  // namespace sluice
