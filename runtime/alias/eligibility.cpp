#include "runtime/alias/eligibility.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "runtime/alias/kept_memory.hpp"
#include "runtime/process/alternate_stacks.hpp"
#include "runtime/process/process_threads.hpp"
#include "runtime/process/thread_storage.hpp"

namespace sluice {
namespace {

constexpr std::size_t largest_name = PATH_MAX + 64;  // the kernel may append " (deleted)"
/// A stack that the program made itself: how far above the stack pointer its frames may reach.
constexpr std::size_t own_stack_reach = std::size_t{8} << 20;

bool is_ordinary_file(const char* path) {
  struct stat file {};
  struct statfs system {};
  return path[0] == '/' && stat(path, &file) == 0 && S_ISREG(file.st_mode) && statfs(path, &system) == 0 &&
         system.f_type != HUGETLBFS_MAGIC;
}

/// Bytes of `mapping` up to which it is, or may be, the stack of some thread; mapping.bytes.begin when there is none.
std::uintptr_t end_of_thread_stacks(const ProcessMapping& mapping) {
  std::uintptr_t end = mapping.bytes.begin;
  const pid_t main_thread = getpid();
  for_each_thread([&](int tid) {
    if (tid == main_thread) return;  // its control block is the dynamic linker's: main_thread_storage
    std::uintptr_t control_block = 0;
    std::size_t bytes = 0;
    if (syscall(SYS_get_robust_list, tid, &control_block, &bytes) != 0) {
      if (errno != ESRCH) end = mapping.bytes.end;  // a filter of system calls refuses it, so nobody knows
      return;
    }
    if (mapping.bytes.contains(control_block)) end = std::max(end, (control_block / page_bytes + 1) * page_bytes);
  });
  return end;
}

bool may_be_stack(const ProcessMapping& mapping, ByteRange part) {
  if (alternate_stacks::share_pages_with(part)) return true;
  if (main_thread_storage().empty() || main_thread_storage().overlaps(part)) return true;
  if (mapping.bytes.contains(getauxval(AT_RANDOM))) return true;
  const auto own = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (mapping.bytes.contains(own) && own < part.end && own + own_stack_reach > part.begin) return true;
  return part.begin < end_of_thread_stacks(mapping);
}

Ineligible judge(const AliasFile& file, const ProcessMapping& mapping, const char* name, ByteRange part) {
  if (file.backs(mapping)) {
    // A block that mremap moved is private to this process and may become a block where it is now.
    return file.is_window(mapping) || !mapping.readable || !mapping.writable ? Ineligible::not_private : Ineligible::none;
  }
  if (mapping.shared || !mapping.readable || !mapping.writable || mapping.executable) return Ineligible::not_private;
  // A mapping of one page has no place for the seam that keeps mremap from growing it (alias/arena.cpp).
  if (mapping.page_size != page_bytes || mapping.bytes.size() == page_bytes) return Ineligible::not_private;
  if (mapping.inode != 0 && !file.is_view(mapping) && !is_ordinary_file(name)) return Ineligible::not_private;
  return may_be_stack(mapping, part) ? Ineligible::stack : Ineligible::none;
}

}  // namespace

bool is_protected_like_a_block(const ProcessMapping& mapping, const PageSet& sent, ByteRange bytes) {
  if (mapping.executable || mapping.readable == mapping.writable) return !mapping.executable;
  const ByteRange part{std::max(mapping.bytes.begin, bytes.begin), std::min(mapping.bytes.end, bytes.end)};
  return mapping.readable && sent.contains(PageRange::covering(part));
}

Ineligible survey_range(const Surveyors& ask, PageRange pages, std::vector<PageRange>& missing) {
  std::array<char, largest_name> name;
  ByteRange rest = pages.bytes();
  ProcessMaps::Walk walk(ask.maps, rest.begin);
  while (!rest.empty()) {
    ProcessMapping mapping;
    if (!walk.next(mapping, name) || !mapping.bytes.contains(rest.begin)) return Ineligible::not_private;
    const ByteRange part{rest.begin, std::min(rest.end, mapping.bytes.end)};
    rest.begin = part.end;
    if (ask.file.backs_in_place(mapping)) {
      if (!is_protected_like_a_block(mapping, ask.sent, part)) return Ineligible::not_private;
      continue;
    }
    const Ineligible reason = judge(ask.file, mapping, name.data(), part);
    if (reason != Ineligible::none) return reason;
    if (ask.huge && ask.huge->hold(mapping, part)) return Ineligible::huge;  // first, as the probe would split a huge page
    if (kept_memory::overlaps(part) || ask.probe.finds_kept(part)) return Ineligible::kept;
    const PageRange found = PageRange::covering(part);
    // Mappings of different kinds (.data, then .bss) may follow one another; one copy moves them all.
    if (!missing.empty() && missing.back().end == found.begin) {
      missing.back().end = found.end;
    } else {
      missing.push_back(found);
    }
  }
  return Ineligible::none;
}

HeldMemory held_memory() {
  const Descriptor status(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text;
  const ssize_t bytes = read(status.get(), text.data(), text.size() - 1);
  if (bytes <= 0) return {};
  text[static_cast<std::size_t>(bytes)] = '\0';
  const auto value_of = [&](std::string_view member) -> std::uint64_t {
    const char* line = std::strstr(text.data(), member.data());
    return line ? std::strtoull(line + member.size(), nullptr, 10) : 0;
  };
  return {.locked = value_of("VmLck:") != 0, .pinned_kb = value_of("VmPin:")};
}

bool may_begin_allocation(std::span<const std::byte> page) {
  constexpr std::size_t alignment = 16;
  constexpr std::size_t flags = 7;
  constexpr std::size_t is_mapped = 2;
  for (std::size_t place = 0; place + alignment <= page.size(); place += alignment) {
    std::array<std::size_t, 2> header{};
    std::memcpy(header.data(), &page[place], sizeof header);
    const auto [from_beginning, size] = header;
    if (from_beginning == place && (size & is_mapped) != 0 && (place + (size & ~flags)) % page_bytes == 0) return true;
  }
  return false;
}

bool is_shown_elsewhere(const AliasFile& file, const ProcessMaps& maps, PageRange pages) {
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps, 0); walk.next(mapping);) {
    const bool shows = file.is_view(mapping) || (file.backs(mapping) && !file.is_window(mapping));
    if (!shows || mapping.file_offset == mapping.bytes.begin) continue;
    if (AliasFile::pages_of(mapping).overlaps(pages)) return true;
  }
  return false;
}

}  // namespace sluice
