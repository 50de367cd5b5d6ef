// Makes traces as the runtime would, of events that a test chooses.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/trace/format.hpp"
#include "runtime/trace/kinds.hpp"

namespace sluice {

/// A directory that is there as long as this is.
class TraceDirectory {
 public:
  TraceDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "sluice-trace-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TraceDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TraceDirectory(const TraceDirectory&) = delete;
  TraceDirectory& operator=(const TraceDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path file(int rank) const {
    char name[32];
    std::snprintf(name, sizeof name, "rank-%06d.trace", rank);
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// One rank's file, made in memory and written whole.
class TraceMaker {
 public:
  static constexpr std::uint32_t slots = 128;
  static constexpr std::uint64_t start_ns = 1'000'000'000;

  explicit TraceMaker(std::int32_t rank = 0, std::int32_t size = 1) {
    header_.rank = rank;
    header_.size = size;
    header_.process = 1000 + static_cast<std::uint32_t>(rank);
    header_.job = 77;
    header_.start_ns = start_ns;
    header_.table_slots = slots;
    header_.table_offset = trace::header_bytes;
    header_.chunks_offset = trace::header_bytes + std::uint64_t{slots} * trace::slot_bytes;
    set_text(header_.host, "node" + std::to_string(rank));
    set_text(header_.program, "/usr/bin/program");
    set_text(header_.sluice_version, "0.1.0");
  }

  trace::FileHeader& header() { return header_; }
  trace::ClockPoint& clock_start() { return clock_start_; }
  trace::ClockPoint& clock_end() { return clock_end_; }
  trace::FileEnd& end() { return end_; }

  void entry(trace::EntryType type, std::uint32_t id, std::string_view content) {
    const std::size_t parts =
        std::max<std::size_t>(1, (content.size() + trace::slot_payload_bytes - 1) / trace::slot_payload_bytes);
    for (std::size_t part = 0; part < parts; ++part) {
      trace::TableSlot slot;
      const auto piece = content.substr(part * trace::slot_payload_bytes, trace::slot_payload_bytes);
      slot.type = type;
      slot.part = static_cast<std::uint8_t>(part);
      slot.total_parts = static_cast<std::uint8_t>(parts);
      slot.id = id;
      slot.bytes = static_cast<std::uint32_t>(piece.size());
      std::copy(piece.begin(), piece.end(), slot.payload.begin());
      slot.check = trace::check_of(slot, table_.size());
      table_.push_back(slot);
    }
  }
  template <class Payload>
  void entry_of(trace::EntryType type, std::uint32_t id, const Payload& payload) {
    entry(type, id, {reinterpret_cast<const char*>(&payload), sizeof payload});
  }
  /// A call site without a module: it is shown as its address.
  void site(std::uint32_t id, std::string_view function, std::uint64_t address) {
    site(id, function, {trace::make_frame(trace::no_module, address)});
  }
  void site(std::uint32_t id, std::string_view function, std::initializer_list<trace::Frame> frames) {
    trace::SitePayload payload;
    set_text(payload.function, function);
    payload.frames = static_cast<std::uint32_t>(frames.size());
    std::copy(frames.begin(), frames.end(), payload.frame.begin());
    entry_of(trace::EntryType::site, id, payload);
  }
  void module(std::uint32_t id, std::string_view path) {
    const trace::ModulePayload payload;
    std::string content(reinterpret_cast<const char*>(&payload), sizeof payload);
    content += path;
    entry(trace::EntryType::module, id, content);
  }

  /// `at_us`: when it was over, microseconds since the start.
  trace::Record& add(trace::Kind kind, double at_us, trace::Record record = {}, std::uint32_t thread = 0) {
    record.kind = static_cast<std::uint16_t>(kind);
    record.time_ns = start_ns + static_cast<std::uint64_t>(at_us * 1000);
    records_[thread].push_back(record);
    return records_[thread].back();
  }

  /// The whole file.
  [[nodiscard]] std::string bytes() {
    header_.chunks = 1U << 20;
    header_.check = trace::check_before(header_);
    end_.chunks_taken = chunks();
    std::string file(header_.chunks_offset, '\0');
    std::memcpy(file.data(), &header_, sizeof header_);
    put_checked(file, trace::clock_start_offset, clock_start_);
    put_checked(file, trace::clock_end_offset, clock_end_);
    put_checked(file, trace::file_end_offset, end_);
    for (std::size_t i = 0; i < table_.size(); ++i)
      std::memcpy(file.data() + trace::header_bytes + i * trace::slot_bytes, &table_[i], sizeof table_[i]);
    std::uint64_t place = 0;
    for (auto& [thread, records] : records_) {
      for (std::size_t first = 0; first < records.size(); first += trace::records_per_chunk) {
        append_chunk(file, place++, thread, static_cast<std::uint32_t>(first / trace::records_per_chunk),
                     {records.begin() + static_cast<std::ptrdiff_t>(first),
                      records.begin() + static_cast<std::ptrdiff_t>(std::min(first + trace::records_per_chunk, records.size()))});
      }
    }
    return file;
  }

  [[nodiscard]] std::uint64_t chunks() const {
    std::uint64_t sum = 0;
    for (const auto& [thread, records] : records_)
      sum += (records.size() + trace::records_per_chunk - 1) / trace::records_per_chunk;
    return sum;
  }

  void write(const std::filesystem::path& path) { write_bytes(path, bytes()); }
  static void write_bytes(const std::filesystem::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc).write(content.data(), static_cast<std::streamsize>(content.size()));
  }

  static void append_chunk(std::string& file, std::uint64_t place, std::uint32_t thread, std::uint32_t of_thread,
                           std::vector<trace::Record> records) {
    trace::ChunkHeader header;
    header.sequence = place + 1;
    header.time_ns = records.front().time_ns;
    header.thread = thread;
    header.of_thread = of_thread;
    header.check = trace::check_of(header, place);
    std::string chunk(trace::chunk_bytes, '\0');
    std::memcpy(chunk.data(), &header, sizeof header);
    for (std::size_t i = 0; i < records.size(); ++i) {
      records[i].check = trace::check_of(records[i], trace::record_seed(header.sequence, i));
      std::memcpy(chunk.data() + (i + 1) * trace::record_bytes, &records[i], trace::record_bytes);
    }
    file += chunk;
  }

 private:
  template <class Characters>
  static void set_text(Characters& target, std::string_view text) {
    target.fill('\0');
    std::copy_n(text.begin(), std::min(text.size(), target.size() - 1), target.begin());
  }
  template <class Checked>
  static void put_checked(std::string& file, std::size_t offset, Checked structure) {
    if (structure.check == 0) return;  // left out
    structure.check = trace::check_before(structure);
    std::memcpy(file.data() + offset, &structure, sizeof structure);
  }

  trace::FileHeader header_;
  trace::ClockPoint clock_start_;
  trace::ClockPoint clock_end_;
  trace::FileEnd end_;
  std::vector<trace::TableSlot> table_;
  std::map<std::uint32_t, std::vector<trace::Record>> records_;  // by thread
};

}  // namespace sluice
