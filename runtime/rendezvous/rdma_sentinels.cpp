#include "runtime/rendezvous/rdma_sentinels.hpp"

#include <atomic>

namespace sluice {
namespace {

/// Shorter messages are not released (release/decision.hpp).
constexpr std::size_t min_bytes = 16 * 1024;
/// How many pages are looked at behind one that has not changed.
constexpr std::size_t pages_ahead = 4;

/// The last byte of the page in which byte `offset` of the message lies; both count from the message's start.
std::size_t last_of_page(const RdmaTransfer& transfer, std::size_t offset) {
  const auto address = reinterpret_cast<std::uintptr_t>(transfer.local(offset));
  return offset + (page_bytes - 1 - address % page_bytes);
}

}  // namespace

void RdmaSentinels::set(Request& receive) {
  RdmaTransfer& transfer = *receive.rdma;
  if (!users_.may_be_closed() || !transfer.in_block || !transfer.adapter->places_in_order()) return;
  if (receive.stop - receive.offset < min_bytes) return;
  transfer.has_sentinels = true;
  transfer.sentinel = random_byte();
  for (std::size_t at = last_of_page(transfer, receive.offset); at + 1 < receive.stop; at += page_bytes) {
    *transfer.local(at) = transfer.sentinel;
  }
}

void RdmaSentinels::look(Request& receive) {
  if (!receive.rdma || !receive.rdma->has_sentinels) return;
  const RdmaTransfer& transfer = *receive.rdma;
  std::size_t unchanged = 0;
  for (std::size_t at = last_of_page(transfer, receive.offset); at + 1 < receive.stop && unchanged < pages_ahead;
       at += page_bytes) {
    // What an adapter writes is no access of any thread's; the loads of the page may not be moved before this one.
    if (std::atomic_ref(*transfer.local(at)).load(std::memory_order_acquire) == transfer.sentinel) {
      ++unchanged;
    } else {
      unchanged = 0;
      receive.offset = at + 1;
      ++statistics_.pages_seen;
    }
  }
}

/// splitmix64 (Steele, Lea, Flood 2014).
std::byte RdmaSentinels::random_byte() {
  std::uint64_t mixed = random_state_ += 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::byte>(mixed >> 56);
}

}  // namespace sluice
