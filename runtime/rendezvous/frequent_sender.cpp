#include "runtime/rendezvous/frequent_sender.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/alias/watched_memory.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/trace/resource_events.hpp"

namespace sluice {
namespace {

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

FrequentSender::~FrequentSender() {
  if (table_) watched_memory::forget_everything();
}

FrequentSender::Counted FrequentSender::count(Peer to, ByteRange message, Call call) {
  const FrequentChoice which = parts_.job.config.frequent_sends;
  if (call == Call::waits && which == FrequentChoice::nonblocking) return {};
  Rdma* const adapter = adapter_for(to);
  if (!adapter || message.size() > parts_.job.eager_limit_of(to)) return {};
  // Whoever asked for all has their waits as well.
  const Call counted_as = which == FrequentChoice::all ? Call::goes_on : call;
  Counted counted{.frequent = table_->use(message, counted_as, [&] {
    return probe_.measure({*parts_.job.arena, parts_.blocks, parts_.registrations, *adapter});
  })};
  if (trace::on() && table_->is_measured()) [[unlikely]]
    trace_terms();
  if (counted.frequent != 0 ? table_->wants_gathered(call) : table_->wants_copies()) counted.timed_from = now_ns();
  return counted;
}

void FrequentSender::note_copied(const Counted& message, std::size_t bytes, std::uint64_t copy_ns) {
  if (copy_ns == 0) return;
  table_->note_copied(bytes, static_cast<double>(copy_ns), elapsed_ns(message.timed_from));
  trace_terms();
}

void FrequentSender::note_gathered(const Counted& message, Call call) {
  table_->note_gathered(call, elapsed_ns(message.timed_from));
  trace_terms();
}

/// Where they have changed.
void FrequentSender::trace_terms() {
  if (!trace::on()) [[likely]]
    return;
  const FrequentTerms terms[] = {table_->terms(Call::goes_on), table_->terms(Call::waits)};
  if (std::equal(std::begin(terms), std::end(terms), std::begin(traced_terms_))) return;
  std::copy(std::begin(terms), std::end(terms), std::begin(traced_terms_));
  trace::frequent_terms({.copy_per_byte = terms[0].copy_per_byte,
                         .use = terms[0].use,
                         .wait_use = terms[1].use,
                         .register_per_page = terms[0].register_per_page});
}

/// Asks the kernel only where nobody else would tell.
bool FrequentSender::is_there(FrequentSends::Number buffer, ByteRange range) {
  const watched_memory::Watch& watch = table_->table().entry(buffer).watch;
  if (watch.bytes.contains(range)) return watched_memory::lasts(watch);
  return !watched_memory::is_usable() && parts_.blocks.is_live(range);
}

RegisteredMemory FrequentSender::registered(Rdma& adapter, ByteRange range) {
  return parts_.registrations.acquire(adapter, ByteRange::of(parts_.job.arena->alias(range.begin), range.size()), Backing::alias);
}

/// Its buffer has just become frequent, has ended, or has become longer. Nothing when it has ended, or cannot be a block, or be
/// registered.
RegisteredMemory FrequentSender::make_registered(Rdma& adapter, FrequentSends::Number buffer, ByteRange range) {
  const std::uint64_t began = now_ns();
  watched_memory::Watch& watch = table_->table().entry(buffer).watch;
  if (watch.bytes.contains(range) || !parts_.blocks.use(range, BufferHistory::Use::frequent)) return {};
  if (watched_memory::is_usable()) {
    watch = watched_memory::watch(range);
    if (!parts_.blocks.is_live(range)) return {};
  }
  RegisteredMemory memory = registered(adapter, range);
  if (memory) {
    table_->note_registered(range.size(), elapsed_ns(began));
    if (trace::on()) [[unlikely]]
      trace::became_frequent(range, table_->table().entry(buffer).uses, now_ns() - began);
  }
  return memory;
}

bool FrequentSender::send(Request& send, const WireHeader& header) {
  const ByteRange range = send.range();
  // Data that a released receive still waits for is not to be sent before it is there: a copy waits.
  if (parts_.users.guards(range)) return false;
  Rdma& adapter = *adapter_for(send.peer);
  RegisteredMemory memory =
      is_there(send.frequent, range) ? registered(adapter, range) : make_registered(adapter, send.frequent, range);
  if (!memory) {
    table_->forget(send.frequent);
    return false;
  }
  const std::span<const std::byte> payload(parts_.job.arena->alias(range.begin), range.size());
  RdmaSegment* const segment = parts_.transfers.post_by(
      [&](std::uint64_t token) { return adapter.send_sge(send.peer, header, payload, memory.local_key(), token); });
  if (!segment) return false;
  send.rdma = std::make_unique<RdmaTransfer>();
  RdmaTransfer& transfer = *send.rdma;
  transfer.request = &send;
  transfer.user = this;
  transfer.adapter = &adapter;
  transfer.memory = std::move(memory);
  transfer.in_block = transfer.eager = true;
  transfer.posted = transfer.end = send.bytes;
  parts_.transfers.enter(*segment, transfer, 0, send.bytes);
  ++under_way_;
  ++parts_.statistics.sge_sends;
  parts_.statistics.copies_saved_bytes += send.bytes;
  return true;
}

void FrequentSender::segment_complete(Request& request, const RdmaSegment& /*the_only_one*/) {
  --under_way_;
  parts_.requests.finish(&request);
}

}  // namespace sluice
