// The trace file: what the writer (runtime/trace/*.cpp) puts on disk and the tools read. docs/trace-format.md has the prose:
// layout, rules for readers, what may be damaged and how it is found.
//
// One file for each rank, little-endian:
//
//     0                  FileHeader, header_bytes
//     table_offset       table: `table_slots` slots of TableSlot, filled from the front, never overwritten
//     chunks_offset      `chunks` chunks of `chunk_bytes`: a ChunkHeader, then records_per_chunk Records, all of one thread
//
// Everything is written in place while the program runs, so a file is readable at any moment, and after SIGKILL. What a slot, a
// chunk header or a record holds is valid when its check word says so.
//
// This header needs nothing of the runtime but itself.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice::trace {

static_assert(std::endian::native == std::endian::little, "traces are little-endian");

inline constexpr std::array<char, 8> file_magic{'S', 'L', 'U', 'I', 'C', 'E', 'T', 'R'};
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint32_t byte_order_mark = 0x01020304;

inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::size_t slot_bytes = 256;
inline constexpr std::size_t slot_payload_bytes = slot_bytes - 16;
inline constexpr std::size_t chunk_bytes = 16384;
inline constexpr std::size_t record_bytes = 64;
inline constexpr std::size_t records_per_chunk = chunk_bytes / record_bytes - 1;

/// `rank-000012.trace`; a job that was spawned by another (MPI_Comm_spawn) adds its job number: `rank-000012-<hex>.trace`.
inline constexpr std::string_view file_suffix = ".trace";

// --- header ------------------------------------------------------------------------------------------------------------

enum class Keep : std::uint32_t { oldest, newest };

/// Fixed before the first record. Text is zero-terminated, cut to fit.
struct FileHeader {
  std::array<char, 8> magic = file_magic;
  std::uint32_t version = format_version;
  std::uint32_t byte_order = byte_order_mark;
  std::uint32_t header_bytes = trace::header_bytes;
  std::uint32_t slot_bytes = trace::slot_bytes;
  std::uint32_t chunk_bytes = trace::chunk_bytes;
  std::uint32_t record_bytes = trace::record_bytes;
  std::uint32_t table_slots = 0;
  std::uint32_t chunks = 0;  // room for; the file may be shorter
  std::uint64_t table_offset = 0;
  std::uint64_t chunks_offset = 0;
  std::uint64_t limit_bytes = 0;    // SLUICE_TRACE_LIMIT
  Keep keep = Keep::newest;         // SLUICE_TRACE_KEEP
  std::int32_t rank = 0;            // in MPI_COMM_WORLD
  std::int32_t size = 0;            // of MPI_COMM_WORLD
  std::uint32_t process = 0;        // pid
  std::uint64_t job = 0;            // the same in all files of a run
  std::uint64_t start_ns = 0;       // CLOCK_MONOTONIC, as all times of records
  std::uint64_t start_wall_ns = 0;  // CLOCK_REALTIME at that moment
  std::array<char, 64> host{};
  std::array<char, 32> sluice_version{};
  std::array<char, 512> program{};  // path of the executable
  std::uint64_t check = 0;          // check_of everything before
};

/// This rank's clock against rank 0's: rank 0's time = local_ns + to_rank0_ns, give or take error_ns. Between the points at the
/// start and the end a reader interpolates; without an end (the program was killed), the start alone holds.
struct ClockPoint {
  std::uint64_t local_ns = 0;
  std::int64_t to_rank0_ns = 0;
  std::uint64_t error_ns = 0;
  std::uint64_t wall_ns = 0;  // CLOCK_REALTIME at local_ns
  std::uint64_t check = 0;    // 0: there is no such point
};

enum class EndCause : std::uint32_t { none, finalized, disk_full };

/// Written when the rank stops tracing.
struct FileEnd {
  std::uint64_t time_ns = 0;
  std::uint64_t chunks_taken = 0;  // with Keep::newest: those beyond `chunks` overwrote older ones
  std::uint64_t lost_records = 0;  // no room (Keep::oldest, disk full), or written from a signal handler at a bad moment
  std::uint64_t lost_entries = 0;  // of the table
  EndCause cause = EndCause::none;
  std::uint32_t unused = 0;
  std::uint64_t check = 0;  // 0: the program was killed, or is still running
};

inline constexpr std::size_t clock_start_offset = 1024;  // ClockPoint
inline constexpr std::size_t clock_end_offset = 1088;    // ClockPoint
inline constexpr std::size_t file_end_offset = 1152;     // FileEnd

// --- table -------------------------------------------------------------------------------------------------------------

enum class EntryType : std::uint16_t {
  none,
  kind,           // id: Kind. Text: "name\tmembers\tmeaning" (trace/kinds.hpp)
  word,           // id: any. Text: "list\tvalue\tword": a word that `detail` or `extra` of some kinds stands for
  configuration,  // id: position. Text: "SLUICE_RELEASE=early", every variable
  counter,        // id: position. CounterPayload: what the summary counts, written at the end
  thread,         // id: as in chunk headers. ThreadPayload
  module,         // id: as in frames. ModulePayload
  site,           // id: as in records. SitePayload
  peers,          // id: world rank of the first of 240. One byte for each: Transporter
};

/// What is longer than one slot goes on in others with the same type and id, `part` counting up; `total_parts` is in each.
struct TableSlot {
  std::uint32_t check = 0;  // check_of the other 252 bytes, seed: slot number. 0 in an empty slot
  EntryType type{};
  std::uint8_t part = 0;
  std::uint8_t total_parts = 1;
  std::uint32_t id = 0;
  std::uint32_t bytes = 0;  // of the payload that are used in this part
  std::array<char, slot_payload_bytes> payload{};
};
static_assert(sizeof(TableSlot) == slot_bytes);

struct CounterPayload {
  std::uint64_t value = 0;
  std::uint32_t unit = 0;  // 0 number, 1 bytes, 2 nanoseconds
  std::uint32_t unused = 0;
  std::array<char, slot_payload_bytes - 16> name{};
};

enum class ThreadRole : std::uint32_t { application, helper, touch };

struct ThreadPayload {
  std::uint32_t system_id = 0;  // tid
  ThreadRole role{};
  std::array<char, 16> name{};  // as the system has it
};

/// Then the path, to the end of the entry (which may have several parts).
struct ModulePayload {
  std::uint64_t load_bias = 0;
  std::uint32_t build_id_bytes = 0;
  std::uint32_t unused = 0;
  std::array<std::uint8_t, 32> build_id{};
};

/// One frame of a stack: module (16 bits), then the address in the module's own file (48 bits), which addr2line and DWARF
/// readers understand. Module 0xffff: not in any module, the address is absolute.
using Frame = std::uint64_t;
inline constexpr std::uint64_t no_module = 0xffff;
constexpr Frame make_frame(std::uint64_t module, std::uint64_t address) {
  return module << 48 | (address & ((std::uint64_t{1} << 48) - 1));
}
constexpr std::uint64_t frame_module(Frame frame) { return frame >> 48; }
constexpr std::uint64_t frame_address(Frame frame) { return frame & ((std::uint64_t{1} << 48) - 1); }

inline constexpr std::size_t max_frames = 24;

/// Frames are return addresses, innermost (the caller of the MPI function) first; take one off before looking for a line. Where
/// `first_is_exact` is set the first one is the instruction that touched a page.
struct SitePayload {
  std::array<char, 32> function{};  // "MPI_Recv"; empty for touches and for calls of the C library
  std::uint32_t frames = 0;
  std::uint32_t first_is_exact = 0;
  std::array<Frame, max_frames> frame{};
};

// --- chunks and records ------------------------------------------------------------------------------------------------

inline constexpr std::uint32_t chunk_magic = 0x4b434c53;  // "SLCK"

struct ChunkHeader {
  std::uint32_t check = 0;  // check_of the other 60 bytes, seed: number of the chunk's place in the file
  std::uint32_t magic = chunk_magic;
  std::uint64_t sequence = 0;      // counts all chunks of the rank from 1; sequence - 1 modulo `chunks` is the place
  std::uint64_t previous = 0;      // sequence of the chunk that was here before; 0: none
  std::uint64_t time_ns = 0;       // taken
  std::uint32_t thread = 0;        // whose records these are
  std::uint32_t of_thread = 0;     // counts the thread's chunks from 0
  std::uint64_t lost_records = 0;  // by the whole rank, so far
  std::array<std::uint64_t, 2> unused{};
};
static_assert(sizeof(ChunkHeader) == record_bytes);

/// One event. Which members mean something depends on the kind (trace/kinds.hpp); the others are 0, peer and tag -1.
struct Record {
  std::uint32_t check = 0;  // check_of the other 60 bytes, seed: record_seed. Written last; 0: nothing was written here
  std::uint16_t kind = 0;   // Kind
  std::uint16_t detail = 0;
  std::uint64_t time_ns = 0;      // CLOCK_MONOTONIC, when the event was over. Never falls within a thread, but see the docs
  std::uint64_t duration_ns = 0;  // how long it took; 0: no time
  std::uint64_t bytes = 0;
  std::uint64_t value = 0;
  std::uint32_t operation = 0;  // names a send or receive, from 1, unique in the file; 0: none
  std::uint32_t site = 0;       // an EntryType::site; 0: none, or the table is full
  std::int32_t peer = -1;       // world rank; -1: any, or none
  std::int32_t tag = -1;        // -1: any, or none
  std::uint32_t context = 0;    // names a communicator; the same on all its ranks
  std::uint32_t extra = 0;
};
static_assert(sizeof(Record) == record_bytes && std::is_trivially_copyable_v<Record>);
using RecordWords = std::array<std::uint64_t, record_bytes / sizeof(std::uint64_t)>;

/// Never 0.
inline std::uint32_t check_of(const void* bytes, std::size_t count, std::uint64_t seed) {
  const auto hash = static_cast<std::uint32_t>(XXH3_64bits_withSeed(bytes, count, seed));
  return hash != 0 ? hash : 1;
}
/// Of a slot or chunk header: of all but its leading check word.
template <class Checked>
std::uint32_t check_of(const Checked& checked, std::uint64_t seed) {
  static_assert(std::is_trivially_copyable_v<Checked> && offsetof(Checked, check) == 0 && sizeof(checked.check) == 4);
  return check_of(reinterpret_cast<const char*>(&checked) + sizeof checked.check, sizeof checked - sizeof checked.check, seed);
}
/// Of a record, which is on the way of a message: a third of what XXH3 costs. Finds every change within one word but for one in
/// 2^32. The check word itself counts as 0. Never 0.
constexpr std::uint32_t check_of(const RecordWords& record, std::uint64_t seed) {
  constexpr std::uint64_t odd = 0x9fb21c651e98df25;  // of XXH3, to mix short keys
  constexpr unsigned check_bits = 32;
  // Two chains, so that it takes half the time.
  std::uint64_t front = seed;
  std::uint64_t back = ~seed;
  for (std::size_t i = 0; i < record.size() / 2; ++i) {
    front = (front ^ (i == 0 ? record[0] >> check_bits : record[i])) * odd;
    back = (back ^ record[record.size() / 2 + i]) * odd;
  }
  const auto check = static_cast<std::uint32_t>((front ^ std::rotr(back, 32)) * odd >> 32);
  return check != 0 ? check : 1;
}
inline std::uint32_t check_of(const Record& record, std::uint64_t seed) {
  return check_of(std::bit_cast<RecordWords>(record), seed);
}
/// Of a header, clock point or end: of all before its trailing check word.
template <class Checked>
std::uint64_t check_before(const Checked& checked) {
  static_assert(std::is_trivially_copyable_v<Checked> && offsetof(Checked, check) + sizeof(checked.check) == sizeof checked);
  return check_of(&checked, offsetof(Checked, check), 0);
}
/// `index`: of the record in its chunk, from 0.
constexpr std::uint64_t record_seed(std::uint64_t sequence, std::size_t index) { return sequence << 16 | index; }

}  // namespace sluice::trace
