#include "shmem/inbox.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>

namespace sluice {

namespace {

constexpr std::size_t max_ring_bytes = std::size_t{128} << 10;  // larger ones were not faster (apps/bench/micro/ring_bench.cpp)
constexpr std::size_t min_ring_bytes = std::size_t{32} << 10;
constexpr std::size_t max_inbox_bytes = std::size_t{16} << 20;

constexpr std::size_t round_to_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

Mapping map_file(const Descriptor& file, std::size_t bytes) {
  void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (start == MAP_FAILED) throw_errno("mmap of an inbox");
  return {start, bytes};
}

}  // namespace

InboxLayout::InboxLayout(std::size_t processes) {
  const std::size_t count = std::max<std::size_t>(processes, 1);
  if (count > max_processes) throw std::runtime_error("more than 4096 processes on one node");
  ring_capacity_ = std::clamp(std::bit_floor(max_inbox_bytes / count), min_ring_bytes, max_ring_bytes);
  contact_words_ = (count + 63) / 64;
  slots_at_ = round_to_pages(3 * cache_line + contact_words_ * sizeof(std::uint64_t));
  loads_at_ = slots_at_ + slots * cache_line;
  const std::size_t load_lines = (count * sizeof(std::uint64_t) + cache_line - 1) / cache_line;
  marks_at_ = loads_at_ + (1 + load_lines) * cache_line;
  controls_at_ = marks_at_ + marks * mark_stride;
  buffers_at_ = round_to_pages(controls_at_ + count * sizeof(RingControl));
  lanes_at_ = round_to_pages(buffers_at_ + count * ring_capacity_);
  bytes_ = lanes_at_ + LaneMemory::lanes_of_a_process * LaneMemory::lane_bytes;
}

std::uint64_t layout_fingerprint() {
  constexpr std::uint64_t version = 10;
  constexpr std::uint64_t sizes = sizeof(WireHeader) << 48 | sizeof(ClearToSend) << 40 | sizeof(ReadyToSend) << 32 |
                                  sizeof(RingControl) << 20 | InboxLayout::slots << 8;
  return sizes | version;
}

Inbox Inbox::create(std::size_t processes, const Token& token, Descriptor& file) {
  const InboxLayout layout(processes);
  file = Descriptor(checked(::memfd_create("sluice-inbox", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create"));
  checked(::ftruncate(file.get(), static_cast<off_t>(layout.bytes())), "ftruncate of an inbox");
  checked(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), "sealing of an inbox");
  Inbox inbox(map_file(file, layout.bytes()), layout);
  new (inbox.memory_.start()) InboxIdentity{layout_fingerprint(), token};
  return inbox;
}

Inbox Inbox::open(const Descriptor& file, std::size_t processes, const Token& token) {
  const InboxLayout layout(processes);
  struct stat status {};
  checked(::fstat(file.get(), &status), "fstat of an inbox");
  if (static_cast<std::size_t>(status.st_size) != layout.bytes() || !(::fcntl(file.get(), F_GET_SEALS) & F_SEAL_SHRINK)) {
    throw std::runtime_error("its inbox has " + std::to_string(status.st_size) + " bytes instead of " +
                             std::to_string(layout.bytes()) + ", or may shrink");
  }
  Inbox inbox(map_file(file, layout.bytes()), layout);
  if (inbox.identity().token != token || inbox.identity().layout != layout_fingerprint()) {
    throw std::runtime_error("its inbox does not carry the announced token");
  }
  return inbox;
}

}  // namespace sluice
