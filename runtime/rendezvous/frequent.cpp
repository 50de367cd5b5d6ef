// Small messages straight from the program's memory (FB, sections 3.1 and 3.3): which, and how they leave. frequent_sends.hpp has
// the rule; the transport gathers header and payload, by either of its paths.
//
// Such a send is over when the adapter has read the memory, not when its call returns: a request of MPI_Isend is complete
// then, and MPI_Send would wait for it, a round trip of the network. So by default only nonblocking sends go this way
// (SLUICE_FREQUENT_SENDS). Nobody is woken for that end while the program computes.
//
//   counted → (frequent, memory registered, room) gathered → (the adapter has read it) complete
//           → (anything else)                     copied into a send slot, complete
//
// The order of messages is that of any other: this only changes where the payload lies.

#include <sys/mman.h>

#include <cstring>

#include "runtime/base/clock.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/guard/held_signals.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

constexpr std::size_t probe_pages = 4;
constexpr std::size_t probe_copies = 16;  // each to a place of its own, as send slots are
constexpr int probe_uses = 16;

double elapsed_ns(std::uint64_t since) { return static_cast<double>(now_ns() - since); }

}  // namespace

bool Engine::State::reaches_by_rdma() const {
  for (std::size_t peer = 0; peer < outgoing.size(); ++peer) {
    if (rdma_for(static_cast<Peer>(peer))) return true;
  }
  return false;
}

bool Engine::State::is_frequent(const Context& context, Rank to, const std::byte* data, std::size_t bytes) {
  if (!frequent || bytes < frequent->least_bytes()) return false;
  const Peer peer = context.peer(to);
  Rdma* const adapter = rdma_for(peer);
  if (!adapter || bytes > eager_limits[static_cast<std::size_t>(peer)]) return false;
  return frequent->use(ByteRange::of(data, bytes), [&] { return measure_frequent_terms(*adapter); });
}

/// False: it has to be copied; nothing was done.
bool Engine::State::send_gathered(Request& send, const MessageHeader& header) {
  const ByteRange range = send.range();
  // Data that a released receive still waits for is not to be sent before it is there: a copy waits.
  if (guard && guard->covers(range)) return false;
  if (!in_alias_block(range, BufferHistory::Use::frequent)) {
    frequent->forget(range);
    return false;
  }
  Rdma& adapter = *rdma_for(send.peer);
  const ByteRange alias = ByteRange::of(arena->alias(range.begin), range.size());
  RegisteredMemory memory = job_registrations.acquire(adapter, alias, Backing::alias);
  if (!memory) {
    frequent->forget(range);
    return false;
  }
  const std::span<const std::byte> payload(arena->alias(range.begin), range.size());
  RdmaPiece* const piece = rdma_transfers.post_by(
      [&](std::uint64_t token) { return adapter.send_gathered(send.peer, header, payload, memory.local_key(), token); });
  if (!piece) return false;
  send.rdma = std::make_unique<RdmaTransfer>();
  RdmaTransfer& transfer = *send.rdma;
  transfer.request = &send;
  transfer.user = &rdma_way;
  transfer.adapter = &adapter;
  transfer.memory = std::move(memory);
  transfer.in_block = transfer.eager = true;
  transfer.posted = transfer.end = send.bytes;
  rdma_transfers.enter(*piece, transfer, 0, send.bytes);
  ++gathered_sends;
  ++statistics.gathered_sends;
  return true;
}

void Engine::State::on_gathered(Request& send) {
  --gathered_sends;
  finish(&send);
}

/// Some 100 µs, once, in memory of its own.
FrequentTerms Engine::State::measure_frequent_terms(Rdma& adapter) {
  constexpr std::size_t bytes = probe_pages * page_bytes;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  frequent_probe = Mapping(memory, bytes);
  std::memset(memory, 1, bytes);
  const ByteRange range = ByteRange::of(memory, bytes);
  FrequentTerms terms;

  const auto slots = std::make_unique<std::byte[]>(probe_copies * bytes);  // touched by their making
  std::uint64_t began = now_ns();
  for (std::size_t i = 0; i < probe_copies; ++i) copy_from_user(slots.get() + i * bytes, frequent_probe.start(), bytes);
  const double copies_ns = elapsed_ns(began);

  held_signals::hold();
  began = now_ns();
  if (!migrate(range)) return {};
  const ByteRange alias = ByteRange::of(arena->alias(range.begin), bytes);
  if (!job_registrations.acquire(adapter, alias, Backing::alias)) return {};
  terms.register_per_page = elapsed_ns(began) / probe_pages;

  began = now_ns();
  for (int i = 0; i < probe_uses; ++i) {
    if (!arena->is_live(range) || !job_registrations.acquire(adapter, alias, Backing::alias)) return {};
  }
  terms.use = elapsed_ns(began) / probe_uses;
  terms.copy_per_byte = copies_ns / static_cast<double>(probe_copies * bytes);
  return terms;
}

}  // namespace sluice
