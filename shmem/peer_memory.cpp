#include "shmem/peer_memory.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/shared_copy.hpp"

namespace sluice {

namespace {

/// How a granule is moved the next time.
enum class Way : std::uint8_t { call, populate, store };

constexpr std::size_t most_per_call = std::size_t{1} << 30;  // the kernel moves at most 2 GiB in one call

}  // namespace

/// One window of the file, and for each granule how often it was moved.
class PeerMemory::Window {
 public:
  Window(Mapping memory, Mapping uses) : memory_(std::move(memory)), uses_(std::move(uses)) {}

  [[nodiscard]] std::byte* at(std::size_t offset) const { return memory_.start() + offset; }

  [[nodiscard]] Way way(std::size_t granule) const {
    const unsigned count = uses(granule).load(std::memory_order_relaxed);
    if (count == uses_before_mapping) return Way::populate;
    return count < uses_before_mapping ? Way::call : Way::store;
  }

  /// A use that is lost because another thread counts at the same time does no harm.
  void count_use(std::size_t granule) const {
    const std::uint8_t count = uses(granule).load(std::memory_order_relaxed);
    if (count <= uses_before_mapping) uses(granule).store(static_cast<std::uint8_t>(count + 1), std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::atomic_ref<std::uint8_t> uses(std::size_t granule) const {
    return std::atomic_ref<std::uint8_t>(reinterpret_cast<std::uint8_t*>(uses_.start())[granule]);
  }

  Mapping memory_;
  Mapping uses_;
};

PeerMemory::PeerMemory(Descriptor file) : file_(std::move(file)) {
  struct stat status {};
  if (!file_ || ::fstat(file_.get(), &status) != 0) return;
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  table_ = std::make_unique<Table>();
  refusal_.clear();
  usable_ = true;
}

PeerMemory::~PeerMemory() {
  if (!table_) return;
  for (auto& entry : *table_) delete entry.load(std::memory_order_relaxed);
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

PeerMemory::Window* PeerMemory::window(std::size_t index) {
  std::atomic<Window*>& entry = (*table_)[index];
  if (Window* known = entry.load(std::memory_order_acquire)) return known;
  const std::lock_guard lock(mapping_);
  if (Window* known = entry.load(std::memory_order_acquire)) return known;

  const std::uint64_t begin = index * AliasArena::window_bytes;
  const std::size_t bytes = std::min<std::uint64_t>(AliasArena::window_bytes, file_bytes_ - begin);
  void* memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file_.get(), static_cast<off_t>(begin));
  if (memory == MAP_FAILED) return nullptr;
  Mapping window(memory, bytes);
  // After mlockall(MCL_FUTURE) the kernel would fill an accessible mapping with memory at once.
  if (::munlock(memory, bytes) != 0 || ::mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  // A forked child has no business in the peer's memory, and a core file of 64 GiB helps nobody.
  ::madvise(memory, bytes, MADV_DONTFORK);
  ::madvise(memory, bytes, MADV_DONTDUMP);
  const std::size_t granules = (bytes + granule_bytes - 1) / granule_bytes;
  void* uses = ::mmap(nullptr, granules, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (uses == MAP_FAILED) return nullptr;
  auto* made = new Window(std::move(window), Mapping(uses, granules));
  entry.store(made, std::memory_order_release);
  return made;
}

bool PeerMemory::move_by_call(Piece piece) {
  while (piece.bytes != 0) {
    // Not pread() and pwrite(): Sluice's wrappers of them are for the application's buffers and output, and this is neither.
    const long moved = syscall(piece.call, file_.get(), piece.own, std::min(piece.bytes, most_per_call), piece.offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0)
      return refuse(piece.call == SYS_pread64 ? "pread of the peer's memory file" : "pwrite into the peer's memory file");
    piece.offset += static_cast<std::uint64_t>(moved);
    piece.own += moved;
    piece.bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

bool PeerMemory::move(Piece piece) {
  if (!usable()) return false;
  if (piece.offset > file_bytes_ || piece.bytes > file_bytes_ - piece.offset) {
    errno = EFBIG;
    return refuse("use of the peer's memory file beyond its end");
  }
  while (piece.bytes != 0) {
    Window* there = window(piece.offset / AliasArena::window_bytes);
    if (!there) return refuse("mmap of the peer's memory file");
    Piece within = piece;
    within.bytes = std::min(piece.bytes, AliasArena::window_bytes - piece.offset % AliasArena::window_bytes);
    const std::size_t bytes = move_run(*there, within);
    if (bytes == 0) return false;
    piece.offset += bytes;
    piece.own += bytes;
    piece.bytes -= bytes;
  }
  return true;
}

/// Moves the longest run of granules that are to be moved the same way; returns its length, 0 when that failed.
std::size_t PeerMemory::move_run(Window& there, const Piece& piece) {
  const std::size_t start = piece.offset % AliasArena::window_bytes;
  const Way way = there.way(start / granule_bytes);
  std::size_t bytes = 0;
  while (bytes < piece.bytes && there.way((start + bytes) / granule_bytes) == way) {
    there.count_use((start + bytes) / granule_bytes);
    bytes += std::min(granule_bytes - (start + bytes) % granule_bytes, piece.bytes - bytes);
  }
  if (way == Way::call) return move_by_call({piece.call, piece.offset, piece.own, bytes, piece.lines}) ? bytes : 0;
  std::byte* const shared = there.at(start);
  if (way == Way::populate) {
    const ByteRange pages = PageRange::covering(ByteRange::of(shared, bytes)).bytes();
    // Its failure means a kernel before 5.14, or no memory; in both cases the copy finds out for itself.
    ::madvise(reinterpret_cast<void*>(pages.begin), pages.size(), MADV_POPULATE_WRITE);
  }
  if (piece.call == SYS_pwrite64) {
    copy_to_peer(shared, piece.own, bytes, piece.lines);
  } else {
    copy_from_peer(piece.own, shared, bytes, piece.lines, piece.source);
  }
  return bytes;
}

bool PeerMemory::write(std::uint64_t offset, std::span<const std::byte> source, TargetLines lines) {
  return move({SYS_pwrite64, offset, const_cast<std::byte*>(source.data()), source.size(), lines});
}

bool PeerMemory::read(std::uint64_t offset, std::span<std::byte> target, TargetLines lines, SourceLines source) {
  return move({SYS_pread64, offset, target.data(), target.size(), lines, source});
}

}  // namespace sluice
