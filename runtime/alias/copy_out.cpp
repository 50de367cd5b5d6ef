#include "runtime/alias/copy_out.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
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

/// Into memory that nobody has touched: where the file has holes, it stays so. Asking moves the position of the descriptor, which
/// nobody uses.
bool read_data(int file, std::uint64_t offset, ByteRange target) {
  const std::uint64_t end = offset + target.size();
  for (std::uint64_t at = offset; at < end;) {
    const off_t data = lseek(file, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) return true;
    const off_t hole = data < 0 ? data : lseek(file, data, SEEK_HOLE);
    if (hole < 0) return read_all(file, at, {target.begin + (at - offset), target.end});
    const std::uint64_t first = std::min(static_cast<std::uint64_t>(data), end);
    const std::uint64_t last = std::min(static_cast<std::uint64_t>(hole), end);
    if (!read_all(file, first, {target.begin + (first - offset), target.begin + (last - offset)})) return false;
    at = last;
  }
  return true;
}

}  // namespace

void* reserve_copy(std::size_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const reserved = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return reserved == MAP_FAILED ? nullptr : reserved;
}

// A raw mremap: Sluice's own wrapper of it would come back here.
bool copy_out_part(int file, std::uint64_t file_offset, ByteRange bytes, void* reserved, int protection) {
  return read_data(file, file_offset, ByteRange::of(reserved, bytes.size())) &&
         mprotect(reserved, bytes.size(), protection) == 0 &&
         syscall(SYS_mremap, reserved, bytes.size(), bytes.size(), MREMAP_MAYMOVE | MREMAP_FIXED, bytes.begin) ==
             static_cast<long>(bytes.begin);
}

bool copy_out(int file, std::uint64_t file_offset, ByteRange bytes, int protection) {
  void* const reserved = reserve_copy(bytes.size());
  if (!reserved) return false;
  if (copy_out_part(file, file_offset, bytes, reserved, protection)) return true;
  munmap(reserved, bytes.size());
  return false;
}

bool fill_gap(int file, std::uint64_t file_offset, ByteRange gap, int protection) {
  void* const place = reinterpret_cast<void*>(gap.begin);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  return mmap(place, gap.size(), PROT_READ | PROT_WRITE, flags, -1, 0) == place && read_data(file, file_offset, gap) &&
         mprotect(place, gap.size(), protection) == 0;
}

}  // namespace sluice
