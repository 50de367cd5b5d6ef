#include "runtime/alias/private_views.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

namespace sluice::private_views {
namespace {

struct stat identity {};
std::atomic<bool> is_expected{false};

}  // namespace

void expect(const struct stat& file) {
  if (expected() && identity.st_ino == file.st_ino) return;
  identity = file;
  is_expected.store(true, std::memory_order_release);
}

bool expected() { return is_expected.load(std::memory_order_acquire); }

bool include(const ProcessMapping& mapping) { return expected() && !mapping.shared && mapping.is_file(identity); }

void drop(ByteRange bytes) {
  const ByteRange inside{(bytes.begin + page_bytes - 1) / page_bytes * page_bytes, bytes.end / page_bytes * page_bytes};
  if (!expected() || inside.empty()) return;
  const ProcessMaps maps;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps, inside.begin); walk.next(mapping) && mapping.bytes.begin < inside.end;) {
    if (!include(mapping)) continue;
    const ByteRange part{std::max(mapping.bytes.begin, inside.begin), std::min(mapping.bytes.end, inside.end)};
    const int protection = (mapping.readable ? PROT_READ : 0) | (mapping.writable ? PROT_WRITE : 0);
    mmap(reinterpret_cast<void*>(part.begin), part.size(), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
}

}  // namespace sluice::private_views
