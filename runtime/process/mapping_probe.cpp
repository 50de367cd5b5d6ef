#include "runtime/process/mapping_probe.hpp"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sluice {
namespace {

#ifndef UFFD_USER_MODE_ONLY
constexpr int UFFD_USER_MODE_ONLY = 1;
#endif
/// Out of the way of programs that count on low numbers or close a few of them.
constexpr int lowest_descriptor = 512;
/// Watches mappings of any kind (6.7); older headers do not have it. Kernels without it watch fewer kinds, the program's too.
constexpr std::uint64_t feature_wp_async = 1 << 15;
constexpr std::uint64_t feature_wp_unpopulated = 1 << 13;

/// User mode only: that needs no privilege, and no page is ever protected.
Descriptor open_watcher(std::uint64_t features) {
  Descriptor watcher(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = features;
  if (watcher && ioctl(watcher.get(), UFFDIO_API, &api) != 0) return {};
  const int high = watcher ? fcntl(watcher.get(), F_DUPFD_CLOEXEC, lowest_descriptor) : -1;
  return high >= 0 ? Descriptor(high) : std::move(watcher);
}

}  // namespace

bool MappingProbe::finds_kept(ByteRange part) {
  const ByteRange page = PageRange{part.begin / page_bytes, part.begin / page_bytes + 1}.bytes();
  return is_watched(page) || has_policy(page);
}

bool MappingProbe::is_watched(ByteRange page) {
  if (!opened_) {
    opened_ = true;
    watcher_ = open_watcher(feature_wp_async | feature_wp_unpopulated);
    if (!watcher_) watcher_ = open_watcher(0);
  }
  if (!watcher_) return false;
  uffdio_register wanted{};
  wanted.range = {page.begin, page.size()};
  wanted.mode = UFFDIO_REGISTER_MODE_WP;
  // EINVAL: of a kind that nobody can watch.
  if (ioctl(watcher_.get(), UFFDIO_REGISTER, &wanted) != 0) return errno != EINVAL;
  return ioctl(watcher_.get(), UFFDIO_UNREGISTER, &wanted.range) != 0;
}

bool MappingProbe::has_policy(ByteRange page) const {
  if (numa_nodes_ < 2) return false;
  int mode = MPOL_DEFAULT;
  const long answer = syscall(SYS_get_mempolicy, &mode, nullptr, 0, page.begin, MPOL_F_ADDR);
  return answer == 0 && mode != MPOL_DEFAULT;
}

}  // namespace sluice
