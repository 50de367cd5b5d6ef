// Whether memory that was only read lies on the one page of zeros that a kernel has. Kernels of some virtual machines have none:
// there a page that was read is like one that was written to.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

inline bool has_page_of_zeros() {
  constexpr std::uint64_t mapped_once = std::uint64_t{1} << 56;  // Documentation/admin-guide/mm/pagemap.rst
  void* const memory = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, page_bytes, MADV_NOHUGEPAGE);
  static_cast<void>(*static_cast<volatile char*>(memory));
  std::uint64_t word = 0;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(memory) / page_bytes * sizeof word);
  const bool known = pread(pagemap, &word, sizeof word, at) == sizeof word;
  close(pagemap);
  munmap(memory, page_bytes);
  return !known || (word & mapped_once) == 0;
}

}  // namespace sluice
