// What is read of a trace, whole and damaged.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/tools/trace_maker.hpp"
#include "tools/trace/trace.hpp"

namespace sluice {
namespace {

using trace::Kind;

std::vector<Event> events_of(const Trace& trace) {
  std::vector<const TraceFile*> files;
  for (const auto& file : trace.files()) files.push_back(file.get());
  TraceStream stream(files);
  std::vector<Event> events;
  for (Event event; stream.next(event);) events.push_back(event);
  return events;
}

/// Two threads, several chunks each, a bit of every table entry.
TraceMaker rich_trace(int records = 1000) {
  TraceMaker maker;
  maker.entry(trace::EntryType::configuration, 0, "SLUICE_RELEASE=early");
  maker.entry(trace::EntryType::word, 0, "release\t1\tsend");
  maker.site(1, "MPI_Recv", 0x4000);
  maker.entry_of(trace::EntryType::thread, 0,
                 trace::ThreadPayload{.system_id = 7, .role = trace::ThreadRole::application, .name = {"main"}});
  maker.end().check = 1;
  for (int i = 0; i < records; ++i) {
    maker.add(i % 2 ? Kind::match : Kind::progress, 10 * i, {.operation = static_cast<std::uint32_t>(i + 1)}, i % 3 == 0 ? 1 : 0);
  }
  return maker;
}

TEST(trace_file, everything_that_was_written_is_read_in_order_of_time) {
  TraceDirectory directory;
  rich_trace().write(directory.file(0));
  const Trace trace(directory.path());

  const auto events = events_of(trace);

  ASSERT_EQ(events.size(), 1000U);
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].record.operation, i + 1);
  EXPECT_EQ(events[3].thread, 1U);
  EXPECT_EQ(events[4].end_ns - trace.start_ns(), 40'000);
  EXPECT_EQ(trace.damage().found(), 0U);
  EXPECT_EQ(trace.files()[0]->table().configuration().at(0), "SLUICE_RELEASE=early");
  EXPECT_EQ(trace.files()[0]->table().sites().at(1).function, "MPI_Recv");
}

TEST(trace_file, entries_of_several_slots_are_put_together) {
  TraceDirectory directory;
  TraceMaker maker;
  const std::string path = "/" + std::string(600, 'x');
  trace::ModulePayload module;
  module.build_id_bytes = 20;
  std::string content(reinterpret_cast<const char*>(&module), sizeof module);
  maker.entry(trace::EntryType::module, 3, content + path);
  maker.write(directory.file(0));

  const Trace trace(directory.path());

  EXPECT_EQ(trace.files()[0]->table().modules().at(3).path, path);
}

TEST(trace_file, clocks_are_brought_together_and_their_drift_is_taken_out) {
  TraceDirectory directory;
  TraceMaker ahead(1, 2);
  ahead.clock_start() = {.local_ns = TraceMaker::start_ns, .to_rank0_ns = -500, .error_ns = 10, .check = 1};
  ahead.clock_end() = {.local_ns = TraceMaker::start_ns + 1'000'000, .to_rank0_ns = -700, .error_ns = 20, .check = 1};
  ahead.add(Kind::helper, 500);
  TraceMaker first(0, 2);
  first.add(Kind::helper, 500);
  first.write(directory.file(0));
  ahead.write(directory.file(1));

  const Trace trace(directory.path());
  const auto events = events_of(trace);

  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].rank, 1);
  EXPECT_EQ(events[1].end_ns - events[0].end_ns, 600);
  EXPECT_EQ(trace.files()[1]->clock_error_ns(), 20U);
}

TEST(trace_file, records_of_an_overwritten_chunk_are_left_out) {
  TraceDirectory directory;
  TraceMaker maker;
  maker.header().check = 1;
  std::string file = maker.bytes();
  // The second use of place 0: 3 new records over 10 old ones.
  std::vector<trace::Record> old(10);
  for (auto& record : old) record = {.kind = 1, .time_ns = 5};
  TraceMaker::append_chunk(file, 0, 0, 0, old);
  const std::size_t offset = maker.header().chunks_offset;
  trace::ChunkHeader header{.sequence = 1 + (1U << 20), .previous = 1, .time_ns = 9};
  header.check = trace::check_of(header, 0);
  std::memcpy(file.data() + offset, &header, sizeof header);
  for (std::size_t i = 0; i < 3; ++i) {
    trace::Record record{.kind = 2, .time_ns = 10 + i};
    record.check = trace::check_of(record, trace::record_seed(header.sequence, i));
    std::memcpy(file.data() + offset + (i + 1) * trace::record_bytes, &record, sizeof record);
  }
  TraceMaker::write_bytes(directory.file(0), file);

  const Trace trace(directory.path());

  EXPECT_EQ(events_of(trace).size(), 3U);
  EXPECT_EQ(trace.damage().found(), 0U);
}

TEST(trace_file, time_that_steps_back_within_a_thread_does_not_change_its_order) {
  TraceDirectory directory;
  TraceMaker maker;
  maker.add(Kind::match, 20, {.operation = 1});
  maker.add(Kind::match, 10, {.operation = 2});  // from a signal handler
  maker.add(Kind::match, 30, {.operation = 3});
  maker.add(Kind::match, 15, {.operation = 4}, 1);
  maker.write(directory.file(0));

  const Trace trace(directory.path());
  const auto events = events_of(trace);

  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].record.operation, 4U);
  EXPECT_EQ(events[1].record.operation, 1U);
  EXPECT_EQ(events[2].record.operation, 2U);
}

TEST(trace_file, file_that_is_no_trace_is_refused_by_name) {
  TraceDirectory directory;
  TraceMaker::write_bytes(directory.file(0), std::string(100, 'x'));

  EXPECT_THROW(Trace{directory.path()}, std::runtime_error);
}

TEST(trace_file, other_version_is_refused) {
  TraceDirectory directory;
  TraceMaker maker;
  maker.header().version = trace::format_version + 1;
  maker.write(directory.file(0));

  EXPECT_THROW(Trace{directory.path()}, std::runtime_error);
}

TEST(trace_file, missing_directory_and_empty_one_are_refused) {
  TraceDirectory directory;

  EXPECT_THROW(Trace{directory.path()}, std::runtime_error);
  EXPECT_THROW(Trace{directory.path() / "nowhere"}, std::runtime_error);
}

TEST(trace_file, file_of_another_run_is_told) {
  TraceDirectory directory;
  TraceMaker other(1, 2);
  other.header().job = 78;
  rich_trace().write(directory.file(0));
  other.write(directory.file(1));

  EXPECT_EQ(Trace(directory.path()).damage().found(), 1U);
}

/// Of the whole file's events, those that a damaged one still tells are in order and unchanged.
void expect_part_of(const std::vector<Event>& part, const std::vector<Event>& whole) {
  auto next = whole.begin();
  for (const Event& event : part) {
    next = std::find_if(next, whole.end(), [&](const Event& other) { return other.record.operation == event.record.operation; });
    ASSERT_NE(next, whole.end()) << "an event that was never written: operation " << event.record.operation;
    EXPECT_EQ(next->record.time_ns, event.record.time_ns);
  }
}

TEST(trace_file, truncation_anywhere_is_reported_and_what_is_there_is_read) {
  TraceDirectory directory;
  TraceMaker maker = rich_trace();
  const std::string file = maker.bytes();
  TraceMaker::write_bytes(directory.file(0), file);
  const auto whole = events_of(Trace(directory.path()));
  std::mt19937 random(6);

  for (int turn = 0; turn < 500; ++turn) {
    const std::size_t bytes = random() % file.size();
    TraceMaker::write_bytes(directory.file(0), file.substr(0, bytes));
    if (bytes < maker.header().magic.size()) {
      EXPECT_THROW(Trace{directory.path()}, std::runtime_error);
      continue;
    }
    const Trace trace(directory.path());
    const auto events = events_of(trace);

    expect_part_of(events, whole);
    EXPECT_GT(trace.damage().found(), 0U) << "cut to " << bytes << " of " << file.size();
    const std::uint64_t begin = maker.header().chunks_offset;
    const std::size_t chunks = bytes < begin ? 0 : (bytes - begin) / trace::chunk_bytes;
    EXPECT_GE(events.size(), std::min(whole.size(), chunks * trace::records_per_chunk) -
                                 std::min<std::size_t>(chunks, 1) * trace::records_per_chunk)
        << "cut to " << bytes;
  }
}

TEST(trace_file, file_that_was_cut_off_between_chunks_is_reported) {
  TraceDirectory directory;
  TraceMaker maker = rich_trace();
  const std::string file = maker.bytes();
  for (std::size_t chunks = 0; chunks < maker.chunks(); ++chunks) {
    TraceMaker::write_bytes(directory.file(0), file.substr(0, maker.header().chunks_offset + chunks * trace::chunk_bytes));
    EXPECT_EQ(Trace(directory.path()).damage().found(), 1U) << chunks;
  }
  TraceMaker::write_bytes(directory.file(0), file);
  EXPECT_EQ(Trace(directory.path()).damage().found(), 0U);
}

TEST(trace_file, changed_bytes_anywhere_are_reported_and_cost_what_they_hit) {
  TraceDirectory directory;
  const std::string file = rich_trace().bytes();
  TraceMaker::write_bytes(directory.file(0), file);
  const auto whole = events_of(Trace(directory.path()));
  std::mt19937 random(7);

  for (int turn = 0; turn < 500; ++turn) {
    std::string changed = file;
    std::size_t hit = 0;
    do {
      hit = random() % file.size();
    } while (file[hit] == '\0' && turn % 2);  // half of them where something is
    changed[hit] = static_cast<char>(changed[hit] ^ static_cast<char>(1 + random() % 255));
    TraceMaker::write_bytes(directory.file(0), changed);
    const Trace trace(directory.path());
    const auto events = events_of(trace);

    expect_part_of(events, whole);
    EXPECT_GE(events.size() + 1, whole.size()) << "byte " << hit;
    EXPECT_TRUE(trace.damage().found() > 0 || file[hit] == '\0') << "byte " << hit;
  }
}

TEST(trace_file, bytes_changed_by_the_hundred_do_not_bring_the_reader_down) {
  TraceDirectory directory;
  const std::string file = rich_trace().bytes();
  std::mt19937 random(8);
  for (int turn = 0; turn < 100; ++turn) {
    std::string changed = file;
    for (int i = 0; i < 300; ++i) changed[random() % changed.size()] = static_cast<char>(random());
    for (int i = 0; i < 10; ++i) changed[random() % 1300] = static_cast<char>(random());
    TraceMaker::write_bytes(directory.file(0), changed);
    try {
      const Trace trace(directory.path());
      events_of(trace);
      EXPECT_GT(trace.damage().found(), 0U);
    } catch (const std::runtime_error&) {
    }
  }
}

}  // namespace
}  // namespace sluice
