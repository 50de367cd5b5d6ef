#include "shmem/peer_memory.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "runtime/copy/shared_copy.hpp"
#include "runtime/process/window_span.hpp"

namespace sluice {

namespace {

/// How a granule is moved the next time.
enum class Way : std::uint8_t { call, populate, store };

constexpr std::size_t max_per_call = std::size_t{1} << 30;  // the kernel moves at most 2 GiB in one call

/// Beyond RLIMIT_FSIZE a write ends the program.
bool may_write_up_to(std::uint64_t end) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || end <= limit.rlim_cur;
}

}  // namespace

/// 64 GB of the file: for each granule how often it was moved, for each extent whether it is mapped, and the place of each GB
/// once some of it is. All zeros at first, of which only what is used occupies memory.
class PeerMemory::Region {
 public:
  static constexpr std::uint64_t span = std::uint64_t{1} << 36;
  static constexpr std::size_t window_bytes = std::size_t{1} << 30;  // what one run is in at most

  /// nullptr when there is no memory.
  static Region* make(std::uint64_t begin, Region* next);
  static void destroy(Region* region);

  [[nodiscard]] bool holds(std::uint64_t offset) const { return offset / span == begin_ / span; }
  [[nodiscard]] Region* next() const { return next_; }

  [[nodiscard]] Way way(std::uint64_t offset) {
    const unsigned count = uses(offset).load(std::memory_order_relaxed);
    if (count == uses_before_mapping) return Way::populate;
    return count < uses_before_mapping ? Way::call : Way::store;
  }

  /// A use that is lost because another thread counts at the same time does no harm.
  void count_use(std::uint64_t offset) {
    const std::uint8_t count = uses(offset).load(std::memory_order_relaxed);
    if (count <= uses_before_mapping) uses(offset).store(static_cast<std::uint8_t>(count + 1), std::memory_order_relaxed);
  }

  /// Where the bytes are mapped, all in one window; nullptr while some of them are not.
  [[nodiscard]] std::byte* find(std::uint64_t offset, std::size_t bytes);
  /// Maps what is missing, with the lock held.
  [[nodiscard]] bool map(int file, std::uint64_t offset, std::size_t bytes);
  void unmap();

 private:
  static constexpr std::size_t extent_bytes = window_span::extent_bytes;
  static constexpr std::size_t extents = span / extent_bytes;

  std::atomic_ref<std::uint8_t> uses(std::uint64_t offset) { return std::atomic_ref(uses_[offset % span / granule_bytes]); }
  std::atomic_ref<bool> mapped(std::size_t extent) { return std::atomic_ref(mapped_[extent]); }
  std::atomic_ref<std::uintptr_t> window_at(std::uint64_t at) { return std::atomic_ref(windows_[at / window_bytes]); }

  std::uint64_t begin_;
  Region* next_;
  bool any_mapped_;                                          // with the lock held
  std::array<std::uintptr_t, span / window_bytes> windows_;  // written with the lock held, before `mapped_`
  std::array<bool, extents> mapped_;                         // release, acquire
  std::array<std::uint8_t, span / granule_bytes> uses_;      // relaxed
};

/// No constructor runs: that would touch all of it.
PeerMemory::Region* PeerMemory::Region::make(std::uint64_t begin, Region* next) {
  static_assert(std::is_trivially_default_constructible_v<Region>);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const memory = ::mmap(nullptr, sizeof(Region), PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const made = static_cast<Region*>(memory);
  made->begin_ = begin;
  made->next_ = next;
  return made;
}

void PeerMemory::Region::destroy(Region* region) {
  region->unmap();
  for (const std::uintptr_t window : region->windows_) {
    if (window != 0) window_span::give_back(window, window_bytes);
  }
  ::munmap(region, sizeof(Region));
}

std::byte* PeerMemory::Region::find(std::uint64_t offset, std::size_t bytes) {
  const std::uint64_t at = offset % span;
  for (std::uint64_t extent = at / extent_bytes; extent * extent_bytes < at + bytes; ++extent) {
    if (!mapped(extent).load(std::memory_order_acquire)) return nullptr;
  }
  return reinterpret_cast<std::byte*>(window_at(at).load(std::memory_order_relaxed) + at % window_bytes);
}

bool PeerMemory::Region::map(int file, std::uint64_t offset, std::size_t bytes) {
  const std::uint64_t at = offset % span;
  if (window_at(at).load(std::memory_order_relaxed) == 0)
    window_at(at).store(window_span::take(window_bytes), std::memory_order_relaxed);
  const std::uintptr_t window = window_at(at).load(std::memory_order_relaxed);
  if (window == 0) return false;
  const std::uint64_t last = (at + bytes - 1) / extent_bytes;
  for (std::uint64_t extent = at / extent_bytes; extent <= last; ++extent) {
    std::uint64_t end = extent;
    while (end <= last && !mapped(end).load(std::memory_order_relaxed)) ++end;
    if (end == extent) continue;
    const std::uintptr_t there = window + extent * extent_bytes % window_bytes;
    const ByteRange missing{there, there + (end - extent) * extent_bytes};
    if (!window_span::map(missing, file, begin_ + extent * extent_bytes)) return false;
    any_mapped_ = true;
    for (; extent < end; ++extent) mapped(extent).store(true, std::memory_order_release);
  }
  return true;
}

void PeerMemory::Region::unmap() {
  if (!any_mapped_) return;
  for (std::size_t extent = 0; extent < extents; ++extent) {
    if (!mapped(extent).load(std::memory_order_relaxed)) continue;
    mapped(extent).store(false, std::memory_order_relaxed);
    const std::uint64_t at = extent * extent_bytes;
    ::munmap(reinterpret_cast<void*>(window_at(at).load(std::memory_order_relaxed) + at % window_bytes), extent_bytes);
  }
  any_mapped_ = false;
}

PeerMemory::PeerMemory(Descriptor file) : file_(std::move(file)) {
  struct stat status {};
  if (!file_ || ::fstat(file_.get(), &status) != 0) return;
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  refusal_.clear();
  usable_ = true;
}

PeerMemory::~PeerMemory() {
  for (Region* region = regions_.load(std::memory_order_relaxed); region;) Region::destroy(std::exchange(region, region->next()));
}

void PeerMemory::leave_address_space() {
  const std::lock_guard lock(mapping_);
  for (Region* region = regions_.load(std::memory_order_relaxed); region; region = region->next()) region->unmap();
}

std::string PeerMemory::refusal() const {
  const std::lock_guard lock(mapping_);
  return refusal_;
}

bool PeerMemory::refuse(const char* call) {
  const int error = errno;
  const std::lock_guard lock(mapping_);
  if (refusal_.empty()) refusal_ = std::string(call) + ": " + std::generic_category().message(error);
  usable_ = false;
  return false;
}

/// nullptr when there is no memory for one, or no address space.
PeerMemory::Region* PeerMemory::region_of(std::uint64_t offset) {
  const auto find = [&]() -> Region* {
    Region* region = regions_.load(std::memory_order_acquire);
    while (region && !region->holds(offset)) region = region->next();
    return region;
  };
  if (Region* known = find()) return known;
  const std::lock_guard lock(mapping_);
  if (Region* known = find()) return known;
  if (window_span::address_space_is_limited()) return nullptr;
  Region* const made = Region::make(offset / Region::span * Region::span, regions_.load(std::memory_order_relaxed));
  if (made) regions_.store(made, std::memory_order_release);
  return made;
}

bool PeerMemory::move_by_call(Segment segment) {
  while (segment.bytes != 0) {
    // Not pread() and pwrite(): Sluice's wrappers of them are for the application's buffers and output, and this is neither.
    const long moved = syscall(segment.call, file_.get(), segment.own, std::min(segment.bytes, max_per_call), segment.offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0)
      return refuse(segment.call == SYS_pread64 ? "pread of the peer's memory file" : "pwrite into the peer's memory file");
    segment.offset += static_cast<std::uint64_t>(moved);
    segment.own += moved;
    segment.bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

bool PeerMemory::move(Segment segment) {
  if (!usable()) return false;
  if (segment.offset > file_bytes_ || segment.bytes > file_bytes_ - segment.offset) {
    errno = EFBIG;
    return refuse("use of the peer's memory file beyond its end");
  }
  while (segment.bytes != 0) {
    Segment within = segment;
    within.bytes = std::min(segment.bytes, Region::window_bytes - segment.offset % Region::window_bytes);
    const std::size_t bytes = move_run(region_of(segment.offset), within);
    if (bytes == 0) return false;
    segment.offset += bytes;
    segment.own += bytes;
    segment.bytes -= bytes;
  }
  return true;
}

/// Moves the longest run of granules that are to be moved the same way; returns its length, 0 when that failed.
std::size_t PeerMemory::move_run(Region* region, const Segment& segment) {
  Segment run = segment;
  const auto call_is_refused = [&] { return segment.call == SYS_pwrite64 && !may_write_up_to(segment.offset + segment.bytes); };
  Way way = Way::call;
  if (region) {
    way = region->way(segment.offset);
    run.bytes = 0;
    while (run.bytes < segment.bytes && region->way(segment.offset + run.bytes) == way) {
      region->count_use(segment.offset + run.bytes);
      run.bytes += std::min(granule_bytes - (segment.offset + run.bytes) % granule_bytes, segment.bytes - run.bytes);
    }
    if (way == Way::call && call_is_refused()) way = Way::populate;
  }
  std::byte* shared = way == Way::call ? nullptr : region->find(run.offset, run.bytes);
  if (way != Way::call && !shared) {
    way = Way::populate;
    const std::lock_guard lock(mapping_);
    if (region->map(file_.get(), run.offset, run.bytes)) shared = region->find(run.offset, run.bytes);
  }
  if (!shared) {
    if (call_is_refused()) return errno = EFBIG, refuse("pwrite into the peer's memory file"), 0;
    return move_by_call(run) ? run.bytes : 0;
  }
  if (way == Way::populate) {
    const ByteRange pages = PageRange::covering(ByteRange::of(shared, run.bytes)).bytes();
    // Its failure means a kernel before 5.14, or no memory; in both cases the copy finds out for itself.
    ::madvise(reinterpret_cast<void*>(pages.begin), pages.size(), MADV_POPULATE_WRITE);
  }
  move_mapped(shared, run);
  return run.bytes;
}

void PeerMemory::move_mapped(std::byte* shared, const Segment& segment) {
  if (segment.call == SYS_pwrite64) {
    copy_to_peer(shared, segment.own, segment.bytes, segment.lines);
  } else {
    copy_from_peer(segment.own, shared, segment.bytes, segment.lines, segment.source);
  }
}

bool PeerMemory::write(std::uint64_t offset, std::span<const std::byte> source, TargetLines lines) {
  return move({SYS_pwrite64, offset, const_cast<std::byte*>(source.data()), source.size(), lines});
}

bool PeerMemory::read(std::uint64_t offset, std::span<std::byte> target, TargetLines lines, SourceLines source) {
  return move({SYS_pread64, offset, target.data(), target.size(), lines, source});
}

}  // namespace sluice
