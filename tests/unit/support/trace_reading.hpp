// Reads a whole trace file by the rules of docs/trace-format.md, for tests: small files only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "runtime/trace/format.hpp"
#include "runtime/trace/kinds.hpp"

namespace sluice::trace {

struct ReadTrace {
  FileHeader header;
  FileEnd end;
  std::map<EntryType, std::vector<std::pair<std::uint32_t, std::string>>> entries;  // first parts only
  std::map<std::uint32_t, std::vector<Record>> records;                             // by thread, in order
  std::size_t chunks = 0;
  std::size_t stale = 0;    // of the chunk before, in a chunk that is used again
  std::size_t damaged = 0;  // slots, chunk headers and records

  [[nodiscard]] std::vector<std::uint64_t> values_of(std::uint32_t thread) const {
    std::vector<std::uint64_t> values;
    if (const auto found = records.find(thread); found != records.end()) {
      for (const Record& record : found->second) values.push_back(record.value);
    }
    return values;
  }
  [[nodiscard]] std::size_t count() const {
    std::size_t sum = 0;
    for (const auto& [thread, of_thread] : records) sum += of_thread.size();
    return sum;
  }
};

namespace reading {

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data() + offset, sizeof value);
  return value;
}

inline bool is_zero(const Record& record) {
  const Record zero = at<Record>(std::string(sizeof(Record), '\0'), 0);
  return std::memcmp(&record, &zero, sizeof record) == 0;
}

inline void read_table(const std::string& bytes, ReadTrace& trace) {
  for (std::uint32_t slot = 0; slot < trace.header.table_slots; ++slot) {
    const auto entry = at<TableSlot>(bytes, trace.header.table_offset + slot * slot_bytes);
    if (entry.check == 0) continue;
    if (entry.check != check_of(entry, slot)) {
      ++trace.damaged;
    } else if (entry.part == 0) {
      trace.entries[entry.type].emplace_back(entry.id, std::string(entry.payload.data(), entry.bytes));
    }
  }
}

}  // namespace reading

inline ReadTrace read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ReadTrace trace;
  if (bytes.size() < header_bytes) return trace;
  trace.header = reading::at<FileHeader>(bytes, 0);
  trace.end = reading::at<FileEnd>(bytes, file_end_offset);
  reading::read_table(bytes, trace);
  struct Place {
    ChunkHeader header;
    std::size_t offset;
  };
  std::vector<Place> places;
  for (std::size_t place = 0; trace.header.chunks_offset + (place + 1) * chunk_bytes <= bytes.size(); ++place) {
    const std::size_t offset = trace.header.chunks_offset + place * chunk_bytes;
    const auto header = reading::at<ChunkHeader>(bytes, offset);
    if (header.check == 0) continue;
    if (header.check == check_of(header, place)) {
      places.push_back({header, offset});
    } else {
      ++trace.damaged;
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.header.sequence < b.header.sequence; });
  trace.chunks = places.size();
  for (const Place& place : places) {
    for (std::size_t index = 0; index < records_per_chunk; ++index) {
      const auto record = reading::at<Record>(bytes, place.offset + (1 + index) * record_bytes);
      if (record.check == check_of(record, record_seed(place.header.sequence, index))) {
        trace.records[place.header.thread].push_back(record);
      } else if (place.header.previous != 0 && record.check == check_of(record, record_seed(place.header.previous, index))) {
        ++trace.stale;
      } else if (!reading::is_zero(record)) {
        ++trace.damaged;
      }
    }
  }
  return trace;
}

}  // namespace sluice::trace
