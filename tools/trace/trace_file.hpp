// The trace of one rank, as docs/trace-format.md describes it: header, table, and chunks of records that are read one at a time.
//
// Nothing in a file is believed before its check word was compared. What does not agree goes to the DamageLog, with its offset,
// and is left out; what can be read is read. If the header itself is damaged, the layout is found by looking for chunks.
//
// Threading: one thread for each object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/posix.hpp"
#include "runtime/trace/format.hpp"
#include "tools/trace/damage.hpp"
#include "tools/trace/table.hpp"

namespace sluice {

/// A chunk in the file, known by its header.
struct ChunkPlace {
  std::uint64_t place = 0;  // counts from the first chunk of the file
  std::uint64_t sequence = 0;
  std::uint64_t previous = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t thread = 0;
  std::uint32_t of_thread = 0;
  std::uint64_t lost_records = 0;
};

/// Of records whose chunk does not tell any more.
inline constexpr std::uint32_t unknown_thread = 0xffffffff;

class TraceFile {
 public:
  using ChunkRecords = std::vector<trace::Record>;

  /// Throws std::runtime_error that names the file when it is no trace or one of another version. `damage` must outlive this.
  TraceFile(std::filesystem::path path, DamageLog& damage);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const trace::FileHeader& header() const { return header_; }
  [[nodiscard]] std::int32_t rank() const { return header_.rank; }
  [[nodiscard]] const TraceTable& table() const { return table_; }
  /// `check` is 0 when the rank did not stop tracing in an orderly way.
  [[nodiscard]] const trace::FileEnd& end() const { return end_; }
  /// Records that were not written or were overwritten, as far as the file tells.
  [[nodiscard]] std::uint64_t lost_records() const;

  /// All chunks, by thread and then in the order in which the thread wrote them.
  [[nodiscard]] const std::vector<ChunkPlace>& chunks() const { return chunks_; }
  /// The good records of a chunk, in order.
  void read(const ChunkPlace& chunk, ChunkRecords& records) const { read(chunk, records, true); }
  /// The same for a chunk that is read twice, without telling its damage once more.
  void read_again(const ChunkPlace& chunk, ChunkRecords& records) const { read(chunk, records, false); }

  /// Nanoseconds on rank 0's CLOCK_MONOTONIC.
  [[nodiscard]] std::int64_t on_clock_of_rank_0(std::uint64_t local_ns) const;
  /// How far off that may be.
  [[nodiscard]] std::uint64_t clock_error_ns() const;

 private:
  std::size_t read_at(std::uint64_t offset, void* target, std::size_t bytes) const;
  void complain(std::uint64_t offset, std::string what) const { damage_->add(path_, offset, std::move(what)); }
  void read_header();
  void read_tail_of_header();
  bool find_layout();
  void read_table();
  void look_for_missing_chunks();
  void list_chunks();
  void read(const ChunkPlace& chunk, ChunkRecords& records, bool tells_damage) const;
  [[nodiscard]] std::optional<std::uint64_t> sequence_by_record(std::uint64_t place) const;
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t place) const;

  std::filesystem::path path_;
  DamageLog* damage_;
  Descriptor file_;
  std::uint64_t bytes_ = 0;
  trace::FileHeader header_;
  trace::ClockPoint clock_start_;
  trace::ClockPoint clock_end_;
  trace::FileEnd end_;
  TraceTable table_;
  std::vector<ChunkPlace> chunks_;
};

}  // namespace sluice
