#include "runtime/guard/descriptor.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace sluice {
namespace {

constexpr int flags = O_CLOEXEC | O_NONBLOCK;

struct Opened {
  Descriptor descriptor;
  bool kernel_faults = true;
};

/// The call that needs privilege (CAP_SYS_PTRACE or vm.unprivileged_userfaultfd), the device whose permissions decide, and
/// what everybody may have.
Opened open_descriptor() {
  if (const long fd = syscall(SYS_userfaultfd, flags); fd >= 0) return {Descriptor(static_cast<int>(fd))};
  const Descriptor device(::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
  if (device) {
    if (const int fd = ioctl(device.get(), USERFAULTFD_IOC_NEW, flags); fd >= 0) return {Descriptor(fd)};
  }
  return {Descriptor(static_cast<int>(syscall(SYS_userfaultfd, flags | UFFD_USER_MODE_ONLY))), false};
}

uffdio_range range_of(ByteRange bytes) { return {bytes.begin, bytes.size()}; }

}  // namespace

FaultDescriptor FaultDescriptor::open(std::string& missing) {
  FaultDescriptor made;
  Opened opened = open_descriptor();
  if (!opened.descriptor) {
    missing = std::string("the system call userfaultfd is refused: ") + std::strerror(errno);
    return made;
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_MINOR_SHMEM;
  if (ioctl(opened.descriptor.get(), UFFDIO_API, &api) != 0) {
    missing = "the kernel has no minor faults for shared memory (Linux 5.14)";
    return made;
  }
  made.descriptor_ = std::move(opened.descriptor);
  made.kernel_faults_ = opened.kernel_faults;
  return made;
}

bool FaultDescriptor::watch(ByteRange bytes) const {
  uffdio_register watched{};
  watched.range = range_of(bytes);
  watched.mode = UFFDIO_REGISTER_MODE_MINOR;
  return ioctl(descriptor_.get(), UFFDIO_REGISTER, &watched) == 0;
}

FaultDescriptor::Outcome FaultDescriptor::map(ByteRange& bytes) const {
  uffdio_continue order{};
  order.range = range_of(bytes);
  if (ioctl(descriptor_.get(), UFFDIO_CONTINUE, &order) == 0) {
    bytes.begin = bytes.end;
    return Outcome::mapped;
  }
  const int error = errno;
  if (order.mapped > 0) {
    bytes.begin += static_cast<std::uintptr_t>(order.mapped);
    return Outcome::mapped;
  }
  switch (error) {
    case EEXIST:
      return Outcome::is_mapped;
    case EFAULT:
      return Outcome::no_page;
    case ENOENT:
    case EINVAL:
      return Outcome::not_watched;
    case EAGAIN:
    case EINTR:
      return Outcome::try_again;
    default:
      return Outcome::failed;
  }
}

void FaultDescriptor::wake(ByteRange bytes) const {
  uffdio_range range = range_of(bytes);
  ioctl(descriptor_.get(), UFFDIO_WAKE, &range);
}

std::span<const std::uintptr_t> FaultDescriptor::read(std::span<std::uintptr_t> pages) const {
  std::array<uffd_msg, 16> messages;
  const std::size_t wanted = std::min(messages.size(), pages.size()) * sizeof messages[0];
  const long bytes = syscall(SYS_read, descriptor_.get(), messages.data(), wanted);  // read() is intercepted
  std::size_t found = 0;
  for (std::size_t i = 0; bytes > 0 && i < static_cast<std::size_t>(bytes) / sizeof messages[0]; ++i) {
    if (messages[i].event == UFFD_EVENT_PAGEFAULT) pages[found++] = messages[i].arg.pagefault.address / page_bytes;
  }
  return pages.first(found);
}

}  // namespace sluice
