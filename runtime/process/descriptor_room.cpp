#include "runtime/process/descriptor_room.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/select.h>

#include <algorithm>

namespace sluice {
namespace {

/// Where Sluice's begin: above what select() can take, else out of the way of programs that count on low numbers.
constexpr rlim_t lowest = FD_SETSIZE;
constexpr int second_best = FD_SETSIZE / 2;

}  // namespace

void DescriptorRoom::prepare_process() {
  const DescriptorRoom room(1);
  moved_up(Descriptor(::eventfd(0, EFD_CLOEXEC)));
}

DescriptorRoom::DescriptorRoom(std::size_t descriptors) {
  if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
  const rlim_t wanted = std::min(before_.rlim_max, std::max(before_.rlim_cur, lowest) + descriptors);
  if (wanted <= before_.rlim_cur) return;
  const rlimit raised{wanted, before_.rlim_max};
  raised_ = ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

DescriptorRoom::~DescriptorRoom() {
  if (raised_) ::setrlimit(RLIMIT_NOFILE, &before_);
}

Descriptor DescriptorRoom::moved_up(Descriptor low) {
  if (!low) return low;
  int high = ::fcntl(low.get(), F_DUPFD_CLOEXEC, static_cast<int>(lowest));
  if (high < 0) high = ::fcntl(low.get(), F_DUPFD_CLOEXEC, second_best);
  return high < 0 ? std::move(low) : Descriptor(high);
}

}  // namespace sluice
