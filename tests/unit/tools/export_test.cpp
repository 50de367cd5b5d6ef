// `sluice export` on traces whose records are known. tests/mpi/trace/exports.py compares all three formats with `sluice dump`,
// and trace events with the rules of their format.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/tools/shell.hpp"
#include "tests/unit/tools/trace_maker.hpp"
#include "tools/export/slices.hpp"

namespace sluice {
namespace {

using trace::Kind;

constexpr std::uint16_t eager = 1;
constexpr std::uint16_t rts = 2;
constexpr std::uint16_t fin = 6;
constexpr std::uint64_t us = 1000;

/// Two ranks, the second half a second ahead by its clock, that do some of everything.
class Export : public testing::Test {
 protected:
  Export() {
    sender_.site(1, "MPI_Send", 0x1001);
    sender_.site(2, "operator,(\"x\")", 0x2001);
    receiver_.site(1, "MPI_Recv", 0x3001);
    receiver_.site(2, "MPI_Waitall", 0x4001);
    receiver_.site(3, "", 0x5001);
    receiver_.clock_start() = {.local_ns = TraceMaker::start_ns, .to_rank0_ns = -500'000'000, .error_ns = 0, .check = 1};
    receiver_.header().start_ns += 500'000'000;
    send();
    receive();
  }

  void send() {
    sender_.add(Kind::post_send, 100, {.detail = trace::post_at_once, .bytes = 64, .site = 1, .peer = 1, .tag = 7, .extra = 1});
    sender_.add(Kind::call, 101, {.duration_ns = 2 * us, .site = 1, .extra = 1});
    sender_.add(Kind::post_send, 200, {.bytes = 1 << 20, .operation = 1, .site = 1, .peer = 1, .tag = 8});
    sender_.add(Kind::message_out, 200, {.detail = rts, .bytes = 32, .value = 2, .operation = 1, .peer = 1, .tag = 8});
    sender_.add(Kind::sleep, 240, {.duration_ns = 20 * us});
    sender_.add(Kind::message_in, 260, {.detail = fin, .operation = 1, .peer = 1});
    sender_.add(Kind::complete, 260, {.bytes = 1 << 20, .operation = 1, .site = 2, .peer = 1, .tag = 8});
    sender_.add(Kind::wait, 261, {.duration_ns = 60 * us, .operation = 1, .site = 2, .extra = 2});
    sender_.add(Kind::call, 262, {.duration_ns = 63 * us, .value = 60 * us, .site = 2, .extra = 2});
    collective_calls();
    // Answered an announcement, and one that nobody receives.
    sender_.add(Kind::post_send, 300, {.bytes = 9000, .operation = 2, .site = 1, .peer = 1, .tag = 9});
    sender_.add(Kind::message_out, 301,
                {.detail = trace::message_put, .bytes = 9000, .value = 65535, .operation = 2, .peer = 1, .tag = 9});
    sender_.add(Kind::complete, 302, {.bytes = 9000, .operation = 2, .peer = 1, .tag = 9});
    sender_.add(Kind::message_out, 400, {.detail = eager, .bytes = 5, .value = 3, .operation = 3, .peer = 1, .tag = 10});
    sender_.add(static_cast<Kind>(999), 401, {.value = 5});
  }

  /// One that blocks, of one message, and one that does not, which another thread ends.
  void collective_calls() {
    const auto enter = [this](double when, std::uint32_t operation, std::uint16_t kind, std::uint32_t how) {
      sender_.add(Kind::collective, when,
                  {.detail = kind, .bytes = 800, .value = 1, .operation = operation, .site = 2, .context = 1, .extra = how});
    };
    const auto allreduce = static_cast<std::uint16_t>(trace::CollectiveKind::allreduce);
    const auto alltoall = static_cast<std::uint16_t>(trace::CollectiveKind::alltoall);
    enter(270, 21, allreduce, 0);
    sender_.add(Kind::part, 271, {.detail = 1, .bytes = 800, .value = 21, .operation = 22, .peer = 1, .tag = 3});
    sender_.add(Kind::message_out, 272,
                {.detail = eager, .bytes = 800, .value = 4, .operation = 22, .peer = 1, .tag = 3, .extra = 1});
    sender_.add(Kind::complete, 273, {.bytes = 800, .operation = 22, .peer = 1, .tag = 3});
    sender_.add(Kind::collective_end, 274, {.duration_ns = 4 * us, .operation = 21, .site = 2, .extra = 2});
    enter(275, 23, alltoall, trace::collective_nonblocking);
    sender_.add(Kind::collective_end, 290,
                {.detail = trace::collective_nonblocking, .duration_ns = 15 * us, .operation = 23, .site = 2, .extra = 2},
                helper);
    enter(295, 24, allreduce, trace::collective_nonblocking);  // for ever
  }

  void receive() {
    const auto at = [](double when) { return when + 500'000; };
    receiver_.add(Kind::post_receive, at(50), {.bytes = 64, .operation = 1, .site = 1, .peer = -1, .tag = -1});
    receiver_.add(Kind::post_receive, at(51), {.bytes = 1 << 20, .operation = 2, .site = 1, .peer = 0, .tag = 8});
    receiver_.add(Kind::match, at(110), {.bytes = 64, .value = 1, .operation = 1, .peer = 0, .tag = 7}, helper);
    receiver_.add(Kind::complete, at(111), {.bytes = 64, .operation = 1, .peer = 0, .tag = 7}, helper);
    receiver_.add(Kind::match, at(205), {.detail = 1, .bytes = 1 << 20, .value = 2, .operation = 2, .peer = 0, .tag = 8}, helper);
    receiver_.add(Kind::release, at(210), {.duration_ns = 3 * us, .bytes = 1 << 20, .operation = 2, .site = 2, .peer = 0});
    receiver_.add(Kind::wait, at(211), {.duration_ns = 150 * us, .operation = 1, .site = 2, .extra = 4});
    receiver_.add(Kind::wait, at(212), {.detail = 1, .duration_ns = 151 * us, .operation = 2, .site = 2, .extra = 4});
    receiver_.add(Kind::call, at(213), {.duration_ns = 153 * us, .value = 151 * us, .site = 2, .extra = 4});
    receiver_.add(Kind::hold, at(220), {.operation = 7, .peer = 0});
    receiver_.add(Kind::complete, at(258), {.bytes = 1 << 20, .operation = 2, .peer = 0, .tag = 8}, helper);
    receiver_.add(Kind::release_end, at(259), {.duration_ns = 49 * us, .operation = 2}, helper);
    receiver_.add(Kind::let_go, at(260), {.duration_ns = 40 * us, .operation = 7, .peer = 0}, helper);
    receiver_.add(Kind::helper, at(261), {.duration_ns = 60 * us}, helper);
    receiver_.add(Kind::fault, at(262), {.duration_ns = 30 * us, .value = 0xbeef, .operation = 2, .site = 3});
    receiver_.add(Kind::post_receive, at(290), {.bytes = 9000, .operation = 3, .site = 1, .peer = 0, .tag = 9});
    receiver_.add(Kind::match, at(310),
                  {.detail = trace::match_put, .bytes = 9000, .value = 65535, .operation = 3, .peer = 0, .tag = 9});
    receiver_.add(Kind::complete, at(311), {.bytes = 9000, .operation = 3, .peer = 0, .tag = 9});
    receiver_.add(Kind::post_receive, at(320), {.bytes = 1, .operation = 4, .site = 1, .peer = 0, .tag = 99});  // for ever
    receiver_.add(Kind::release_end, at(330), {.duration_ns = 500 * us, .operation = 5});  // began before the trace
  }

  void write() {
    sender_.write(directory_.file(0));
    receiver_.write(directory_.file(1));
  }
  Result run(const std::string& options) { return shell("$sluice export " + directory_.path().string() + " " + options); }
  [[nodiscard]] std::string out(const std::string& name) const { return (out_.path() / name).string(); }

  static constexpr std::uint32_t helper = 1;  // thread
  TraceMaker sender_{0, 2};
  TraceMaker receiver_{1, 2};
  TraceDirectory directory_;
  TraceDirectory out_;
};

Result compare_with_dump(const std::string& trace) { return shell(SLUICE_EXPORTS " $sluice " + trace); }

TEST_F(Export, every_format_tells_what_dump_tells) {
  write();
  const Result result = compare_with_dump(directory_.path().string());

  EXPECT_EQ(result.output, "as it should be\n");
  EXPECT_EQ(result.status, 0);
}

TEST_F(Export, slices_that_overlap_are_cut_to_fit) {
  // As a signal handler's records may be, and those of a chunk whose thread is not known any more.
  sender_.add(Kind::call, 520, {.duration_ns = 30 * us, .site = 1, .extra = 8}, 5);
  sender_.add(Kind::sleep, 510, {.duration_ns = 30 * us}, 5);
  sender_.add(Kind::fault, 525, {.duration_ns = 20 * us}, 5);
  write();
  const Result result = shell("$sluice export " + directory_.path().string() + " --format perfetto -o " + out("t.json") +
                              " && " SLUICE_EXPORTS " --events " + out("t.json"));

  EXPECT_EQ(result.output, "as it should be\n");
}

TEST_F(Export, ranks_without_a_file_are_named_all_the_same) {
  sender_.write(directory_.file(0));
  const Result result = run("--format otf2 -o " + out("archive") + "; otf2-print -G " + out("archive/traces.otf2"));

  EXPECT_TRUE(contains(result.output, "rank 1")) << result.output;
  EXPECT_EQ(shell("otf2-print -Werror --silent " + out("archive/traces.otf2")).status, 0);
  EXPECT_EQ(run("--format perfetto | grep -c '\"ph\":\"s\"'").output, "0\n");
}

TEST_F(Export, site_has_its_line_in_an_archive) {
  const Result symbol = shell("nm $sluice | awk '$3 == \"main\" {print $1}'");
  trace::ModulePayload module;
  sender_.entry(trace::EntryType::module, 2, std::string(reinterpret_cast<const char*>(&module), sizeof module) + SLUICE_COMMAND);
  trace::SitePayload site{.frames = 1};
  site.function = {"MPI_Ssend"};
  site.frame[0] = trace::make_frame(2, std::stoull(symbol.output, nullptr, 16) + 5);
  sender_.entry_of(trace::EntryType::site, 9, site);
  sender_.add(Kind::call, 600, {.duration_ns = us, .site = 9});
  write();
  const Result result = run("--format otf2 -o " + out("archive") + "; otf2-print " + out("archive/traces.otf2"));

  EXPECT_TRUE(contains(result.output, "main.cpp:")) << result.output;
}

TEST_F(Export, damage_is_told_and_the_rest_exported) {
  sender_.write(directory_.file(0));
  std::string file = receiver_.bytes();
  file[file.size() - trace::chunk_bytes + trace::record_bytes + 20] ^= 1;
  TraceMaker::write_bytes(directory_.file(1), file);

  for (const std::string format : {"perfetto", "otf2", "csv"}) {
    const Result result = run("--format " + format + " -o " + out(format));
    EXPECT_EQ(result.status, 3) << format;
    EXPECT_TRUE(contains(result.output, "rank-000001.trace: offset ")) << result.output;
    EXPECT_EQ(result.output.find("rank-000001.trace"), result.output.rfind("rank-000001.trace")) << "once: " << result.output;
  }
  EXPECT_EQ(compare_with_dump(directory_.path().string()).output, "as it should be\n");
}

TEST_F(Export, full_disk_is_one_error_and_leaves_nothing) {
  write();
  for (const std::string format : {"perfetto", "otf2", "csv"}) {
    const Result result = shell("trap '' XFSZ; ulimit -f 1; $sluice export " + directory_.path().string() + " --format " +
                                format + " -o " + out("x"));
    EXPECT_EQ(result.status, 1) << format;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
    EXPECT_TRUE(contains(result.output, "sluice: " + out_.path().string())) << result.output;
    EXPECT_TRUE(contains(result.output, "File too large")) << result.output;
    EXPECT_EQ(shell("ls -A " + out("")).output, "") << format;
  }
}

TEST_F(Export, output_that_cannot_be_is_refused_by_name) {
  write();
  EXPECT_TRUE(contains(run("--format csv -o /nowhere/t.csv").output, "/nowhere/t.csv: No such file or directory"));
  EXPECT_TRUE(contains(run("--format otf2 -o /proc/archive").output, "sluice: /proc/archive: "));
  EXPECT_TRUE(contains(run("--format csv -o /dev/full").output, "/dev/full: No space left on device"));
  EXPECT_TRUE(contains(run("--format otf2 -o " + directory_.path().string()).output, "is there already"));
  EXPECT_EQ(run("--format otf2").status, 2);
  EXPECT_EQ(run("--format xml").status, 2);
}

TEST_F(Export, former_file_is_replaced_only_by_a_whole_one) {
  write();
  std::ofstream(out("t.csv")) << "former";

  shell("trap '' XFSZ; ulimit -f 1; $sluice export " + directory_.path().string() + " --format csv -o " + out("t.csv"));
  EXPECT_EQ(shell("cat " + out("t.csv")).output, "former");

  EXPECT_EQ(run("--format csv -o " + out("t.csv")).status, 0);
  EXPECT_TRUE(contains(shell("head -1 " + out("t.csv")).output, "time_ns,rank,thread,event"));
}

TEST(slice_store, slices_come_by_their_begins_each_within_or_apart) {
  const auto of_us = [](double duration) { return static_cast<std::uint64_t>(duration * 1000); };
  TraceMaker maker;
  maker.add(Kind::sleep, 20, {.duration_ns = of_us(10)});
  maker.add(Kind::wait, 40, {.duration_ns = of_us(35), .extra = 1});
  maker.add(Kind::wait, 41, {.duration_ns = of_us(36), .extra = 1});  // the same wait, for another operation
  maker.add(Kind::call, 50, {.duration_ns = of_us(50)});
  maker.add(Kind::fault, 70, {.duration_ns = of_us(30)});  // overlaps the call
  maker.add(Kind::sleep, 70, {});
  const TraceDirectory directory;
  maker.write(directory.file(0));
  DamageLog damage;
  const TraceFile file(directory.file(0), damage);
  Progress progress("test", 1);
  SliceStore store(directory.path(), progress);

  SliceLane lane = store.add(file, file.chunks());

  std::vector<std::tuple<Kind, double, double>> found;
  const auto us_of = [](std::int64_t ns) { return static_cast<double>(ns - std::int64_t{TraceMaker::start_ns}) / 1000; };
  for (; lane.front(); lane.pop()) {
    const Slice& slice = *lane.front();
    found.emplace_back(static_cast<Kind>(slice.record.kind), us_of(slice.begin_ns), us_of(slice.end_ns));
  }
  EXPECT_EQ(found,
            (std::vector<std::tuple<Kind, double, double>>{
                {Kind::call, 0, 50}, {Kind::wait, 5, 41}, {Kind::sleep, 10, 20}, {Kind::fault, 50, 70}, {Kind::sleep, 70, 70}}));
}

TEST(trace_events, what_breaks_their_rules_is_found) {
  const auto event = [](const std::string& members) { return R"(,{"pid":1,"tid":1,"name":"n","cat":"c",)" + members + "}"; };
  const std::string slice = event(R"("ph":"X","ts":1,"dur":2)");
  const std::pair<std::string, std::string> cases[] = {
      {slice, "as it should be"},
      {event(R"("ph":"B","ts":1)"), "a begin without an end"},
      {event(R"("ph":"E","ts":1)"), "an end without a begin"},
      {event(R"("ph":"b","ts":1,"id":1)"), "a begin without an end"},
      {slice + event(R"("ph":"s","ts":1,"id":1)"), "flow 1 has one end only"},
      {event(R"("ph":"s","ts":1,"id":1)") + event(R"("ph":"f","ts":1,"id":1)"), "a flow ends where no slice begins"},
      {slice + event(R"("ph":"i","ts":0.5)"), "time goes back"},
      {slice + event(R"("ph":"X","ts":2,"dur":2)"), "does not lie within"},
  };
  const TraceDirectory directory;
  std::string files;
  for (const auto& [events, complaint] : cases) {
    const std::string path = directory.path() / std::to_string(files.size());
    std::ofstream(path) << R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"rank 0"}},)"
                        << R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"thread 0"}})" << events << "]}";
    files += " " + path;
  }

  const Result result = shell(SLUICE_EXPORTS " --events" + files);

  std::istringstream lines(result.output);
  for (const auto& [events, complaint] : cases) {
    std::string line;
    std::getline(lines, line);
    EXPECT_TRUE(line.starts_with(complaint)) << line << " instead of " << complaint;
  }
  EXPECT_EQ(result.status, 1);
}

}  // namespace
}  // namespace sluice
