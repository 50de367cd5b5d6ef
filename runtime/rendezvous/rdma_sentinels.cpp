// Which pages of a message are there while one read or write of an adapter still brings the rest: a sentinel in the last byte of
// each page, put there before the transfer begins. The granularity that the early-release paper left for the future (ER section
// 5). Chunk completions tell the same of rdrp, in larger steps, and cost one notification each.
//
// Sound because
// * all these bytes lie within the message, so each is overwritten in the end, and nothing has to be put back;
// * the transfer is not posted, or its sender not cleared, before all of them are set;
// * the adapter places data in order (Rdma::places_in_order; otherwise there are none), so a changed byte says that its page and
// all
//   before it are there, and nothing comes to them any more: who is let in may write there;
// * a page whose data has the sentinel's value at that place is not seen, but known as soon as a later one is, and at the end by
//   the completion, the last byte or the fin, as without sentinels. The value is random, so that it is rarely that of all pages.
//
// The last byte of the message has none: get has a value of its own there.

#include <algorithm>
#include <atomic>

#include "runtime/engine/state.hpp"

namespace sluice {
namespace {

/// Shorter messages are not released (release/release.cpp).
constexpr std::size_t least_bytes = 16 * 1024;
/// How many pages are looked at behind one that has not changed.
constexpr std::size_t pages_ahead = 4;

/// The last byte of the page in which byte `offset` of the message lies; both count from the message's start.
std::size_t last_of_page(const RdmaTransfer& transfer, std::size_t offset) {
  const auto address = reinterpret_cast<std::uintptr_t>(transfer.local(offset));
  return offset + (page_bytes - 1 - address % page_bytes);
}

}  // namespace

/// Only where pages may come under guard: at an alias.
void Engine::State::set_sentinels(Request& receive) {
  RdmaTransfer& transfer = *receive.rdma;
  if (!releases() || !transfer.in_block || !transfer.adapter->places_in_order()) return;
  if (receive.stop - receive.offset < least_bytes) return;
  transfer.has_sentinels = true;
  transfer.sentinel = random_byte();
  for (std::size_t at = last_of_page(transfer, receive.offset); at + 1 < receive.stop; at += page_bytes) {
    *transfer.local(at) = transfer.sentinel;
  }
}

/// Moves `offset` to the end of what is there.
void Engine::State::look_at_sentinels(Request& receive) {
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
      ++statistics.pages_seen;
    }
  }
}

/// splitmix64 (Steele, Lea, Flood 2014).
std::byte Engine::State::random_byte() {
  std::uint64_t mixed = random_state += 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::byte>(mixed >> 56);
}

}  // namespace sluice
