#include "runtime/trace/file.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "runtime/base/clock.hpp"
#include "runtime/base/fatal.hpp"

namespace sluice::trace {
namespace {

/// The file grows by so much: one system call for 64 chunks.
constexpr std::size_t growth_bytes = std::size_t{1} << 20;
/// Of making a file where others do the same.
constexpr int max_attempts = 1000;
/// Since Linux 5.14; older headers lack it.
constexpr int populate_for_writing = 23;

// Bare system calls: the C library's names are wrapped, and may wait.
long reserve_space(int file, std::size_t begin, std::size_t bytes) {
  long result = 0;
  do {
    result = syscall(SYS_fallocate, file, 0, begin, bytes);
  } while (result != 0 && errno == EINTR);
  return result;
}

/// For file systems that cannot reserve. Not while anybody writes there.
bool fill_with_zeros(int file, std::size_t bytes) {
  constexpr std::size_t piece = std::size_t{64} << 10;
  const auto zeros = std::make_unique<char[]>(piece);
  for (std::size_t at = 0; at < bytes;) {
    const long written = syscall(SYS_pwrite64, file, zeros.get(), std::min(piece, bytes - at), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

File::Identity identity_of(int file) {
  struct stat found {};
  if (syscall(SYS_fstat, file, &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

}  // namespace

File::File(std::string path, FileHeader header) : path_(std::move(path)), header_(header) {
  const std::size_t limit = std::max<std::size_t>(header_.limit_bytes, min_bytes);
  header_.table_slots = table_slots;
  header_.table_offset = table_offset;
  header_.chunks_offset = chunks_offset;
  header_.chunks = static_cast<std::uint32_t>(std::min<std::size_t>((limit - chunks_offset) / chunk_bytes, ~std::uint32_t{0}));
  header_.check = check_before(header_);
  make();
  put(0, &header_, sizeof header_);
}

void File::make() {
  const auto fail = [&](const char* what) { throw std::runtime_error(path_ + ": " + what + ": " + std::strerror(errno)); };
  // A running program may have a file of that name mapped: it keeps the old one. Another job may replace it at the same moment.
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    if (::unlink(path_.c_str()) != 0 && errno != ENOENT) fail("cannot replace it");
    descriptor_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (descriptor_ || errno != EEXIST) break;
  }
  if (!descriptor_) fail("cannot be made");
  identity_ = identity_of(descriptor_.get());
  const std::size_t limit = chunks_offset + header_.chunks * chunk_bytes;
  const std::size_t first = std::min(limit, first_bytes);
  const bool can_reserve = reserve_space(descriptor_.get(), 0, first) == 0;
  const bool unknown = !can_reserve && (errno == EOPNOTSUPP || errno == ENOSYS);
  if (!can_reserve && !(unknown && fill_with_zeros(descriptor_.get(), first))) {
    const int cause = errno;
    ::unlink(path_.c_str());
    errno = cause;
    fail("no room for the first records");
  }
  chunks_ = can_reserve ? header_.chunks : (first - chunks_offset) / chunk_bytes;
  reserved_ = first;
  void* start = mmap(nullptr, limit, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
  if (start == MAP_FAILED) fail("cannot be mapped");
  mapping_ = Mapping(start, limit);
  void* flags = mmap(nullptr, header_.chunks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (flags == MAP_FAILED) fail("no memory for its chunks");
  taken_memory_ = Mapping(flags, header_.chunks);
  taken_ = static_cast<std::atomic<std::uint8_t>*>(flags);
  filled_ = syscall(SYS_madvise, start, first, populate_for_writing) == 0 ? first : 0;
}

void File::put(std::size_t offset, const void* bytes, std::size_t count) { std::memcpy(mapping_.start() + offset, bytes, count); }

/// A program that closes all descriptors gives ours to another file.
bool File::owns_descriptor() const {
  if (identity_of(descriptor_.get()) == identity_) return true;
  errno = EBADF;
  return false;
}

/// Every byte before `end` exists. False when the disk is full.
bool File::reserve(std::size_t end) {
  const std::size_t begin = reserved_.load(std::memory_order_acquire);
  if (end <= begin) return true;
  const std::size_t wanted = std::min((end + growth_bytes - 1) / growth_bytes * growth_bytes, mapping_.bytes());
  if (!owns_descriptor() || reserve_space(descriptor_.get(), begin, wanted - begin) != 0) {
    const int cause = errno;
    const std::size_t left = (begin - chunks_offset) / chunk_bytes;
    chunks_.store(left, std::memory_order_relaxed);
    if (!disk_full_.exchange(true, std::memory_order_relaxed)) {
      report("warning: %s: cannot grow beyond %zu bytes (%s); the %s records are kept", path_.c_str(), begin,
             std::strerror(cause), header_.keep == Keep::newest ? "newest" : "oldest");
    }
    return false;
  }
  std::size_t known = begin;
  while (known < wanted && !reserved_.compare_exchange_weak(known, wanted, std::memory_order_release)) {
  }
  return true;
}

/// One system call instead of a page fault for every page.
void File::fetch_pages(std::size_t index) {
  const std::size_t begin = chunks_offset + index * chunk_bytes;
  if (begin + chunk_bytes > filled_) syscall(SYS_madvise, mapping_.start() + begin, chunk_bytes, populate_for_writing);
}

File::Chunk File::use(std::uint64_t ticket, std::size_t index) {
  const std::size_t end = chunks_offset + (index + 1) * chunk_bytes;
  if (!reserve(end)) return {};
  fetch_pages(index);
  std::size_t known = top_.load(std::memory_order_relaxed);
  while (known < end && !top_.compare_exchange_weak(known, end, std::memory_order_relaxed)) {
  }
  std::byte* const start = mapping_.start() + end - chunk_bytes;
  ChunkHeader before;
  std::memcpy(&before, start, sizeof before);
  return {start, index, ticket + 1, before.sequence};
}

File::Chunk File::take() {
  Chunk chunk;
  visitors_.fetch_add(1, std::memory_order_seq_cst);
  // Each round takes another chunk, or finds fewer of them usable; every one may have an owner.
  for (std::size_t attempts = 0; !closed_.load(std::memory_order_seq_cst); ++attempts) {
    const std::size_t chunks = chunks_.load(std::memory_order_relaxed);
    if (chunks == 0 || attempts > chunks) break;
    if (header_.keep == Keep::oldest && next_.load(std::memory_order_relaxed) >= chunks) break;
    const std::uint64_t ticket = next_.fetch_add(1, std::memory_order_relaxed);
    if (header_.keep == Keep::oldest && ticket >= chunks) break;
    const std::size_t index = ticket % chunks;
    if (taken_[index].exchange(1, std::memory_order_acquire) != 0) continue;
    chunk = use(ticket, index);
    if (chunk.start) break;
    give_back(index);
  }
  visitors_.fetch_sub(1, std::memory_order_seq_cst);
  return chunk;
}

void File::give_back(std::size_t index) { taken_[index].store(0, std::memory_order_release); }

TableSlot* File::take_slots(std::size_t count, std::uint32_t& first) {
  first = next_slot_.load(std::memory_order_relaxed);
  do {
    if (first + count > table_slots) {
      lost_entries_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
  } while (!next_slot_.compare_exchange_weak(first, first + static_cast<std::uint32_t>(count), std::memory_order_relaxed));
  return reinterpret_cast<TableSlot*>(mapping_.start() + table_offset) + first;
}

void File::close(EndCause cause) {
  closed_.store(true, std::memory_order_seq_cst);
  while (visitors_.load(std::memory_order_seq_cst) != 0) sched_yield();
  FileEnd end;
  end.time_ns = now_ns();
  end.chunks_taken = next_.load(std::memory_order_relaxed);
  end.lost_records = lost();
  end.lost_entries = lost_entries_.load(std::memory_order_relaxed);
  end.cause = disk_full_.load(std::memory_order_relaxed) ? EndCause::disk_full : cause;
  end.check = check_before(end);
  put(file_end_offset, &end, sizeof end);
  const std::size_t used = std::max(top_.load(std::memory_order_relaxed), chunks_offset);
  if (owns_descriptor()) static_cast<void>(syscall(SYS_ftruncate, descriptor_.get(), used));
}

}  // namespace sluice::trace
