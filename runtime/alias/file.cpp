#include "runtime/alias/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/private_views.hpp"
#include "runtime/process/descriptor_room.hpp"

namespace sluice {
namespace {

void* as_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

bool file_size_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t{1} << AliasFile::address_bits);
}

}  // namespace

AliasFile::AliasFile(std::string refusal) : refusal_(std::move(refusal)) {
  if (!refusal_.empty()) return;
  create();
  // Tells now, not at the first message, whether address space for windows is to be had.
  if (usable() && !map_window({0, extent_bytes})) {
    refusal_ = std::string("mmap of an alias window: ") + std::strerror(errno);
    memory_.reset();
  }
}

AliasFile::~AliasFile() { unmap_windows(); }

void AliasFile::create() {
  const auto refuse = [&](const char* call) {
    refusal_ = std::string(call) + ": " + std::strerror(errno);
    memory_.reset();
  };
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(page_bytes)) {
    refusal_ = "pages are not 4 KB";
    return;
  }
  if (file_size_is_limited()) {
    refusal_ = "the file size limit (ulimit -f) is below 128 TB";  // beyond it, writing raises SIGXFSZ
    return;
  }
  if (window_span::address_space_is_limited()) {
    refusal_ = "the address space is limited (ulimit -v)";
    return;
  }
  memory_ = DescriptorRoom::moved_up(Descriptor(memfd_create("sluice-alias", MFD_CLOEXEC)));
  if (!memory_) return refuse("memfd_create");
  if (ftruncate(memory_.get(), off_t{1} << address_bits) != 0) return refuse("ftruncate of the memory file");
  if (fstat(memory_.get(), &identity_) != 0) return refuse("fstat of the memory file");
}

bool AliasFile::intact() const {
  struct stat now {};
  return fstat(memory_.get(), &now) == 0 && now.st_ino == identity_.st_ino && now.st_dev == identity_.st_dev;
}

int AliasFile::store(PageRange pages, const SegmentSet& held) const {
  if (file_size_is_limited()) return EFBIG;
  int error = 0;
  for_each_run(pages, held, [&](PageRange run) { return (error = store_run(run.bytes())) == 0; });
  return error;
}

int AliasFile::store_run(ByteRange bytes) const {
  const PlaceLike place(as_pointer(bytes.begin), numa_nodes_);
  while (!bytes.empty()) {
    // The bare call: thread sanitizers would take it for a race with the writers that the read-only pages hold up.
    const long stored = syscall(SYS_pwrite64, memory_.get(), bytes.begin, bytes.size(), bytes.begin);
    if (stored < 0 && errno == EINTR) continue;
    if (stored <= 0) return stored < 0 ? errno : ENOSPC;
    bytes.begin += static_cast<std::uintptr_t>(stored);
  }
  return 0;
}

bool AliasFile::map_over(PageRange pages, const SegmentSet& held) const {
  constexpr int advice_populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  const ByteRange bytes = pages.bytes();
  std::size_t count = 0;
  for_each_run(pages, held, [&](PageRange run) { return (count += run.size()) != 0; });
  const int whole = count == pages.size() ? MAP_POPULATE : 0;
  void* place = mmap(as_pointer(bytes.begin), bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | whole, memory_.get(),
                     static_cast<off_t>(bytes.begin));
  if (place == MAP_FAILED) return false;
  madvise(place, bytes.size(), MADV_NOHUGEPAGE);  // alias/large_pages.hpp says why
  if (whole == 0) {
    for_each_run(pages, held, [](PageRange run) {
      madvise(as_pointer(run.bytes().begin), run.bytes().size(), advice_populate_write);
      return true;
    });
  }
  if (watcher_) watcher_->note_block(bytes);
  return true;
}

bool AliasFile::make_view(const ProcessMapping& mapping) const {
  private_views::expect(identity_);
  const int protection = (mapping.readable ? PROT_READ : 0) | (mapping.writable ? PROT_WRITE : 0);
  void* const place = as_pointer(mapping.bytes.begin);
  return mmap(place, mapping.bytes.size(), protection, MAP_PRIVATE | MAP_FIXED, memory_.get(),
              static_cast<off_t>(mapping.file_offset)) == place;
}

void AliasFile::populate(PageRange pages) const {
  constexpr int advice_populate_read = 22;  // MADV_POPULATE_READ, Linux 5.14
  if (watcher_) return watcher_->note_dropped(pages);
  madvise(as_pointer(pages.bytes().begin), pages.bytes().size(), advice_populate_read);
}

bool AliasFile::allocate(ByteRange bytes) const {
  return fallocate(memory_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(bytes.begin), static_cast<off_t>(bytes.size())) == 0;
}

bool AliasFile::is_without_holes(ByteRange bytes) const {
  const off_t hole = lseek(memory_.get(), static_cast<off_t>(bytes.begin), SEEK_HOLE);
  return hole >= static_cast<off_t>(bytes.end);
}

void AliasFile::punch(ByteRange bytes) const {
  if (bytes.empty()) return;
  if (registrations_) windows_.for_each_alias(bytes, [this](ByteRange alias) { registrations_->note_freed(alias); });
  fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(bytes.begin),
            static_cast<off_t>(bytes.size()));
}

void AliasFile::abandon() {
  windows_.abandon();
  memory_.reset();
  refusal_ = "forked child";  // short enough to be stored without allocating
}

}  // namespace sluice
