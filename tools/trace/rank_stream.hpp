// The records of one rank, of all its threads, in order of time, with one chunk of each thread in memory.
//
// Threading: one thread for each object.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/trace/trace_file.hpp"

namespace sluice {

/// A record and where it comes from.
struct Event {
  trace::Record record;
  std::int64_t end_ns = 0;  // when the event was over, on rank 0's clock
  const TraceFile* file = nullptr;
  std::int32_t rank = 0;  // of a job that was spawned, ranks begin at 0 again
  std::uint32_t thread = 0;

  [[nodiscard]] std::int64_t begin_ns() const { return end_ns - static_cast<std::int64_t>(record.duration_ns); }
  [[nodiscard]] trace::Kind kind() const { return static_cast<trace::Kind>(record.kind); }
};

/// Of what is read again, damage has been complained of already.
enum class Reading : std::uint8_t { first, again };

class RankStream {
 public:
  /// `file` must outlive this.
  explicit RankStream(const TraceFile& file, Reading reading = Reading::first);

  /// False when there is none left.
  bool next(Event& event);

 private:
  struct Thread {
    std::vector<ChunkPlace>::const_iterator next_chunk;
    std::vector<ChunkPlace>::const_iterator end;
    TraceFile::ChunkRecords records;
    std::size_t next = 0;
    std::uint64_t time_ns = 0;  // of the record that is next: never before that of the one that was
  };
  bool load(Thread& thread);

  const TraceFile* file_;
  Reading reading_;
  std::vector<Thread> threads_;
};

}  // namespace sluice
