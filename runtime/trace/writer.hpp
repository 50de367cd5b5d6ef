// How records get into the file (trace.hpp is what the rest of the library calls).
//
// Every thread appends to a chunk of its own, so nothing is shared between threads but the handing out of chunks
// (trace/file.hpp). What is left is the thread against its own signal handlers, the SIGSEGV handler among them, which may write
// records at any instruction:
//
//   a place in the chunk     is taken by one instruction (xadd without lock prefix), so a handler takes another one
//   the chunk                is changed only by a writer that has interrupted no other (`depth`); a handler that finds it full
//                            loses its record, which is counted. All its places are taken (`used`) while it is changed. A
//                            handler that comes before `depth` is raised may change it first, so who raised it looks again
//   the record               is written, then its check word (release): whoever reads the file sees it whole or not at all
//
// A chunk that is full is given back when the next one is taken; that of a thread that ends, by a pthread key's destructor.
//
// The record of a thread may lie behind one of its signal handler's with a later time.
//
// Cost: some 20 ns, half of them for the clock. The file is as large as the caches, so the line that a record goes to is in none
// of them; it is asked for a few records before (`lines_ahead`).
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "runtime/trace/clock.hpp"
#include "runtime/trace/file.hpp"
#include "runtime/trace/trace.hpp"

namespace sluice::trace {

class Writer;

/// What a thread writes to.
struct Stream {
  Writer* writer = nullptr;
  std::byte* chunk = nullptr;
  std::uint64_t sequence = 0;
  std::uint64_t used = records_per_chunk;  // places taken of the chunk; none is left of a chunk that is not there
  std::uint64_t last_time = 0;
  Clock clock;
  std::size_t chunk_index = 0;
  std::uint32_t thread = 0;
  std::uint32_t chunks = 0;
  std::uint32_t depth = 0;  // writers of this thread under way

  /// False when the chunk is full. The writer is one that was there when the chunk was taken.
  bool append(const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns);
};

class Writer {
 public:
  Writer(std::string path, const FileHeader& header) : file_(std::move(path), header) {}
  /// What does not fit into the chunk that the stream has.
  void append_to_next(Stream& stream, const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns);
  bool add_entry(EntryType type, std::uint32_t id, std::span<const char> payload);
  void leave(Stream& stream);
  File& file() { return file_; }

 private:
  bool next_chunk(Stream& stream);
  void introduce(Stream& stream);

  File file_;
  Clock::Pair origin_ = Clock::take_pair();
  std::atomic<std::uint32_t> threads_{0};
};

namespace detail {

/// Of the lines of a chunk. Enough for the records of a message to come while the first of these lines do.
inline constexpr std::size_t lines_ahead = 8;

/// May lie behind the chunk: nothing is written, and nothing fails where there is no memory.
inline void fetch_for_writing(const std::byte* line) { asm volatile("prefetchw %0" : : "m"(*line)); }

/// One instruction, so that a signal handler of this thread takes another number.
inline std::uint64_t take_number(std::uint64_t& next) {
  std::uint64_t number = 1;
  asm volatile("xaddq %0, %1" : "+r"(number), "+m"(next) : : "cc", "memory");
  return number;
}

/// Word by word, as it was stored: the compiler would make wider loads of plain ones, which wait.
inline RecordWords copy_of(const RecordWords& record) {
  const auto word = [&record](std::size_t i) { return __atomic_load_n(&record[i], __ATOMIC_RELAXED); };
  return {word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)};
}

/// The check word last, and with it the whole first word: without it there is no record.
inline void publish(std::byte* target, const RecordWords& record, std::uint64_t seed) {
  auto* const to = reinterpret_cast<std::uint64_t*>(target);
  const auto put = [&]<std::size_t... word>(std::index_sequence<word...>) {
    (__atomic_store_n(to + 1 + word, record[1 + word], __ATOMIC_RELAXED), ...);
  };
  put(std::make_index_sequence<std::tuple_size_v<RecordWords> - 1>());
  __atomic_store_n(to, record[0] | check_of(record, seed), __ATOMIC_RELEASE);
}

}  // namespace detail

[[gnu::always_inline]] inline bool Stream::append(const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns) {
  ++depth;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint64_t index = detail::take_number(used);
  const bool has_room = index < records_per_chunk;
  if (has_room) [[likely]] {
    std::byte* const target = chunk + (1 + index) * record_bytes;
    detail::fetch_for_writing(target + detail::lines_ahead * record_bytes);
    const std::uint64_t time_ns = std::max(last_time, at_ns != 0 ? at_ns : clock.now());
    last_time = time_ns;
    RecordWords whole = detail::copy_of(record);
    whole[time_word] = time_ns;
    if (since_ns != 0) whole[duration_word] = std::max(time_ns, since_ns) - since_ns;
    detail::publish(target, whole, record_seed(sequence, index));
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --depth;
  return has_room;
}

}  // namespace sluice::trace
