// A trace that a test lets the library write, read back line by line.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/types.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/trace/trace.hpp"
#include "tests/unit/support/trace_reading.hpp"

namespace sluice {

using Lines = std::vector<std::string>;

/// The word for a value of a list; what a set of bits consists of, for a sum of several.
inline std::string word_of(std::string_view list, std::uint32_t value) {
  if (list == "fallback") return describe(static_cast<Fallback>(value));
  std::string bits;
  for (const trace::Word& word : trace::words) {
    if (word.list != list) continue;
    if (word.value == value) return std::string(word.word);
    if ((word.value & value) != 0) bits += (bits.empty() ? "" : "+") + std::string(word.word);
  }
  return bits;
}

/// "match rendezvous 20000": kind, its word if it has one, its bytes.
inline std::string line_of(const trace::Record& record) {
  for (const trace::KindText& kind : trace::kinds) {
    if (static_cast<std::uint16_t>(kind.kind) != record.kind) continue;
    std::string line(kind.name);
    if (const auto detail = kind.members.find("detail:"); detail != std::string_view::npos) {
      const auto begin = kind.members.find_first_of("=|", detail) + 1;
      const std::string word = word_of(kind.members.substr(begin, kind.members.find(' ', begin) - begin), record.detail);
      if (!word.empty()) line += " " + word;
    }
    return kind.members.find("bytes:") == std::string_view::npos ? line : line + " " + std::to_string(record.bytes);
  }
  return "unknown kind";
}

/// A trace for as long as this is there. Two engines of one process write to it: those of rank 0 are about peer 1.
class Traced {
 public:
  Traced() : directory_(std::filesystem::temp_directory_path() / ("sluice-events-" + std::to_string(getpid()))) {
    trace::open({.directory = directory_, .limit_bytes = std::size_t{1} << 20, .rank = 0, .size = 2});
  }
  ~Traced() {
    trace::close();
    std::filesystem::remove_all(directory_);
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  [[nodiscard]] std::vector<trace::Record> records() const {
    return trace::read_trace(directory_ / "rank-000000.trace").records[0];
  }
  /// Those of one side, but for how much was in place when.
  [[nodiscard]] Lines of(Peer side) const {
    Lines lines;
    for (const trace::Record& record : records()) {
      const bool is_progress = record.kind == static_cast<std::uint16_t>(trace::Kind::progress);
      if (record.peer == 1 - static_cast<std::int32_t>(side) && !is_progress) lines.push_back(line_of(record));
    }
    return lines;
  }
  [[nodiscard]] Lines of(trace::Kind kind) const {
    Lines lines;
    for (const trace::Record& record : records()) {
      if (record.kind == static_cast<std::uint16_t>(kind)) lines.push_back(line_of(record));
    }
    return lines;
  }

 private:
  std::filesystem::path directory_;
};

}  // namespace sluice
