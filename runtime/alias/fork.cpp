#include "runtime/alias/fork.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "runtime/alias/copy_out.hpp"
#include "runtime/base/fatal.hpp"

namespace sluice {
namespace {

/// Between `prepare` and `wait_for_child`, and in the child until it has its copies. A child has the forking thread's storage.
constinit thread_local bool this_thread_forks = false;

void set_inherited(ByteRange bytes, bool inherited) {
  madvise(reinterpret_cast<void*>(bytes.begin), bytes.size(), inherited ? MADV_DOFORK : MADV_DONTFORK);
}

/// The frame that the kernel makes for a signal handler needs a stack.
bool holds_stack(ByteRange bytes) {
  stack_t alternate{};
  if (sigaltstack(nullptr, &alternate) != 0) return true;
  return bytes.contains(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) ||
         (alternate.ss_size != 0 && bytes.overlaps(ByteRange::of(alternate.ss_sp, alternate.ss_size)));
}

int protection_of(const ProcessMapping& block) { return block.readable && !block.writable ? PROT_READ : PROT_READ | PROT_WRITE; }

void expect_copied(bool copied) {
  if (!copied) fatal("fork: no memory for the child's copy of received data (errno %d)", errno);
}

/// Another thread may have put something else there between the listing and the fork.
void copy_into_gaps(const AliasFile& file, const ProcessMaps& maps, const ProcessMapping& withheld) {
  ProcessMaps::Walk walk(maps, withheld.bytes.begin);
  for (ByteRange rest = withheld.bytes; !rest.empty();) {
    ProcessMapping next;
    const bool any = walk.next(next) && next.bytes.begin < rest.end;
    const ByteRange gap{rest.begin, any ? std::max(next.bytes.begin, rest.begin) : rest.end};
    const std::uint64_t offset = withheld.file_offset + (gap.begin - withheld.bytes.begin);
    if (!gap.empty()) expect_copied(fill_gap(file.descriptor(), offset, gap, protection_of(withheld)));
    rest.begin = any ? std::min(next.bytes.end, rest.end) : rest.end;
  }
}

void sort_parts(const ProcessMapping& block, const PageSet& in_use, ForkPlan& plan) {
  const auto add = [&](std::vector<ProcessMapping>& list, PageRange pages) {
    if (pages.empty()) return;
    list.push_back(block);
    list.back().bytes = pages.bytes();
    list.back().file_offset += pages.bytes().begin - block.bytes.begin;
  };
  PageRange rest = PageRange::covering(block.bytes);
  in_use.for_each_inside(rest, [&](PageRange used) {
    add(plan.views, {rest.begin, used.begin});
    add(plan.in_use, used);
    rest.begin = used.end;
  });
  add(plan.views, rest);
}

}  // namespace

ForkPlan plan_fork(const AliasFile& file, const ProcessMaps& maps, const PageSet& in_use) {
  ForkPlan plan;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps, 0); walk.next(mapping);) {
    if (file.is_view(mapping)) plan.present.push_back(mapping);
    if (file.backs(mapping) && !file.is_window(mapping)) sort_parts(mapping, in_use, plan);
  }
  return plan;
}

void AliasFork::prepare(std::vector<ProcessMapping> blocks, bool hears_faults) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fatal("fork: no pipe to wait for the child's copy of received data (errno %d)", errno);
  done_reading_ = Descriptor(ends[0]);
  done_writing_ = Descriptor(ends[1]);
  parent_ = getpid();
  const auto is_needed = [](const ProcessMapping& block) { return holds_stack(block.bytes); };
  if (hears_faults && std::none_of(blocks.begin(), blocks.end(), is_needed)) withheld_ = std::move(blocks);
  for (const ProcessMapping& block : withheld_) set_inherited(block.bytes, false);
  this_thread_forks = true;
}

void AliasFork::wait_for_child() {
  if (!done_reading_) return;
  this_thread_forks = false;
  done_writing_.reset();
  char done = 0;
  while (read(done_reading_.get(), &done, 1) < 0 && errno == EINTR) {
  }
  done_reading_.reset();
  for (const ProcessMapping& block : withheld_) set_inherited(block.bytes, true);
  withheld_.clear();
}

bool AliasFork::copy_everything(const AliasFile& file, ProcessMaps& maps) {
  if (!this_thread_forks || getpid() == parent_) return false;
  this_thread_forks = false;
  maps.reopen();
  done_reading_.reset();
  // First, so that nothing else comes to lie there.
  for (const ProcessMapping& block : withheld_) copy_into_gaps(file, maps, block);
  ProcessMapping inherited;
  for (ProcessMaps::Walk walk(maps, 0); walk.next(inherited);) {
    if (!file.backs(inherited)) continue;  // windows are not inherited
    expect_copied(copy_out(file.descriptor(), inherited.file_offset, inherited.bytes, protection_of(inherited)));
  }
  const char done = 1;
  while (done_writing_ && write(done_writing_.get(), &done, 1) < 0 && errno == EINTR) {
  }
  done_writing_.reset();
  return true;
}

}  // namespace sluice
