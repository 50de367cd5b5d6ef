// How records get into the file (trace.hpp is what the rest of the library calls).
//
// Every thread appends to a chunk of its own, so nothing is shared between threads but the handing out of chunks
// (trace_file.hpp). What is left is the thread against its own signal handlers, the SIGSEGV handler among them, which may write
// records at any instruction:
//
//   a place in the chunk     is taken by one instruction (xadd without lock prefix), so a handler takes another one
//   the chunk                is changed only by a writer that has interrupted no other (`depth`); a handler that finds it full
//                            loses its record, which is counted
//   the record               is written, then its check word (release): whoever reads the file sees it whole or not at all
//
// A chunk that is full is given back when the next one is taken; that of a thread that ends, by a pthread key's destructor.
//
// The record of a thread may lie behind one of its signal handler's with a later time.
//
// Cost: some 15 ns, half of them for the clock. The file is as large as the caches, so the line that a record goes to is in none
// of them; it is asked for a few records before (`lines_ahead`).
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/trace.hpp"
#include "runtime/trace_clock.hpp"
#include "runtime/trace_file.hpp"

namespace sluice::trace {

class Writer;

/// What a thread writes to. Zero in threads that have written nothing.
struct Stream {
  Writer* writer = nullptr;
  std::byte* chunk = nullptr;
  std::uint64_t sequence = 0;
  std::uint64_t used = 0;  // places taken of the chunk; beyond the last one when it is full
  std::uint64_t last_time = 0;
  Clock clock;
  std::size_t place = 0;
  std::uint32_t thread = 0;
  std::uint32_t chunks = 0;
  std::uint32_t depth = 0;  // writers of this thread under way
};

class Writer {
 public:
  Writer(std::string path, const FileHeader& header) : file_(std::move(path), header) {}
  /// See trace::write.
  void append(Stream& stream, const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns);
  bool add_entry(EntryType type, std::uint32_t id, std::span<const char> payload);
  void leave(Stream& stream);
  File& file() { return file_; }

 private:
  bool append_here(Stream& stream, const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns);
  bool next_chunk(Stream& stream);
  void introduce(Stream& stream);

  File file_;
  Clock::Pair origin_ = Clock::take_pair();
  std::atomic<std::uint32_t> threads_{0};
};

}  // namespace sluice::trace
