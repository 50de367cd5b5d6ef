#include "tools/trace/trace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace sluice {

namespace {

/// A field that is far outside of what any writer makes would have a reader allocate or seek without end.
constexpr std::uint32_t max_table_slots = 1U << 24;

template <class Checked>
bool is_empty(const Checked& checked) {
  static constexpr Checked zero = [] {
    std::array<char, sizeof(Checked)> bytes{};
    return std::bit_cast<Checked>(bytes);
  }();
  return std::memcmp(&checked, &zero, sizeof checked) == 0;
}

bool has_usual_layout(const trace::FileHeader& header) {
  return header.header_bytes == trace::header_bytes && header.slot_bytes == trace::slot_bytes &&
         header.chunk_bytes == trace::chunk_bytes && header.record_bytes == trace::record_bytes &&
         header.table_slots <= max_table_slots && header.table_offset >= trace::header_bytes &&
         header.table_offset <= std::numeric_limits<std::uint32_t>::max() &&
         header.chunks_offset >= header.table_offset + std::uint64_t{header.table_slots} * trace::slot_bytes &&
         header.chunks_offset <= std::numeric_limits<std::uint64_t>::max() / 2;
}

/// A byte of the version was changed, and nothing else.
bool is_good_but_for_version(trace::FileHeader header) {
  header.version = trace::format_version;
  return header.check == trace::check_before(header);
}

bool is_good(const trace::ChunkHeader& header, std::uint64_t place) {
  return header.check == trace::check_of(header, place) && header.magic == trace::chunk_magic;
}

}  // namespace

std::string to_string(const Damage& damage) {
  return damage.file.filename().string() + ": offset " + std::to_string(damage.offset) + ": " + damage.what;
}

TraceFile::TraceFile(std::filesystem::path path, DamageLog& damage) : path_(std::move(path)), damage_(&damage) {
  file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file_ || ::fstat(file_.get(), &status) != 0) throw std::runtime_error(path_.string() + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw std::runtime_error(path_.string() + ": no file");
  bytes_ = static_cast<std::uint64_t>(status.st_size);
  read_header();
  read_tail_of_header();
  read_table();
  list_chunks();
}

/// Bytes that there are from `offset` on, `bytes` at most; the rest of `target` is zero.
std::size_t TraceFile::read_at(std::uint64_t offset, void* target, std::size_t bytes) const {
  std::memset(target, 0, bytes);
  std::size_t done = 0;
  while (done < bytes && offset + done < bytes_) {
    const ssize_t got = ::pread(file_.get(), static_cast<char*>(target) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::runtime_error(path_.string() + ": " + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void TraceFile::read_header() {
  trace::FileHeader header;
  const bool whole = read_at(0, &header, sizeof header) == sizeof header;
  const bool good = whole && header.check == trace::check_before(header);
  if (header.magic == trace::file_magic && header.version != trace::format_version &&
      (good || !is_good_but_for_version(header))) {
    throw std::runtime_error(path_.string() + ": a trace of version " + std::to_string(header.version) +
                             "; this command reads version " + std::to_string(trace::format_version));
  }
  if (good) {
    header_ = header;
    return;
  }
  complain(0, whole ? "the header does not agree with its check word" : "the file ends within its header");
  if (has_usual_layout(header)) {
    header_ = header;
    for (char* const end : {header_.host.end(), header_.sluice_version.end(), header_.program.end()}) end[-1] = '\0';
  } else if (!find_layout() && header.magic != trace::file_magic) {
    throw std::runtime_error(path_.string() + ": no trace of Sluice's");
  }
}

/// A chunk's header tells by its sequence which place it must have in a file that has not begun to overwrite: so the first one
/// that is found says where the chunks begin. False when there is none; then there is a table at most.
bool TraceFile::find_layout() {
  header_.rank = -1;
  header_.table_offset = trace::header_bytes;
  const auto set_chunks_offset = [this](std::uint64_t offset) {
    const std::uint64_t slots = offset < header_.table_offset ? 0 : (offset - header_.table_offset) / trace::slot_bytes;
    header_.chunks_offset = offset;
    header_.table_slots = static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, max_table_slots));
  };
  for (std::uint64_t offset = trace::header_bytes; offset + sizeof(trace::ChunkHeader) <= bytes_; offset += trace::slot_bytes) {
    trace::ChunkHeader chunk;
    read_at(offset, &chunk, sizeof chunk);
    if (chunk.magic != trace::chunk_magic) continue;
    for (std::uint64_t place = 0; place * trace::chunk_bytes + trace::header_bytes <= offset; ++place) {
      if (!is_good(chunk, place)) continue;
      set_chunks_offset(offset - place * trace::chunk_bytes);
      return true;
    }
  }
  set_chunks_offset(std::max<std::uint64_t>(bytes_, trace::header_bytes));
  return false;
}

void TraceFile::read_tail_of_header() {
  const auto take = [&](auto& structure, std::size_t offset, const char* what) {
    std::remove_reference_t<decltype(structure)> read;
    read_at(offset, &read, sizeof read);
    if (read.check != 0 && read.check == trace::check_before(read)) {
      structure = read;
    } else if (!is_empty(read)) {
      complain(offset, std::string(what) + " does not agree with its check word");
    }
  };
  take(clock_start_, trace::clock_start_offset, "the clock point at the start");
  take(clock_end_, trace::clock_end_offset, "the clock point at the end");
  take(end_, trace::file_end_offset, "the end");
}

namespace {

/// An entry of the table that has not all its parts yet.
struct Parts {
  std::vector<char> content;
  unsigned next = 0;
};

}  // namespace

void TraceFile::read_table() {
  std::map<std::pair<trace::EntryType, std::uint32_t>, Parts> unfinished;
  for (std::uint32_t slot = 0; slot < header_.table_slots; ++slot) {
    trace::TableSlot entry;
    const std::uint64_t offset = header_.table_offset + std::uint64_t{slot} * trace::slot_bytes;
    if (offset >= bytes_) {
      complain(bytes_, "the file ends within its table");
      break;
    }
    read_at(offset, &entry, sizeof entry);
    if (entry.check != trace::check_of(entry, slot)) {
      if (!is_empty(entry))
        complain(offset, entry.check == 0 ? "an entry of the table is not finished"
                                          : "an entry of the table does not agree with its check word");
      continue;
    }
    const auto key = std::pair(entry.type, entry.id);
    Parts& parts = unfinished[key];
    const std::size_t used = std::min<std::size_t>(entry.bytes, entry.payload.size());
    if (entry.part == parts.next) {
      parts.content.insert(parts.content.end(), entry.payload.begin(), entry.payload.begin() + static_cast<std::ptrdiff_t>(used));
      ++parts.next;
    }
    if (parts.next < entry.total_parts) continue;
    if (!table_.add(entry.type, entry.id, parts.content)) complain(offset, "an entry of the table is of no known form");
    unfinished.erase(key);
  }
  if (!unfinished.empty()) complain(header_.table_offset, "parts of an entry of the table are missing");
}

std::uint64_t TraceFile::offset_of(std::uint64_t place) const { return header_.chunks_offset + place * trace::chunk_bytes; }

/// Of a chunk whose header is damaged: the sequence is known but for how often the place was used, which a record tells.
std::optional<std::uint64_t> TraceFile::sequence_by_record(std::uint64_t place) const {
  constexpr std::uint64_t max_uses = 10000;
  trace::Record first;
  read_at(offset_of(place) + sizeof(trace::ChunkHeader), &first, sizeof first);
  const std::uint64_t places = std::max<std::uint64_t>(header_.chunks, 1);
  for (std::uint64_t use = 0; use < max_uses; ++use) {
    const std::uint64_t sequence = place + 1 + use * places;
    if (first.check == trace::check_of(first, trace::record_seed(sequence, 0))) return sequence;
  }
  return std::nullopt;
}

/// A file that was cut off at the end of a chunk looks whole, but for what its end says.
void TraceFile::look_for_missing_chunks() {
  if (end_.check == 0 || end_.cause == trace::EndCause::disk_full) return;
  const std::uint64_t expected = std::min<std::uint64_t>(end_.chunks_taken, header_.chunks);
  if (expected != 0 && offset_of(expected) > bytes_)
    complain(bytes_, "the file ends before its last chunk, of " + std::to_string(expected));
}

void TraceFile::list_chunks() {
  look_for_missing_chunks();
  for (std::uint64_t place = 0; offset_of(place) < bytes_; ++place) {
    trace::ChunkHeader header;
    const std::uint64_t offset = offset_of(place);
    read_at(offset, &header, sizeof header);
    if (is_good(header, place)) {
      chunks_.push_back(
          {place, header.sequence, header.previous, header.time_ns, header.thread, header.of_thread, header.lost_records});
      const bool is_cut = bytes_ - offset < trace::chunk_bytes;
      if (is_cut && end_.check == 0) complain(bytes_, "the file ends within a chunk");
    } else if (!is_empty(header)) {
      const auto sequence = sequence_by_record(place);
      complain(offset, std::string(header.check == 0 ? "the header of a chunk is not finished"
                                                     : "the header of a chunk does not agree with its check word") +
                           (sequence ? "; its records are shown as those of an unknown thread" : "; its records are lost"));
      if (sequence) chunks_.push_back({place, *sequence, 0, 0, unknown_thread, static_cast<std::uint32_t>(*sequence), 0});
    }
  }
  std::sort(chunks_.begin(), chunks_.end(), [](const ChunkPlace& a, const ChunkPlace& b) {
    return std::tuple(a.thread, a.of_thread, a.sequence) < std::tuple(b.thread, b.of_thread, b.sequence);
  });
}

// In a chunk that took the place of an older one, records of the older one stand where nothing has been written yet: they agree
// with the sequence of that one.
void TraceFile::read(const ChunkPlace& chunk, ChunkRecords& records, bool tells_damage) const {
  records.resize(trace::records_per_chunk);
  const std::uint64_t offset = offset_of(chunk.place) + sizeof(trace::ChunkHeader);
  const std::size_t bytes = read_at(offset, records.data(), records.size() * sizeof(trace::Record));
  const std::size_t present = (bytes + sizeof(trace::Record) - 1) / sizeof(trace::Record);
  std::size_t good = 0;
  for (std::size_t i = 0; i < present; ++i) {
    const trace::Record record = records[i];
    if (record.check == trace::check_of(record, trace::record_seed(chunk.sequence, i))) {
      records[good++] = record;
      continue;
    }
    if (is_empty(record)) continue;
    if (chunk.previous != 0 && record.check == trace::check_of(record, trace::record_seed(chunk.previous, i))) continue;
    if (!tells_damage) continue;
    complain(offset + i * sizeof(trace::Record),
             record.check == 0 ? "a record is not finished" : "a record does not agree with its check word");
  }
  records.resize(good);
}

std::uint64_t TraceFile::lost_records() const {
  std::uint64_t most = end_.check != 0 ? end_.lost_records : 0;
  for (const ChunkPlace& chunk : chunks_) most = std::max(most, chunk.lost_records);
  return most;
}

std::int64_t TraceFile::on_clock_of_rank_0(std::uint64_t local_ns) const {
  const auto local = static_cast<std::int64_t>(local_ns);
  const std::int64_t at_start = clock_start_.check != 0 ? clock_start_.to_rank0_ns : 0;
  if (clock_end_.check == 0 || clock_end_.local_ns <= clock_start_.local_ns) return local + at_start;
  const auto span = static_cast<double>(clock_end_.local_ns - clock_start_.local_ns);
  const auto passed = static_cast<double>(local - static_cast<std::int64_t>(clock_start_.local_ns));
  const auto drift = static_cast<double>(clock_end_.to_rank0_ns - at_start);
  return local + at_start + static_cast<std::int64_t>(drift * passed / span);
}

std::uint64_t TraceFile::clock_error_ns() const { return std::max(clock_start_.error_ns, clock_end_.error_ns); }

}  // namespace sluice
