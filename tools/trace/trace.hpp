// A trace: the directory that SLUICE_TRACE named, with one file for each rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "tools/trace/rank_stream.hpp"

namespace sluice {

class Trace {
 public:
  /// `path`: the directory, or one file of it. Throws std::runtime_error when there is no trace at all; a file that cannot be
  /// read at all goes to the damage.
  explicit Trace(const std::filesystem::path& path);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// By rank.
  [[nodiscard]] const std::vector<std::unique_ptr<TraceFile>>& files() const { return files_; }
  /// nullptr for a rank whose file is missing.
  [[nodiscard]] const TraceFile* file_of(std::int32_t rank) const;
  /// The earliest start of a rank, on rank 0's clock: time 0 of everything that is shown.
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }
  /// Grows while records are read.
  [[nodiscard]] const DamageLog& damage() const { return damage_; }
  /// All chunks of all ranks, for progress.
  [[nodiscard]] std::size_t chunks() const;

 private:
  DamageLog damage_;
  std::vector<std::unique_ptr<TraceFile>> files_;
  std::int64_t start_ns_ = 0;
};

/// The events of some ranks, in order of time.
class TraceStream {
 public:
  explicit TraceStream(const std::vector<const TraceFile*>& files, Reading reading = Reading::first);

  bool next(Event& event);

 private:
  struct Rank {
    RankStream stream;
    Event event;
  };
  static bool later(const std::unique_ptr<Rank>& a, const std::unique_ptr<Rank>& b) { return a->event.end_ns > b->event.end_ns; }

  std::vector<std::unique_ptr<Rank>> heap_;  // the earliest in front
};

}  // namespace sluice
