// MPI_Buffer_attach and MPI_Buffer_detach. The host is given the buffer too: it carries the buffered sends of communicators that
// are not adopted, and checks the arguments.
#include <atomic>

#include "interpose/attached_buffer.hpp"
#include "interpose/entry.hpp"

namespace sluice {
namespace {

constinit std::atomic<std::size_t> attached_bytes{0};

/// From this size on the host demands room (measured, Open MPI 4.1.4 between processes of a node).
constexpr std::size_t smallest_needing_room = 4096;

bool fits(std::size_t bytes) {
  const std::size_t needed = engine().buffered_bytes(MPI_BSEND_OVERHEAD) + bytes + MPI_BSEND_OVERHEAD;
  return needed <= attached_bytes.load(std::memory_order_relaxed);
}

}  // namespace

bool attached_buffer_has_room(std::size_t bytes) {
  if (bytes < smallest_needing_room || fits(bytes)) return true;
  engine().progress();
  return fits(bytes);
}

namespace calls {
namespace {

int Buffer_attach(CallSite, void* buffer, int size) {
  const int code = host().Buffer_attach(buffer, size);
  if (code == MPI_SUCCESS) attached_bytes.store(static_cast<std::size_t>(size), std::memory_order_relaxed);
  return code;
}

int Buffer_detach(CallSite, void* buffer, int* size) {
  engine().wait_buffered();
  attached_bytes.store(0, std::memory_order_relaxed);
  return host().Buffer_detach(buffer, size);
}

}  // namespace
}  // namespace calls
}  // namespace sluice

#include "exports.hpp"
EXPORT(Buffer_attach)
EXPORT(Buffer_detach)
