#include "runtime/rendezvous/frequent_sender.hpp"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/guard/held_signals.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

constexpr std::size_t probe_pages = 4;
constexpr std::size_t probe_copies = 16;  // each to a place of its own, as send slots are
constexpr int probe_uses = 16;

double elapsed_ns(std::uint64_t since) { return static_cast<double>(now_ns() - since); }

}  // namespace

FrequentSender::FrequentSender(const Parts& parts) : parts_(parts) {
  const Job& job = parts_.job;
  const bool usable = job.transport && job.arena && job.arena->usable() && job.config.frequent_sends != FrequentChoice::off;
  if (usable && reaches_anybody()) {
    table_ = std::make_unique<FrequentSends>(static_cast<unsigned>(job.config.frequent_share));
  }
}

bool FrequentSender::reaches_anybody() const {
  for (std::size_t peer = 0; peer < parts_.job.size; ++peer) {
    if (adapter_for(static_cast<Peer>(peer))) return true;
  }
  return false;
}

bool FrequentSender::count(Peer to, ByteRange message) {
  Rdma* const adapter = adapter_for(to);
  if (!adapter || message.size() > parts_.job.eager_limit_of(to)) return false;
  return table_->use(message, [&] { return measure_terms(*adapter); });
}

bool FrequentSender::send(Request& send, const MessageHeader& header) {
  const ByteRange range = send.range();
  // Data that a released receive still waits for is not to be sent before it is there: a copy waits.
  if (parts_.users.guards(range)) return false;
  if (!parts_.blocks.use(range, BufferHistory::Use::frequent)) {
    table_->forget(range);
    return false;
  }
  Rdma& adapter = *adapter_for(send.peer);
  const std::span<std::byte> payload(parts_.job.arena->alias(range.begin), range.size());
  RegisteredMemory memory = parts_.registrations.acquire(adapter, ByteRange::of(payload.data(), payload.size()), Backing::alias);
  if (!memory) {
    table_->forget(range);
    return false;
  }
  RdmaPiece* const piece = parts_.transfers.post_by(
      [&](std::uint64_t token) { return adapter.send_gathered(send.peer, header, payload, memory.local_key(), token); });
  if (!piece) return false;
  send.rdma = std::make_unique<RdmaTransfer>();
  RdmaTransfer& transfer = *send.rdma;
  transfer.request = &send;
  transfer.user = this;
  transfer.adapter = &adapter;
  transfer.memory = std::move(memory);
  transfer.in_block = transfer.eager = true;
  transfer.posted = transfer.end = send.bytes;
  parts_.transfers.enter(*piece, transfer, 0, send.bytes);
  ++under_way_;
  ++parts_.statistics.gathered_sends;
  return true;
}

void FrequentSender::piece_complete(Request& request, const RdmaPiece& /*the_only_one*/) {
  --under_way_;
  parts_.requests.finish(&request);
}

/// Some 100 µs, once, in memory of its own.
FrequentTerms FrequentSender::measure_terms(Rdma& adapter) {
  constexpr std::size_t bytes = probe_pages * page_bytes;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  probe_ = Mapping(memory, bytes);
  std::memset(memory, 1, bytes);
  const ByteRange range = ByteRange::of(memory, bytes);
  FrequentTerms terms;

  const auto slots = std::make_unique<std::byte[]>(probe_copies * bytes);  // touched by their making
  std::uint64_t began = now_ns();
  for (std::size_t i = 0; i < probe_copies; ++i) copy_from_user(slots.get() + i * bytes, probe_.start(), bytes);
  const double copies_ns = elapsed_ns(began);

  AliasArena& arena = *parts_.job.arena;
  held_signals::hold();
  began = now_ns();
  if (!parts_.blocks.make(range)) return {};
  const ByteRange alias = ByteRange::of(arena.alias(range.begin), bytes);
  if (!parts_.registrations.acquire(adapter, alias, Backing::alias)) return {};
  terms.register_per_page = elapsed_ns(began) / probe_pages;

  began = now_ns();
  for (int i = 0; i < probe_uses; ++i) {
    if (!arena.is_live(range) || !parts_.registrations.acquire(adapter, alias, Backing::alias)) return {};
  }
  terms.use = elapsed_ns(began) / probe_uses;
  terms.copy_per_byte = copies_ns / static_cast<double>(probe_copies * bytes);
  return terms;
}

}  // namespace sluice
