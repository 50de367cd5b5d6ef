// The trace of this process: what the rest of the library calls. Nothing is done, for one predictable branch, while no trace is
// written:
//
//     if (trace::on()) [[unlikely]] trace::write({.kind = ...});
//
// Design section 10; docs/trace-format.md; how it is written: trace/writer.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/trace/format.hpp"
#include "runtime/trace/kinds.hpp"
#include "runtime/trace/record_words.hpp"

namespace sluice::trace {

class Writer;

namespace detail {
/// Written by open, close and abandon, on one thread; read relaxed: whoever sees it late misses records, or asks the writer in
/// vain.
extern std::atomic<bool> active;

void append(const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns);
/// Entries go there from now on, and records once they are let in.
void begin(std::unique_ptr<Writer> writer);
void let_in();
}  // namespace detail

/// A trace is being written. [any thread, signal handlers]
inline bool on() { return detail::active.load(std::memory_order_relaxed); }

struct Settings {
  std::string directory;  // made if it is missing
  std::size_t limit_bytes = 0;
  Keep keep = Keep::newest;
  std::size_t path_depth = 0;  // SLUICE_TRACE_PATHS; 0: no call paths. Otherwise StackWalk is loaded
  int rank = 0;
  int size = 0;
  std::uint64_t job = 0;
  bool spawned = false;  // by another job, whose files have the usual names
};

/// Makes the file and begins. Throws std::runtime_error, which names the file and the cause. One trace at a time.
void open(const Settings& settings);
/// A name for a value that records hold, of a list that is not the trace's own. On the thread that has opened it, before others
/// write.
void add_word(const Word& word);
/// No more records after this. The file keeps what it has; nothing happens when no trace is written.
void close(EndCause cause = EndCause::finalized);
/// In the child of a fork: the file is the parent's.
void abandon();

/// The time, as records have it. [any thread, signal handlers]
std::uint64_t now();
/// When this thread wrote its last record; 0 before the first one.
std::uint64_t last_record_ns();
/// Instead of a time: that of the thread's last record, for what is told in the same breath. The clock is half of what a record
/// costs.
inline constexpr std::uint64_t with_last = 1;

/// Completes the record (time, check word) and appends it. With `since_ns`, its duration is from there on. `at_ns`: what now()
/// said a moment ago, or with_last; without it, the clock is read. [any thread, signal handlers; no lock, no allocation]
[[gnu::always_inline]] inline void write(const Record& record, std::uint64_t since_ns = 0, std::uint64_t at_ns = 0) {
  detail::append(words_of(record), since_ns, at_ns);
}

/// Puts an entry into the table. [any thread, signal handlers] False when the table is full, or no trace is written.
bool add_entry(EntryType type, std::uint32_t id, std::span<const char> payload);
inline bool add_text(EntryType type, std::uint32_t id, std::string_view text) {
  return add_entry(type, id, std::span(text.data(), text.size()));
}

enum class Moment : std::uint8_t { start, end };
void set_clock_point(Moment moment, ClockPoint point);

}  // namespace sluice::trace
