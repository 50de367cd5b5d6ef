// OTF2, for Vampir, Scalasca and their like. Rank by rank, so that the library's buffers are those of one rank's threads.
//
// Regions are calls, waits, faults and what else takes a thread's time. A send begins with MpiSend where it left at once, and
// with MpiIsend otherwise, which MpiIsendComplete ends; a receive is MpiIrecvRequest and MpiIrecv, on the threads that posted and
// completed it: with early release a receive is over when data has come, maybe long after its call. A blocking collective call is
// MpiCollectiveBegin and MpiCollectiveEnd, another one NonBlockingCollectiveRequest and NonBlockingCollectiveComplete. The
// messages that these consist of are left out.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/export/formats.hpp"
#include "tools/export/otf2_archive.hpp"
#include "tools/export/slices.hpp"
#include "tools/interruption.hpp"
#include "tools/trace/sites.hpp"

namespace sluice {

namespace fs = std::filesystem;

namespace {

using trace::Kind;

/// A rank beyond is damage: every one gets a location.
constexpr std::int32_t max_ranks = 1 << 20;

struct Attributes {
  Attributes() : list(OTF2_AttributeList_New()) {}
  ~Attributes() { OTF2_AttributeList_Delete(list); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  OTF2_AttributeList* list;
};

/// A thread of the rank that is being written.
struct Thread {
  SliceLane lane;
  OTF2_LocationRef location;
  OTF2_EvtWriter* writer;
  std::vector<std::pair<std::int64_t, OTF2_RegionRef>> entered;  // until when
  std::int64_t last_ns = 0;                                      // a writer's times never go back
};

/// As the library wants them in the end.
struct Location {
  std::string name;
  std::uint64_t events = 0;
  std::size_t rank = 0;  // of the list of ranks
};
struct Rank {
  std::string name;
  std::string host;
  std::int32_t number = 0;
  OTF2_LocationRef first_location = 0;
};

OTF2_CollectiveOp otf2_operation(trace::CollectiveKind kind) {
  switch (kind) {
    case trace::CollectiveKind::barrier:
      return OTF2_COLLECTIVE_OP_BARRIER;
    case trace::CollectiveKind::bcast:
      return OTF2_COLLECTIVE_OP_BCAST;
    case trace::CollectiveKind::reduce:
      return OTF2_COLLECTIVE_OP_REDUCE;
    case trace::CollectiveKind::allreduce:
      return OTF2_COLLECTIVE_OP_ALLREDUCE;
    case trace::CollectiveKind::gather:
      return OTF2_COLLECTIVE_OP_GATHER;
    case trace::CollectiveKind::scatter:
      return OTF2_COLLECTIVE_OP_SCATTER;
    case trace::CollectiveKind::allgather:
      return OTF2_COLLECTIVE_OP_ALLGATHER;
    case trace::CollectiveKind::reduce_scatter:
      return OTF2_COLLECTIVE_OP_REDUCE_SCATTER;
    case trace::CollectiveKind::scan:
      return OTF2_COLLECTIVE_OP_SCAN;
    case trace::CollectiveKind::exscan:
      return OTF2_COLLECTIVE_OP_EXSCAN;
    default:
      return OTF2_COLLECTIVE_OP_ALLTOALL;
  }
}

struct Operation {
  std::uint32_t context;  // which the record of its end does not have
  bool is_send;
};

class Otf2Export {
 public:
  Otf2Export(const Trace& trace, const fs::path& directory, Progress& progress)
      : trace_(&trace), progress_(&progress), archive_(directory), store_(directory, progress) {}

  void write() {
    for (const auto& file : trace_->files()) write_rank(*file);
    write_definitions();
    archive_.close();
  }

 private:
  void write_rank(const TraceFile& file) {
    Sites sites(file, symbols_);
    sites_ = &sites;
    table_ = &file.table();
    operations_.clear();
    collectives_.clear();
    threads_.clear();
    begin_rank(file);
    RankStream stream(file);
    for (Event event; stream.next(event); progress_->advance()) add(event);
    for (auto& [number, thread] : threads_) {
      enter_until(thread, std::numeric_limits<std::int64_t>::max());
      locations_[thread.location].events = archive_.close_location(thread.writer);
    }
  }

  void begin_rank(const TraceFile& file) {
    const std::size_t rank = ranks_.size();
    ranks_.push_back({fmt::format("rank {}", file.rank()), file.header().host.data(), file.rank(), locations_.size()});
    for_each_thread(file, [&](std::uint32_t number, std::span<const ChunkPlace> chunks) {
      const OTF2_LocationRef location = locations_.size();
      locations_.push_back({fmt::format("thread {}", static_cast<std::int32_t>(number)), 0, rank});
      threads_.try_emplace(number, Thread{store_.add(file, chunks), location, archive_.open_location(location), {}});
    });
    if (threads_.empty()) add_empty_location("thread 0", rank);
  }

  /// A reader wants its files all the same.
  void add_empty_location(const char* name, std::size_t rank) {
    archive_.close_location(archive_.open_location(locations_.size()));
    locations_.push_back({name, 0, rank});
  }

  void add(const Event& event) {
    Thread& thread = threads_.at(event.thread);
    enter_until(thread, event.end_ns);
    const OTF2_TimeStamp time = time_in(thread, event.end_ns);
    const trace::Record& record = event.record;
    switch (event.kind()) {
      case Kind::post_send:
        return post_send(thread, time, record);
      case Kind::post_receive:
        operations_[record.operation] = {record.context, false};
        return archive_.check(OTF2_EvtWriter_MpiIrecvRequest(thread.writer, nullptr, time, record.operation));
      case Kind::complete:
        return complete(thread, time, record);
      case Kind::collective:
        return begin_collective(thread, time, record);
      case Kind::collective_end:
        return end_collective(thread, time, record);
      default:
        return;
    }
  }

  void post_send(Thread& thread, OTF2_TimeStamp time, const trace::Record& record) {
    const OTF2_CommRef communicator = archive_.communicator(record.context);
    const auto tag = static_cast<std::uint32_t>(record.tag);
    if (record.operation == 0)
      return archive_.check(
          OTF2_EvtWriter_MpiSend(thread.writer, nullptr, time, known(record.peer), communicator, tag, record.bytes));
    operations_[record.operation] = {record.context, true};
    archive_.check(OTF2_EvtWriter_MpiIsend(thread.writer, nullptr, time, known(record.peer), communicator, tag, record.bytes,
                                           record.operation));
  }

  /// What was posted before the trace begins has no communicator: it is left out. What was cancelled never was a message.
  void complete(Thread& thread, OTF2_TimeStamp time, const trace::Record& record) {
    const auto found = operations_.find(record.operation);
    if (found == operations_.end()) return;
    const Operation operation = found->second;
    operations_.erase(found);
    if (static_cast<trace::Outcome>(record.detail) == trace::Outcome::cancelled)
      return archive_.check(OTF2_EvtWriter_MpiRequestCancelled(thread.writer, nullptr, time, record.operation));
    if (operation.is_send) return archive_.check(OTF2_EvtWriter_MpiIsendComplete(thread.writer, nullptr, time, record.operation));
    archive_.check(OTF2_EvtWriter_MpiIrecv(thread.writer, nullptr, time, known(record.peer),
                                           archive_.communicator(operation.context), static_cast<std::uint32_t>(record.tag),
                                           record.bytes, record.operation));
  }

  void begin_collective(const Thread& thread, OTF2_TimeStamp time, const trace::Record& record) {
    collectives_[record.operation] = record;
    archive_.check((record.extra & trace::collective_nonblocking) != 0
                       ? OTF2_EvtWriter_NonBlockingCollectiveRequest(thread.writer, nullptr, time, record.operation)
                       : OTF2_EvtWriter_MpiCollectiveBegin(thread.writer, nullptr, time));
  }

  /// The trace does not tell apart what a rank gave and what it got.
  void end_collective(const Thread& thread, OTF2_TimeStamp time, const trace::Record& record) {
    const auto found = collectives_.find(record.operation);
    if (found == collectives_.end()) return;
    const trace::Record begun = found->second;
    collectives_.erase(found);
    const OTF2_CollectiveOp operation = otf2_operation(static_cast<trace::CollectiveKind>(begun.detail));
    const OTF2_CommRef communicator = archive_.communicator(begun.context);
    archive_.check((begun.extra & trace::collective_nonblocking) != 0
                       ? OTF2_EvtWriter_NonBlockingCollectiveComplete(thread.writer, nullptr, time, operation, communicator,
                                                                      known(begun.peer), begun.bytes, begun.bytes,
                                                                      record.operation)
                       : OTF2_EvtWriter_MpiCollectiveEnd(thread.writer, nullptr, time, operation, communicator, known(begun.peer),
                                                         begun.bytes, begun.bytes));
  }

  /// A rank that the definitions must name, also when it has no file.
  std::uint32_t known(std::int32_t peer) {
    if (peer < 0 || peer >= max_ranks) return OTF2_UNDEFINED_UINT32;
    last_rank_ = std::max(last_rank_, peer);
    return static_cast<std::uint32_t>(peer);
  }

  OTF2_TimeStamp time_in(Thread& thread, std::int64_t at_ns) {
    thread.last_ns = std::max(thread.last_ns, at_ns - trace_->start_ns());
    last_ns_ = std::max(last_ns_, thread.last_ns);
    return static_cast<OTF2_TimeStamp>(thread.last_ns);
  }

  /// Enters all that begin by then, and leaves all that ended before.
  void enter_until(Thread& thread, std::int64_t until_ns) {
    for (; thread.lane.front() && thread.lane.front()->begin_ns <= until_ns; thread.lane.pop()) {
      const Slice& slice = *thread.lane.front();
      leave(thread, [&](std::int64_t end_ns) { return end_ns <= slice.begin_ns; });
      enter(thread, slice);
    }
    leave(thread, [&](std::int64_t end_ns) { return end_ns < until_ns; });
  }

  template <class IsOver>
  void leave(Thread& thread, const IsOver& is_over) {
    while (!thread.entered.empty() && is_over(thread.entered.back().first)) {
      const auto [end_ns, region] = thread.entered.back();
      thread.entered.pop_back();
      archive_.check(OTF2_EvtWriter_Leave(thread.writer, nullptr, time_in(thread, end_ns), region));
    }
  }

  void enter(Thread& thread, const Slice& slice) {
    const Site& site = sites_->at(slice.record.site);
    const bool is_call = static_cast<Kind>(slice.record.kind) == Kind::call && !site.call.empty();
    const OTF2_RegionRef region = archive_.region(is_call ? site.call : table_->kind_name(slice.record.kind));
    if (!site.frames.empty()) {
      const CodePlace& place = site.frames[site.program_frame];
      archive_.check(
          OTF2_AttributeList_AddStringRef(attributes_.list, Otf2Archive::site_attribute, archive_.string(site.text())));
      if (place.line > 0) {
        archive_.check(OTF2_AttributeList_AddSourceCodeLocationRef(
            attributes_.list, Otf2Archive::place_attribute, archive_.place(place.file, static_cast<std::uint32_t>(place.line))));
      }
    }
    // Writing empties the list.
    archive_.check(OTF2_EvtWriter_Enter(thread.writer, attributes_.list, time_in(thread, slice.begin_ns), region));
    thread.entered.emplace_back(slice.end_ns, region);
  }

  void write_definitions() {
    const auto main_locations = complete_ranks();
    OTF2_GlobalDefWriter* const writer = archive_.definitions();
    constexpr std::uint64_t ticks_a_second = 1'000'000'000;
    archive_.check(OTF2_GlobalDefWriter_WriteClockProperties(writer, ticks_a_second, 0, static_cast<std::uint64_t>(last_ns_) + 1,
                                                             trace_->files().front()->header().start_wall_ns));
    write_system(writer);
    const auto ranks = static_cast<std::uint32_t>(main_locations.size());
    std::vector<std::uint64_t> all(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) all[i] = i;
    archive_.check(OTF2_GlobalDefWriter_WriteGroup(writer, 0, archive_.string("ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                                   OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, ranks, main_locations.data()));
    archive_.check(OTF2_GlobalDefWriter_WriteGroup(writer, Otf2Archive::ranks_group, archive_.string("MPI_COMM_WORLD"),
                                                   OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, ranks,
                                                   all.data()));
  }

  /// The location of each rank, by rank; for those without a file one without events.
  std::vector<std::uint64_t> complete_ranks() {
    for (const Rank& rank : ranks_) last_rank_ = std::max(last_rank_, std::min(rank.number, max_ranks - 1));
    constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::uint64_t> locations(static_cast<std::size_t>(last_rank_ + 1), none);
    for (const Rank& rank : ranks_) {
      if (rank.number < 0 || rank.number > last_rank_) continue;
      auto& location = locations[static_cast<std::size_t>(rank.number)];
      if (location == none) location = rank.first_location;
    }
    for (std::size_t number = 0; number < locations.size(); ++number) {
      if (locations[number] != none) continue;
      locations[number] = locations_.size();
      add_empty_location("no file", ranks_.size());
      ranks_.push_back({fmt::format("rank {}", number), "unknown", static_cast<std::int32_t>(number), locations[number]});
    }
    return locations;
  }

  void write_system(OTF2_GlobalDefWriter* writer) {
    constexpr OTF2_SystemTreeNodeRef machine = 0;
    archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, machine, archive_.string("machine"),
                                                            archive_.string("machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
    for (std::uint32_t number = 0; number < ranks_.size(); ++number) {
      const Rank& rank = ranks_[number];
      const auto [host, is_new] = hosts.try_emplace(rank.host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size() + 1));
      if (is_new) {
        archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, host->second, archive_.string(rank.host),
                                                                archive_.string("host"), machine));
      }
      archive_.check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, number, archive_.string(rank.name),
                                                             OTF2_LOCATION_GROUP_TYPE_PROCESS, host->second,
                                                             OTF2_UNDEFINED_LOCATION_GROUP));
    }
    for (std::size_t number = 0; number < locations_.size(); ++number) {
      const Location& location = locations_[number];
      archive_.check(OTF2_GlobalDefWriter_WriteLocation(writer, number, archive_.string(location.name),
                                                        OTF2_LOCATION_TYPE_CPU_THREAD, location.events,
                                                        static_cast<OTF2_LocationGroupRef>(location.rank)));
    }
  }

  const Trace* trace_;
  Progress* progress_;
  Otf2Archive archive_;
  SliceStore store_;
  Symbols symbols_;
  Sites* sites_ = nullptr;  // these two of the rank that is being written
  const TraceTable* table_ = nullptr;
  Attributes attributes_;
  std::map<std::uint32_t, Thread> threads_;
  std::unordered_map<std::uint32_t, Operation> operations_;
  std::unordered_map<std::uint32_t, trace::Record> collectives_;  // under way
  std::vector<Rank> ranks_;
  std::vector<Location> locations_;
  std::int32_t last_rank_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace

std::string_view why_no_otf2() { return ""; }

void export_otf2(const Trace& trace, const fs::path& path, Progress& progress) {
  const fs::path directory = path.has_filename() ? path : path.parent_path();
  std::error_code error;
  if (fs::exists(directory, error) && !(fs::is_directory(directory, error) && fs::is_empty(directory, error)))
    throw std::runtime_error(directory.string() + ": is there already; an archive gets a directory of its own");
  const fs::path partial = partial_path(directory);
  try {
    Otf2Export(trace, partial, progress).write();
    fs::rename(partial, directory);
  } catch (const std::exception& failure) {
    fs::remove_all(partial, error);
    throw std::runtime_error(directory.string() + ": " + failure.what());
  } catch (const Interruption&) {
    fs::remove_all(partial, error);
    throw;
  }
}

}  // namespace sluice
