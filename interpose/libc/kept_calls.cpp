#include "interpose/libc/kept_calls.hpp"

#include <limits.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <span>

#include "interpose/libc/settle.hpp"
#include "runtime/alias/huge_pages.hpp"

namespace sluice {
namespace {

using kept_memory::Keeper;

// Newer than the headers of older systems.
constexpr int advice_collapse = 25;
constexpr int advice_guard_install = 102;
constexpr int advice_guard_remove = 103;

Keeping whole_pages(const void* address, std::size_t bytes, Keeper keeper, bool keeps) {
  return {ByteRange::of(address, bytes), keeper, keeps};
}

}  // namespace

std::optional<Keeping> keeping_of_ioctl(unsigned long request, const void* argument) {
  if (!argument || (request != UFFDIO_REGISTER && request != UFFDIO_UNREGISTER)) return std::nullopt;
  // Both begin with the range.
  const auto& range = *static_cast<const uffdio_range*>(argument);
  return Keeping{{range.start, range.start + range.len}, Keeper::watched, request == UFFDIO_REGISTER};
}

std::optional<Keeping> keeping_of_advice(const void* address, std::size_t bytes, int advice) {
  const auto of = [&](Keeper keeper, bool keeps) { return whole_pages(address, bytes, keeper, keeps); };
  switch (advice) {
    case MADV_DONTFORK:
      return of(Keeper::unforked, true);
    case MADV_DOFORK:
      return of(Keeper::unforked, false);
    case MADV_MERGEABLE:
      return of(Keeper::merged, true);
    case MADV_UNMERGEABLE:
      return of(Keeper::merged, false);
    case MADV_DONTDUMP:
      return of(Keeper::undumped, true);
    case MADV_DODUMP:
      return of(Keeper::undumped, false);
    case MADV_WIPEONFORK:
      return of(Keeper::wiped, true);
    case MADV_KEEPONFORK:
      return of(Keeper::wiped, false);
    case advice_guard_install:
      return of(Keeper::guard_pages, true);
    case advice_guard_remove:
      return of(Keeper::guard_pages, false);
    case MADV_HUGEPAGE:
      if (HugePages::setting() == HugePages::Setting::none) return std::nullopt;
      return of(Keeper::huge, true);
    case advice_collapse:
      return of(Keeper::huge, true);
    case MADV_NOHUGEPAGE:
      return of(Keeper::huge, false);
    default:
      return std::nullopt;
  }
}

/// Without a key (-1) it is mprotect; key 0 is that of all memory.
std::optional<Keeping> keeping_of_key(const void* address, std::size_t bytes, int key) {
  if (key < 0) return std::nullopt;
  return whole_pages(address, bytes, Keeper::keyed, key != 0);
}

std::optional<Keeping> keeping_of_seal(const void* address, std::size_t bytes) {
  return whole_pages(address, bytes, Keeper::sealed, true);
}

void detail::before_keeping(const Keeping& keeping) {
  if (!keeping.keeps) return;
  kept_memory::note(keeping.bytes, keeping.keeper);
  make_private(keeping.bytes);
}

void detail::after_keeping(const Keeping& keeping, bool done) {
  if (done != keeping.keeps) kept_memory::forget(keeping.bytes, keeping.keeper);
}

void lend(const void* data, std::size_t bytes) {
  const ByteRange range = ByteRange::of(data, bytes);
  kept_memory::note(range, Keeper::lent);
  settle_for_good(range);
}

void lend(const iovec* vectors, std::size_t count) {
  if (!vectors || count > IOV_MAX) return;
  for (const iovec& vector : std::span(vectors, count)) lend(vector.iov_base, vector.iov_len);
}

}  // namespace sluice
