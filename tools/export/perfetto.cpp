// Chrome's "Trace Event Format" (JSON object format), which ui.perfetto.dev reads as well. All events of a kind are written where
// they can be without sorting: per thread, complete events and instants come in order of time, outer ones before inner ones, as
// viewers rely on where times are equal. Asynchronous events and flows are written as pairs when their ends are known.
//
// Processes and threads are numbered from 1: viewers take 0 for the idle thread.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "tools/export/formats.hpp"
#include "tools/export/slices.hpp"
#include "tools/trace/event_text.hpp"
#include "tools/trace/message_pairs.hpp"

namespace sluice {

namespace {

using trace::Kind;

struct Thread {
  SliceLane lane;
  std::uint32_t number;      // unique in the export
  std::int64_t last_ns = 0;  // of its events, none of which may go back
};

/// What has begun and will be told when it ends.
struct Begun {
  std::int64_t at_ns;
  std::uint32_t thread;
  trace::Record record;
};

/// One end of a message: a moment of a thread.
struct MessageEnd {
  std::int64_t at_ns = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};
constexpr std::size_t max_waiting_ends = std::size_t{1} << 20;

struct Rank {
  const TraceFile* file;
  std::uint32_t process;
  Sites sites;
  std::map<std::uint32_t, Thread> threads;
  std::map<std::tuple<const char*, std::uint64_t>, Begun> begun;  // by category and operation
  std::int64_t last_ns = 0;
};

constexpr const char* operations = "operation";
constexpr const char* collectives = "collective";
constexpr const char* releases = "release";
constexpr const char* held = "held";

std::string peer_name(std::int32_t peer) { return peer < 0 ? "any" : std::to_string(peer); }

class PerfettoExport {
 public:
  PerfettoExport(const Trace& trace, OutputFile& file, const std::filesystem::path& temporary, Progress& progress)
      : trace_(&trace), file_(&file), progress_(&progress), store_(temporary, progress, is_end_of_message) {}

  void write() {
    put("{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"program\":{},\"version\":{}}},\"traceEvents\":[",
        json_string(header().program.data()), json_string(header().sluice_version.data()));
    std::vector<const TraceFile*> files;
    for (const auto& each : trace_->files()) {
      files.push_back(each.get());
      begin_rank(*each);
    }
    TraceStream stream(files);
    for (Event event; file_->goes_on() && stream.next(event); progress_->advance()) add(event);
    for (auto& [file, rank] : ranks_) end_rank(rank);
    put("\n]}}\n");
  }

 private:
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(fmt::appender(file_->buffer()), format, std::forward<Arguments>(arguments)...);
  }
  [[nodiscard]] const trace::FileHeader& header() const { return trace_->files().front()->header(); }

  /// What all events have; members follow, and a closing brace.
  void open_event(const char* phase, const std::string& name, const std::string& category, const Rank& rank, std::uint32_t thread,
                  std::int64_t at_ns) {
    const auto since = static_cast<std::uint64_t>(std::max<std::int64_t>(at_ns - trace_->start_ns(), 0));
    put("{}\n{{\"ph\":\"{}\",\"name\":{},\"cat\":{},\"pid\":{},\"tid\":{},\"ts\":{}.{:03}", is_first_ ? "" : ",", phase,
        json_string(name), json_string(category), rank.process, thread, since / 1000, since % 1000);
    is_first_ = false;
  }
  void put_arguments(Rank& rank, const trace::Record& record) {
    const TraceTable& table = rank.file->table();
    put(",\"args\":{{\"event\":{}", json_string(table.kind_name(record.kind)));
    append_json_members(file_->buffer(), record, table, rank.sites);
    put("}}");
  }

  void put_metadata(const char* what, const Rank& rank, std::uint32_t thread, const std::string& value) {
    put("{}\n{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"{}\":{}}}}}", is_first_ ? "" : ",", what,
        rank.process, thread, std::string_view(what).ends_with("index") ? "sort_index" : "name", value);
    is_first_ = false;
  }

  void begin_rank(const TraceFile& file) {
    const auto process = static_cast<std::uint32_t>(ranks_.size() + 1);
    Rank& rank = ranks_.try_emplace(&file, Rank{&file, process, Sites(file, symbols_), {}, {}, trace_->start_ns()}).first->second;
    for_each_thread(file, [&](std::uint32_t thread, std::span<const ChunkPlace> chunks) {
      rank.threads.try_emplace(thread, Thread{store_.add(file, chunks), ++threads_});
    });
    const std::uint32_t first = rank.threads.empty() ? 0 : rank.threads.begin()->second.number;
    put_metadata(
        "process_name", rank, first,
        json_string(fmt::format("rank {} ({}, process {})", file.rank(), file.header().host.data(), file.header().process)));
    put_metadata("process_sort_index", rank, first, std::to_string(file.rank()));
    for (const auto& [number, thread] : rank.threads) {
      put_metadata("thread_name", rank, thread.number, json_string(name_of_thread(file, number)));
      put_metadata("thread_sort_index", rank, thread.number, std::to_string(static_cast<std::int32_t>(number)));
    }
  }

  static std::string name_of_thread(const TraceFile& file, std::uint32_t number) {
    if (number == unknown_thread) return "threads that are not known any more";
    const auto& threads = file.table().threads();
    const auto known = threads.find(number);
    if (known == threads.end()) return fmt::format("thread {}", number);
    const char* const role = known->second.role == trace::ThreadRole::application ? "" : ", of Sluice";
    return fmt::format("thread {} ({}{})", number, known->second.name, role);
  }

  void add(const Event& event) {
    Rank& rank = ranks_.at(event.file);
    Thread& thread = rank.threads.at(event.thread);
    rank.last_ns = std::max(rank.last_ns, event.end_ns);
    write_slices(rank, thread, event.end_ns);
    const trace::Record& record = event.record;
    switch (event.kind()) {
      case Kind::post_send:
      case Kind::post_receive:
        if (record.operation != 0) return begin(rank, thread, operations, record.operation, event);
        break;
      case Kind::part:
        return begin(rank, thread, operations, record.operation, event);
      case Kind::collective:
        return begin(rank, thread, collectives, record.operation, event);
      case Kind::collective_end:
        return end(rank, thread, collectives, record.operation, event);
      case Kind::complete:
        return end(rank, thread, operations, record.operation, event);
      case Kind::release:
        return begin(rank, thread, releases, record.operation, event);
      case Kind::release_end:
        return end(rank, thread, releases, record.operation, event);
      case Kind::hold:
        return begin(rank, thread, held, held_id(record), event);
      case Kind::let_go:
        return end(rank, thread, held, held_id(record), event);
      default:
        break;
    }
    if (!is_slice(event.kind()) && !is_end_of_message(record)) write_instant(rank, thread, event);
  }

  /// One operation may be held for two reasons at a time.
  static std::uint64_t held_id(const trace::Record& record) { return std::uint64_t{record.operation} << 16 | record.detail; }

  void write_slices(Rank& rank, Thread& thread, std::int64_t until_ns) {
    for (; thread.lane.front() && thread.lane.front()->begin_ns <= until_ns; thread.lane.pop())
      write_slice(rank, thread, *thread.lane.front());
  }

  void write_slice(Rank& rank, Thread& thread, const Slice& slice) {
    const trace::Record& record = slice.record;
    const bool is_message = is_end_of_message(record);
    thread.last_ns = std::max(thread.last_ns, slice.begin_ns);
    const std::string kind = rank.file->table().kind_name(record.kind);
    open_event("X", is_message ? title_of_message(record) : name_of_slice(rank, record, kind), is_message ? "message" : kind,
               rank, thread.number, thread.last_ns);
    const auto lasted = static_cast<std::uint64_t>(std::max<std::int64_t>(slice.end_ns - thread.last_ns, 0));
    put(",\"dur\":{}.{:03}", lasted / 1000, lasted % 1000);
    put_arguments(rank, record);
    put("}}");
    if (!is_message) return;
    const auto pair = pairs_.add(name_of_message(record, rank.file->header().job, rank.file->rank()), tells_of_send(record),
                                 {thread.last_ns, rank.process, thread.number});
    if (pair) write_flow(*pair);
  }

  static std::string title_of_message(const trace::Record& record) {
    const bool is_match = static_cast<Kind>(record.kind) == Kind::match;
    return (is_match ? "match from " : "send to ") + peer_name(record.peer);
  }

  static std::string name_of_slice(Rank& rank, const trace::Record& record, const std::string& kind) {
    switch (static_cast<Kind>(record.kind)) {
      case Kind::call: {
        const std::string& call = rank.sites.at(record.site).call;
        return call.empty() ? kind : call;
      }
      case Kind::release:
        return "close pages";
      default:
        return kind;
    }
  }

  void write_flow(const MessagePairs<MessageEnd>::Pair& pair) {
    ++flows_;
    const auto write_end = [this](const char* phase, const MessageEnd& end, const char* more) {
      const auto since = static_cast<std::uint64_t>(std::max<std::int64_t>(end.at_ns - trace_->start_ns(), 0));
      put(",\n{{\"ph\":\"{}\",\"name\":\"message\",\"cat\":\"message\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}.{:03}{}}}",
          phase, flows_, end.process, end.thread, since / 1000, since % 1000, more);
    };
    write_end("s", pair.sent, "");
    write_end("f", pair.received, ",\"bp\":\"e\"");
  }

  void write_instant(Rank& rank, Thread& thread, const Event& event) {
    thread.last_ns = std::max(thread.last_ns, event.end_ns);
    const std::string kind = rank.file->table().kind_name(event.record.kind);
    open_event("i", kind, "event", rank, thread.number, thread.last_ns);
    put(",\"s\":\"t\"");
    put_arguments(rank, event.record);
    put("}}");
  }

  static void begin(Rank& rank, const Thread& thread, const char* category, std::uint64_t id, const Event& event) {
    rank.begun.insert_or_assign({category, id}, Begun{event.end_ns, thread.number, event.record});
  }

  /// An end whose begin is not in the trace is told as an instant.
  void end(Rank& rank, Thread& thread, const char* category, std::uint64_t id, const Event& event) {
    const auto found = rank.begun.find({category, id});
    if (found == rank.begun.end()) return write_instant(rank, thread, event);
    write_begin(rank, category, id, found->second);
    write_end(rank, category, id, found->second, std::max(event.end_ns, found->second.at_ns));
    put_arguments(rank, event.record);
    put("}}");
    rank.begun.erase(found);
  }

  static std::string name_of_begun(const Rank& rank, const Begun& begun) {
    switch (static_cast<Kind>(begun.record.kind)) {
      case Kind::post_send:
        return "send to " + peer_name(begun.record.peer);
      case Kind::post_receive:
        return "receive from " + peer_name(begun.record.peer);
      case Kind::part:
        return "part with " + peer_name(begun.record.peer);
      case Kind::collective:
        return rank.file->table().word("collective", begun.record.detail);
      case Kind::release:
        return "under guard";
      default:
        return "held";
    }
  }

  void write_begin(Rank& rank, const char* category, std::uint64_t id, const Begun& begun) {
    open_event("b", name_of_begun(rank, begun), category, rank, begun.thread, begun.at_ns);
    put(",\"id2\":{{\"local\":\"{:#x}\"}}", id);
    put_arguments(rank, begun.record);
    put("}}");
  }
  /// Arguments follow.
  void write_end(const Rank& rank, const char* category, std::uint64_t id, const Begun& begun, std::int64_t at_ns) {
    open_event("e", name_of_begun(rank, begun), category, rank, begun.thread, at_ns);
    put(",\"id2\":{{\"local\":\"{:#x}\"}}", id);
  }

  void end_rank(Rank& rank) {
    for (auto& [number, thread] : rank.threads) write_slices(rank, thread, std::numeric_limits<std::int64_t>::max());
    for (const auto& [key, begun] : rank.begun) {
      const auto& [category, id] = key;
      write_begin(rank, category, id, begun);
      write_end(rank, category, id, begun, std::max(rank.last_ns, begun.at_ns));
      put(",\"args\":{{\"unfinished\":true}}}}");
    }
  }

  const Trace* trace_;
  OutputFile* file_;
  Progress* progress_;
  SliceStore store_;
  Symbols symbols_;
  MessagePairs<MessageEnd> pairs_{max_waiting_ends};
  std::map<const TraceFile*, Rank> ranks_;
  std::uint32_t threads_ = 0;
  std::uint64_t flows_ = 0;
  bool is_first_ = true;
};

}  // namespace

void export_perfetto(const Trace& trace, OutputFile& file, const std::filesystem::path& temporary, Progress& progress) {
  PerfettoExport(trace, file, temporary, progress).write();
}

}  // namespace sluice
