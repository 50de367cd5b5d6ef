// What each thread of a trace did when, as slices that lie within one another or apart, in the order in which they begin.
//
// A record is written when what it tells is over, so a trace is in the order of ends; viewers want calls before what happened
// within them. The records of a thread are therefore read once from the last to the first: slices come by falling end, a stack of
// those that lie within one another gives them back by falling beginning, and what leaves the stack goes to a temporary file
// without a name, which a SliceLane reads from its end. Memory: the stack, and a buffer for each thread.
//
// Of slices that overlap (records of signal handlers, of threads that are not known any more) the later is cut to fit. The waits
// of one call that began together become one slice, the longest.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "runtime/base/posix.hpp"
#include "tools/progress.hpp"
#include "tools/trace/rank_stream.hpp"

namespace sluice {

/// Nanoseconds on rank 0's clock.
struct Slice {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  trace::Record record;
};

/// True of records that tell how long a thread did something: calls, waits, faults and their like.
[[nodiscard]] bool is_slice(trace::Kind kind);

/// The slices of one thread, the one that begins first in front.
class SliceLane {
 public:
  /// `file` must outlive this.
  SliceLane(int file, std::uint64_t begin, std::uint64_t end) : file_(file), begin_(begin), end_(end) { load(); }

  /// nullptr when there is none left.
  [[nodiscard]] const Slice* front() const { return buffer_.empty() ? nullptr : &buffer_.back(); }
  void pop();

 private:
  void load();

  int file_;
  std::uint64_t begin_;  // what is left to read, in slices
  std::uint64_t end_;
  std::vector<Slice> buffer_;
};

class SliceStore {
 public:
  using Chooser = std::function<bool(const trace::Record&)>;

  /// `directory`: where there is room, for as much as the trace takes at most. Each record is a step of `progress`. `is_moment`:
  /// of records without a duration, which are to be slices of a nanosecond all the same; none otherwise. Throws
  /// std::runtime_error when there is no temporary file.
  SliceStore(const std::filesystem::path& directory, Progress& progress, Chooser is_moment = {});

  /// Of a thread whose chunks are these, in the order of TraceFile::chunks. Complains of no damage: whoever reads the records
  /// will. Throws std::runtime_error, for one when the disk is full.
  [[nodiscard]] SliceLane add(const TraceFile& file, std::span<const ChunkPlace> chunks);

 private:
  void take(const TraceFile& file, const trace::Record& record);
  void close_last();
  void flush();

  std::filesystem::path directory_;
  Progress* progress_;
  Chooser is_moment_;
  Descriptor file_;
  std::uint64_t written_ = 0;  // slices
  std::vector<Slice> unwritten_;
  std::vector<Slice> open_;       // each lies within the one before it
  std::int64_t earliest_ns_ = 0;  // what was closed last began then: what comes now ends there at the latest
};

/// Calls visit(thread, chunks) for each thread of a file.
void for_each_thread(const TraceFile& file, const std::function<void(std::uint32_t, std::span<const ChunkPlace>)>& visit);

}  // namespace sluice
