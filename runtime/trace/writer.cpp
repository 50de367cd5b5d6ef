#include "runtime/trace/writer.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/base/clock.hpp"

namespace sluice::trace {
namespace {

ThreadRole role_of(std::string_view name, bool is_main) {
  if (is_main) return ThreadRole::application;
  if (name == "sluice") return ThreadRole::helper;
  return name == "sluice-touch" ? ThreadRole::touch : ThreadRole::application;
}

/// The check word last.
template <class Checked>
void publish(std::byte* target, const Checked& checked) {
  std::memcpy(target + sizeof checked.check, reinterpret_cast<const std::byte*>(&checked) + sizeof checked.check,
              sizeof checked - sizeof checked.check);
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(target), checked.check, __ATOMIC_RELEASE);
}

}  // namespace

void Writer::append_to_next(Stream& stream, const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns) {
  ++stream.depth;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Before `depth` told of this one, a handler may have taken the next chunk.
  bool written = stream.writer == this && stream.append(record, since_ns, at_ns);
  while (!written && stream.depth == 1 && next_chunk(stream)) written = stream.append(record, since_ns, at_ns);
  if (!written) file_.count_lost();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --stream.depth;
}

/// Not in a handler that interrupted this: it finds no place meanwhile, and counts its record as lost.
bool Writer::next_chunk(Stream& stream) {
  const int saved_errno = errno;
  if (stream.writer != this) introduce(stream);
  stream.used = records_per_chunk;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (stream.chunk) file_.give_back(stream.chunk_index);
  stream.chunk = nullptr;
  const File::Chunk chunk = file_.take();
  if (chunk.start) {
    ChunkHeader header;
    header.sequence = chunk.sequence;
    header.previous = chunk.previous;
    header.time_ns = now_ns();
    header.thread = stream.thread;
    header.of_thread = stream.chunks++;
    header.lost_records = file_.lost();
    header.check = check_of(header, chunk.index);
    publish(chunk.start, header);
    stream.chunk = chunk.start;
    stream.chunk_index = chunk.index;
    stream.sequence = chunk.sequence;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    stream.used = 0;
    for (std::size_t line = 1; line < detail::lines_ahead; ++line) detail::fetch_for_writing(chunk.start + line * record_bytes);
  }
  errno = saved_errno;
  return chunk.start != nullptr;
}

/// The thread's first record in this file.
void Writer::introduce(Stream& stream) {
  Stream first;
  first.depth = stream.depth;
  stream = first;
  stream.thread = threads_.fetch_add(1, std::memory_order_relaxed);
  stream.clock.start(origin_);
  stream.writer = this;
  ThreadPayload payload;
  payload.system_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  prctl(PR_GET_NAME, payload.name.data());
  payload.role = role_of(payload.name.data(), payload.system_id == static_cast<std::uint32_t>(getpid()));
  add_entry(EntryType::thread, stream.thread, {reinterpret_cast<const char*>(&payload), sizeof payload});
}

void Writer::leave(Stream& stream) {
  if (stream.writer == this && stream.chunk) file_.give_back(stream.chunk_index);
  stream = {};
}

bool Writer::add_entry(EntryType type, std::uint32_t id, std::span<const char> payload) {
  const std::size_t parts = std::max<std::size_t>(1, (payload.size() + slot_payload_bytes - 1) / slot_payload_bytes);
  std::uint32_t number = 0;
  TableSlot* const slots = parts < 256 ? file_.take_slots(parts, number) : nullptr;
  if (!slots) return false;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto piece = payload.subspan(part * slot_payload_bytes)
                           .first(std::min(slot_payload_bytes, payload.size() - part * slot_payload_bytes));
    TableSlot slot;
    slot.type = type;
    slot.id = id;
    slot.part = static_cast<std::uint8_t>(part);
    slot.total_parts = static_cast<std::uint8_t>(parts);
    slot.bytes = static_cast<std::uint32_t>(piece.size());
    std::memcpy(slot.payload.data(), piece.data(), piece.size());
    slot.check = check_of(slot, number + part);
    publish(reinterpret_cast<std::byte*>(slots + part), slot);
  }
  return true;
}

}  // namespace sluice::trace
