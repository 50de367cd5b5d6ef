#include "runtime/alias/known_mappings.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <iterator>

namespace sluice {
namespace {

/// A program that goes through more buffers than that does not come back to them soon.
constexpr std::size_t max_known = 1024;

}  // namespace

KnownMappings::KnownMappings(const AliasFile& file)
    : file_(file), names_(open("/proc/self/map_files", O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

void KnownMappings::note(const ProcessMapping& mapping) {
  if (!names_ || !file_.backs_in_place(mapping) || !mapping.readable || !mapping.writable || mapping.executable) return;
  if (ends_.size() >= max_known) ends_.clear();
  auto first = ends_.upper_bound(mapping.bytes.begin);
  if (first != ends_.begin() && std::prev(first)->second > mapping.bytes.begin) --first;
  ends_.erase(first, ends_.lower_bound(mapping.bytes.end));
  ends_.emplace(mapping.bytes.begin, mapping.bytes.end);
}

ByteRange KnownMappings::without_known(ByteRange bytes) {
  for (std::uintptr_t end = 0; !bytes.empty() && (end = end_of(bytes.begin)) != 0;) bytes.begin = end;
  return bytes;
}

std::uintptr_t KnownMappings::end_of(std::uintptr_t address) {
  auto found = ends_.upper_bound(address);
  // A page that userfaultfd holds back would be waited for in the kernel, with the engine lock held.
  if (found == ends_.begin() || file_.is_watched()) return 0;
  --found;
  const ByteRange mapping{found->first, found->second};
  if (!mapping.contains(address)) return 0;
  if (exists(mapping) && shows_its_page(address)) return mapping.end;
  ends_.erase(found);
  return 0;
}

bool KnownMappings::exists(ByteRange mapping) const {
  constexpr int hexadecimal = 16;
  std::array<char, 40> name;
  char* const limit = name.data() + name.size() - 1;
  char* end = std::to_chars(name.data(), limit, mapping.begin, hexadecimal).ptr;
  *end++ = '-';
  *std::to_chars(end, limit, mapping.end, hexadecimal).ptr = '\0';
  struct stat ignored {};
  return fstatat(names_.get(), name.data(), &ignored, AT_SYMLINK_NOFOLLOW) == 0;
}

/// Waiters there are none of: nobody waits for a word of a buffer to be passed on to another one.
bool KnownMappings::shows_its_page(std::uintptr_t address) const {
  const std::uintptr_t page = address / page_bytes * page_bytes;
  auto* const in_file = reinterpret_cast<std::uint32_t*>(file_.windows().alias(page));
  const std::uint32_t unexpected = ~std::atomic_ref(*in_file).load(std::memory_order_relaxed);
  constexpr long woken = 1, passed_on = 0;
  return syscall(SYS_futex, in_file, FUTEX_CMP_REQUEUE_PI, woken, passed_on, page, unexpected) == -1 && errno == EINVAL;
}

}  // namespace sluice
