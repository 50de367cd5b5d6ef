#include "runtime/alias/held_pages.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace sluice {
namespace {

// <linux/fs.h>, of kernels that are newer than the headers may be.
struct ScanRegion {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t categories = 0;
};

struct Scan {
  std::uint64_t size = sizeof(Scan);
  std::uint64_t flags = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t walked_to = 0;
  std::uint64_t regions = 0;
  std::uint64_t regions_length = 0;
  std::uint64_t max_pages = 0;
  std::uint64_t inverted = 0;
  std::uint64_t all_of = 0;
  std::uint64_t any_of = 0;
  std::uint64_t returned = 0;
};

constexpr unsigned long pagemap_scan = _IOWR('f', 16, Scan);
constexpr std::uint64_t is_file = 1U << 2;
constexpr std::uint64_t is_present = 1U << 3;
constexpr std::uint64_t is_swapped = 1U << 4;
constexpr std::uint64_t is_zero_page = 1U << 5;
constexpr std::uint64_t is_huge = 1U << 6;

// Documentation/admin-guide/mm/pagemap.rst
constexpr std::uint64_t word_exclusive = std::uint64_t{1} << 56;
constexpr std::uint64_t word_file = std::uint64_t{1} << 61;
constexpr std::uint64_t word_swapped = std::uint64_t{1} << 62;
constexpr std::uint64_t word_present = std::uint64_t{1} << 63;

bool is_all_zero(std::uintptr_t page) {
  const auto* const first = reinterpret_cast<const char*>(page * page_bytes);
  return *first == 0 && std::memcmp(first, first + 1, page_bytes - 1) == 0;
}

bool is_held(std::uint64_t word, std::uintptr_t page, HeldPages::Of kind) {
  if ((word & word_swapped) != 0) return true;
  if ((word & word_present) == 0) return false;
  if (kind == HeldPages::Of::private_file) return (word & word_file) == 0;
  return (word & (word_file | word_exclusive)) != 0 || !is_all_zero(page);
}

SegmentSet all_of(PageRange pages) {
  SegmentSet set;
  for (std::uintptr_t page = pages.begin; page < pages.end; ++page) set.set(index_in_segment(page));
  return set;
}

}  // namespace

PageRange first_segment(PageRange rest) {
  return {rest.begin, std::min(rest.end, (rest.begin / segment_pages + 1) * segment_pages)};
}

HeldPages::HeldPages(Source source) : pagemap_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
  SegmentSet none;
  scans_ = pagemap_ && source == Source::best;
  scans_ = scans_ && scan({0, 1}, Of::anonymous_memory, none);
}

void HeldPages::find(PageRange pages, Of kind, SegmentSet& held) const {
  SegmentSet found;
  if (!(scans_ ? scan(pages, kind, found) : read_words(pages, kind, found))) found = all_of(pages);
  held |= found;
}

std::size_t HeldPages::count(PageRange pages) const {
  std::size_t held = 0;
  for (PageRange segment = first_segment(pages); !segment.empty(); segment = first_segment({segment.end, pages.end})) {
    SegmentSet found;
    find(segment, Of::anonymous_memory, found);
    held += found.count();
  }
  return held;
}

HeldPages::Answer HeldPages::find_huge(PageRange pages) const {
  if (!scans_) return Answer::unknown;
  ScanRegion first;
  Scan question;
  question.begin = pages.bytes().begin;
  question.end = pages.bytes().end;
  question.regions = reinterpret_cast<std::uintptr_t>(&first);
  question.regions_length = question.max_pages = 1;
  question.any_of = question.returned = is_huge;
  const long count = syscall(SYS_ioctl, pagemap_.get(), pagemap_scan, &question);
  if (count < 0) return Answer::unknown;
  return count > 0 ? Answer::yes : Answer::no;
}

bool HeldPages::scan(PageRange pages, Of kind, SegmentSet& held) const {
  std::array<ScanRegion, 32> regions;
  Scan question;
  question.begin = pages.bytes().begin;
  question.end = pages.bytes().end;
  question.regions = reinterpret_cast<std::uintptr_t>(regions.data());
  question.regions_length = regions.size();
  question.inverted = question.all_of = kind == Of::anonymous_memory ? is_zero_page : is_file;
  question.any_of = question.returned = is_present | is_swapped;
  for (; question.begin < question.end; question.begin = question.walked_to) {
    const long count = syscall(SYS_ioctl, pagemap_.get(), pagemap_scan, &question);
    if (count < 0 || question.walked_to <= question.begin) return false;
    for (const ScanRegion& region : std::span(regions).first(static_cast<std::size_t>(count))) {
      held |= all_of({region.begin / page_bytes, region.end / page_bytes});
    }
  }
  return true;
}

bool HeldPages::read_words(PageRange pages, Of kind, SegmentSet& held) const {
  std::array<std::uint64_t, 64> words;
  while (!pages.empty()) {
    const std::size_t wanted = std::min(words.size(), pages.size()) * sizeof words[0];
    const long got = syscall(SYS_pread64, pagemap_.get(), words.data(), wanted, pages.begin * sizeof words[0]);
    if (got != static_cast<long>(wanted)) return false;
    for (std::size_t i = 0; i < wanted / sizeof words[0]; ++i, ++pages.begin) {
      if (is_held(words[i], pages.begin, kind)) held.set(index_in_segment(pages.begin));
    }
  }
  return true;
}

}  // namespace sluice
