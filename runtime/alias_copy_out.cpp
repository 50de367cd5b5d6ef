#include "runtime/alias_copy_out.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace sluice {
namespace {

bool read_all(int file, std::uint64_t offset, ByteRange target) {
  while (!target.empty()) {
    const ssize_t bytes = pread(file, reinterpret_cast<void*>(target.begin), target.size(), static_cast<off_t>(offset));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    target.begin += static_cast<std::uintptr_t>(bytes);
    offset += static_cast<std::uint64_t>(bytes);
  }
  return true;
}

}  // namespace

// A raw mremap: Sluice's own wrapper of it would come back here.
bool copy_out(int file, std::uint64_t file_offset, ByteRange bytes, int protection) {
  void* place = reinterpret_cast<void*>(bytes.begin);
  void* copy = mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  if (read_all(file, file_offset, ByteRange::of(copy, bytes.size())) && mprotect(copy, bytes.size(), protection) == 0 &&
      syscall(SYS_mremap, copy, bytes.size(), bytes.size(), MREMAP_MAYMOVE | MREMAP_FIXED, place) ==
          static_cast<long>(bytes.begin)) {
    return true;
  }
  munmap(copy, bytes.size());
  return false;
}

bool fill_gap(int file, std::uint64_t file_offset, ByteRange gap, int protection) {
  void* const place = reinterpret_cast<void*>(gap.begin);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  return mmap(place, gap.size(), PROT_READ | PROT_WRITE, flags, -1, 0) == place && read_all(file, file_offset, gap) &&
         mprotect(place, gap.size(), protection) == 0;
}

}  // namespace sluice
