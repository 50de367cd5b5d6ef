#include "runtime/alias/huge_pages.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/alias/kept_memory.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/posix.hpp"

namespace sluice {
namespace {

constexpr const char* enabled_path = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* size_path = "/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled";

using Text = std::array<char, 128>;

std::string_view read_line(const char* path, Text& text) {
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t bytes = file ? read(file.get(), text.data(), text.size()) : 0;
  return {text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

bool is_chosen(std::string_view text, std::string_view choice) {
  const std::size_t at = text.find('[');
  return at != std::string_view::npos && text.substr(at + 1).starts_with(choice) &&
         text.substr(at + 1 + choice.size()).starts_with("]");
}

/// glibc's malloc asks for huge pages by calls that no wrapper sees.
bool malloc_gives_advice() {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  return tunables && std::strstr(tunables, "glibc.malloc.hugetlb=1");
}

HugePages::Setting ask() {
  Text enabled;
  Text of_this_size;
  const int disabled = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
  const auto found = HugePages::parse(read_line(enabled_path, enabled), read_line(size_path, of_this_size), disabled);
  return found == HugePages::Setting::advised && malloc_gives_advice() ? HugePages::Setting::all : found;
}

}  // namespace

HugePages::Setting HugePages::parse(std::string_view enabled, std::string_view of_this_size, int disabled) {
  constexpr int except_advised = 2;
  const bool has_own = !of_this_size.empty() && !is_chosen(of_this_size, "inherit");
  const std::string_view rule = has_own ? of_this_size : enabled;
  if (is_chosen(rule, "never") || disabled == 1) return Setting::none;
  if (is_chosen(rule, "madvise") || (disabled > 0 && (disabled & except_advised) != 0)) return Setting::advised;
  return is_chosen(rule, "always") ? Setting::all : Setting::advised;
}

HugePages::Setting HugePages::setting() {
  constexpr int unknown = -1;
  static constinit std::atomic<int> known{unknown};
  if (const int value = known.load(std::memory_order_relaxed); value != unknown) return static_cast<Setting>(value);
  const int saved_errno = errno;
  const Setting asked = ask();
  errno = saved_errno;
  known.store(static_cast<int>(asked), std::memory_order_relaxed);
  return asked;
}

PageRange HugePages::extents_inside(ByteRange mapping, ByteRange part) {
  const std::uintptr_t begin = std::max(part.begin / segment_bytes, (mapping.begin + segment_bytes - 1) / segment_bytes);
  const std::uintptr_t end = std::min((part.end + segment_bytes - 1) / segment_bytes, mapping.end / segment_bytes);
  return begin < end ? PageRange{begin * segment_pages, end * segment_pages} : PageRange{};
}

bool HugePages::hold(const ProcessMapping& mapping, ByteRange part) {
  const PageRange extents = extents_inside(mapping.bytes, part);
  if (mapping.inode != 0 || extents.empty()) return false;
  if (kept_memory::is_advised_huge(extents.bytes())) return true;
  const ByteRange inside{std::max(part.begin, extents.bytes().begin), std::min(part.end, extents.bytes().end)};
  return are_there(mapping, PageRange::covering(inside)) || will_be_there(extents);
}

bool HugePages::are_there(const ProcessMapping& mapping, PageRange pages) {
  const HeldPages::Answer answer = held_.find_huge(pages);
  if (answer != HeldPages::Answer::unknown) return answer == HeldPages::Answer::yes;
  // Where nobody gets them unasked, whoever has asked is known.
  return setting_ == Setting::all && are_there_by_text(mapping.bytes);
}

bool HugePages::are_there_by_text(ByteRange mapping) {
  constexpr std::uint64_t share = 256;  // of all time, for readings
  const std::uint64_t began = now_ns();
  if (found_by_text_.contains(mapping) && began - read_at_ns_ < share * read_for_ns_) return true;
  const bool found = huge_kb_in("/proc/self/smaps", mapping) != 0;
  read_at_ns_ = now_ns();
  read_for_ns_ = read_at_ns_ - began;
  found_by_text_ = found ? mapping : ByteRange{};
  return found;
}

bool HugePages::will_be_there(PageRange extents) const {
  if (setting_ != Setting::all) return false;
  for (PageRange extent = first_segment(extents); !extent.empty(); extent = first_segment({extent.end, extents.end})) {
    if (held_.count(extent) == 0) return true;
  }
  return false;
}

long huge_kb_in(const char* smaps, ByteRange bytes) {
  constexpr std::string_view huge = "AnonHugePages:";
  const Descriptor file(open(smaps, O_RDONLY | O_CLOEXEC));
  if (!file) return -1;
  std::array<char, 512> chunk;
  std::array<char, 80> line;  // longer ones end in a path
  std::size_t length = 0;
  bool inside = false;
  long found_kb = 0;
  const auto end_line = [&] {
    line[std::exchange(length, 0)] = '\0';
    ByteRange mapping;
    if (std::sscanf(line.data(), "%lx-%lx ", &mapping.begin, &mapping.end) == 2) inside = mapping.overlaps(bytes);
    if (inside && std::string_view(line.data()).starts_with(huge)) found_kb += std::atol(line.data() + huge.size());
  };
  for (ssize_t got = 0; (got = read(file.get(), chunk.data(), chunk.size())) > 0;) {
    for (const char c : std::string_view(chunk.data(), static_cast<std::size_t>(got))) {
      if (c == '\n') {
        end_line();
      } else if (length + 1 < line.size()) {
        line[length++] = c;
      }
    }
  }
  return found_kb;
}

}  // namespace sluice
