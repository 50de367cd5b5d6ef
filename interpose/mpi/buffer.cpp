// Attached buffers: MPI_Buffer_attach and its kin, and those of a communicator (MPI-4.1). The host is given the buffer too: it
// carries the buffered sends of communicators that are not adopted, and checks the arguments.
//
// Flushing waits until no message is in a buffer any more. Sluice keeps none there, so a flush that does not block is the host's
// alone.
#include <atomic>
#include <limits>

#include "interpose/mpi/attached_buffer.hpp"
#include "interpose/mpi/entry.hpp"

namespace sluice {
namespace {

constinit std::atomic<std::size_t> attached_bytes{0};

/// From this size on the host demands room (measured, Open MPI 4.1.4 between processes of a node).
constexpr std::size_t smallest_needing_room = 4096;

bool fits(std::size_t bytes) {
  const std::size_t needed = engine().completion().buffered_bytes(MPI_BSEND_OVERHEAD) + bytes + MPI_BSEND_OVERHEAD;
  return needed <= attached_bytes.load(std::memory_order_relaxed);
}

}  // namespace

bool attached_buffer_has_room(const Communicator& communicator, std::size_t bytes) {
  if (bytes < smallest_needing_room || communicator.has_buffer.load(std::memory_order_relaxed) || fits(bytes)) return true;
  engine().progress();
  return fits(bytes);
}

namespace calls {
namespace {

/// MPI_BUFFER_AUTOMATIC: the library finds room for everything. No address of a buffer.
bool is_automatic(const void* buffer) { return reinterpret_cast<std::uintptr_t>(buffer) == 4; }

template <auto host_call, typename Count>
int attach(CallSite, void* buffer, Count size) {
  const int code = (host().*host_call)(buffer, size);
  const auto bytes = is_automatic(buffer) ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(size);
  if (code == MPI_SUCCESS) attached_bytes.store(bytes, std::memory_order_relaxed);
  return code;
}

template <auto host_call, typename Count>
int detach(CallSite, void* buffer, Count* size) {
  engine().completion().wait_buffered();
  attached_bytes.store(0, std::memory_order_relaxed);
  return (host().*host_call)(buffer, size);
}

int Buffer_flush(CallSite) {
  engine().completion().wait_buffered();
  const HostCall call;
  return host().Buffer_flush();
}

int Buffer_iflush(CallSite, MPI_Request* request) {
  const HostCall call;
  return host_activity().started(host().Buffer_iflush(request), request);
}

template <auto host_call, typename Count>
int attach_to_communicator(CallSite, MPI_Comm comm, void* buffer, Count size) {
  const int code = (host().*host_call)(comm, buffer, size);
  Communicator* communicator = adopted(comm);
  if (communicator && code == MPI_SUCCESS) communicator->has_buffer.store(true, std::memory_order_relaxed);
  return code;
}

template <auto host_call, typename Count>
int detach_from_communicator(CallSite, MPI_Comm comm, void* buffer, Count* size) {
  if (Communicator* communicator = adopted(comm)) {
    engine().completion().wait_buffered(*communicator->context);
    communicator->has_buffer.store(false, std::memory_order_relaxed);
  }
  const HostCall call;
  return (host().*host_call)(comm, buffer, size);
}

int Comm_flush_buffer(CallSite, MPI_Comm comm) {
  if (const Communicator* communicator = adopted(comm)) engine().completion().wait_buffered(*communicator->context);
  const HostCall call;
  return host().Comm_flush_buffer(comm);
}

int Comm_iflush_buffer(CallSite, MPI_Comm comm, MPI_Request* request) {
  const HostCall call;
  return host_activity().started(host().Comm_iflush_buffer(comm, request), request);
}

constexpr auto Buffer_attach = attach<&HostTable::Buffer_attach, int>;
constexpr auto Buffer_attach_c = attach<&HostTable::Buffer_attach_c, MPI_Count>;
constexpr auto Buffer_detach = detach<&HostTable::Buffer_detach, int>;
constexpr auto Buffer_detach_c = detach<&HostTable::Buffer_detach_c, MPI_Count>;
constexpr auto Comm_attach_buffer = attach_to_communicator<&HostTable::Comm_attach_buffer, int>;
constexpr auto Comm_attach_buffer_c = attach_to_communicator<&HostTable::Comm_attach_buffer_c, MPI_Count>;
constexpr auto Comm_detach_buffer = detach_from_communicator<&HostTable::Comm_detach_buffer, int>;
constexpr auto Comm_detach_buffer_c = detach_from_communicator<&HostTable::Comm_detach_buffer_c, MPI_Count>;

}  // namespace
}  // namespace calls
}  // namespace sluice

#include "exports.hpp"
EXPORT(Buffer_attach)
EXPORT(Buffer_attach_c)
EXPORT(Buffer_detach)
EXPORT(Buffer_detach_c)
EXPORT(Buffer_flush)
EXPORT(Buffer_iflush)
EXPORT(Comm_attach_buffer)
EXPORT(Comm_attach_buffer_c)
EXPORT(Comm_detach_buffer)
EXPORT(Comm_detach_buffer_c)
EXPORT(Comm_flush_buffer)
EXPORT(Comm_iflush_buffer)
