#include "runtime/trace/trace.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <filesystem>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "runtime/base/clock.hpp"
#include "runtime/trace/call.hpp"
#include "runtime/trace/file.hpp"
#include "support/trace_reading.hpp"

namespace sluice::trace {
namespace {

constexpr std::size_t min_limit = File::min_bytes;
constexpr std::size_t min_chunks = (min_limit - File::chunks_offset) / chunk_bytes;
constexpr std::size_t min_room = min_chunks * records_per_chunk;

void write_numbers(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = first; i < first + count; ++i) write({.kind = static_cast<std::uint16_t>(Kind::helper), .value = i});
}

class Trace : public ::testing::Test {
 protected:
  Trace() : directory_(std::filesystem::temp_directory_path() / ("sluice-trace-" + std::to_string(getpid()))) {}
  ~Trace() override {
    close();
    std::filesystem::remove_all(directory_);
  }

  void begin(std::size_t limit = min_limit, Keep keep = Keep::newest) const {
    open({.directory = directory_, .limit_bytes = limit, .keep = keep, .rank = 3, .size = 4, .job = 77});
  }
  [[nodiscard]] std::string path() const { return directory_ / "rank-000003.trace"; }

  /// In a process of its own; how it ended.
  static int in_child(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  std::filesystem::path directory_;
};

TEST_F(Trace, nothing_is_on_before_it_is_opened_and_after_it_is_closed) {
  EXPECT_FALSE(on());
  begin();
  EXPECT_TRUE(on());
  close();
  EXPECT_FALSE(on());
}

TEST_F(Trace, header_says_whose_file_it_is) {
  begin();
  close();
  const ReadTrace trace = read_trace(path());
  EXPECT_EQ(trace.header.check, check_before(trace.header));
  EXPECT_EQ(trace.header.rank, 3);
  EXPECT_EQ(trace.header.size, 4);
  EXPECT_EQ(trace.header.job, 77u);
  EXPECT_EQ(trace.header.process, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(trace.end.check, check_before(trace.end));
  EXPECT_EQ(trace.end.cause, EndCause::finalized);
}

TEST_F(Trace, table_has_every_kind_with_its_members) {
  begin();
  close();
  const ReadTrace trace = read_trace(path());
  const auto& entries = trace.entries.at(EntryType::kind);
  ASSERT_EQ(entries.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(entries[i].first, static_cast<std::uint32_t>(kinds[i].kind));
    EXPECT_TRUE(entries[i].second.starts_with(std::string(kinds[i].name) + '\t')) << entries[i].second;
  }
}

TEST_F(Trace, records_of_a_thread_come_back_in_order) {
  begin();
  write_numbers(0, 1000);
  close();
  const ReadTrace trace = read_trace(path());
  std::vector<std::uint64_t> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(trace.values_of(0), expected);
  EXPECT_EQ(trace.damaged, 0u);
}

TEST_F(Trace, every_byte_of_a_record_and_its_place_count_in_its_check_word) {
  const Record record{.kind = 30, .detail = 2, .time_ns = 1'000'000'007, .bytes = 65536, .operation = 3, .peer = 1, .tag = 9};
  const std::uint32_t check = check_of(record, record_seed(5, 17));
  EXPECT_NE(check_of(record, record_seed(5, 18)), check);
  EXPECT_NE(check_of(record, record_seed(6, 17)), check);
  for (std::size_t at = sizeof record.check; at < sizeof record; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof record>>(record);
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 1u << bit);
      EXPECT_NE(check_of(std::bit_cast<Record>(bytes), record_seed(5, 17)), check) << "byte " << at << ", bit " << bit;
    }
  }
}

TEST_F(Trace, what_is_told_in_the_same_breath_has_the_same_time) {
  begin();
  const auto kind = static_cast<std::uint16_t>(Kind::helper);
  write({.kind = kind, .value = 1});
  write({.kind = kind, .value = 2}, 0, with_last);
  const std::uint64_t last = last_record_ns();
  while (now() == last) continue;
  write({.kind = kind, .value = 3});
  const std::uint64_t at = now();
  while (now() == at) continue;
  write({.kind = kind, .value = 4}, last, at);
  close();
  const ReadTrace trace = read_trace(path());
  const auto& records = trace.records.at(0);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].time_ns, last);
  EXPECT_EQ(records[1].time_ns, last);
  EXPECT_GT(records[2].time_ns, last);
  EXPECT_EQ(records[3].time_ns, at);
  EXPECT_EQ(records[3].duration_ns, at - last);
}

TEST_F(Trace, newest_records_are_kept_beyond_the_limit) {
  begin();
  constexpr std::uint64_t written = 3 * min_room + 17;
  write_numbers(0, written);
  close();
  const ReadTrace trace = read_trace(path());
  const auto values = trace.values_of(0);
  ASSERT_GE(values.size(), min_room - 2 * records_per_chunk);
  EXPECT_EQ(values.back(), written - 1);
  EXPECT_EQ(values.front(), written - values.size());
  EXPECT_GT(trace.stale, 0u);
  EXPECT_EQ(trace.damaged, 0u);
  EXPECT_LE(std::filesystem::file_size(path()), min_limit);
}

TEST_F(Trace, oldest_records_are_kept_beyond_the_limit_if_asked_for) {
  begin(min_limit, Keep::oldest);
  write_numbers(0, min_room + 1000);
  close();
  const ReadTrace trace = read_trace(path());
  EXPECT_EQ(trace.values_of(0).size(), min_room);
  EXPECT_EQ(trace.values_of(0).back(), min_room - 1);
  EXPECT_EQ(trace.end.lost_records, 1000u);
}

TEST_F(Trace, threads_write_beside_one_another) {
  begin(std::size_t{8} << 20);
  constexpr std::uint64_t each = 10000;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back([i] { write_numbers(i * each, each); });
  for (auto& thread : threads) thread.join();
  close();
  const ReadTrace trace = read_trace(path());
  ASSERT_EQ(trace.records.size(), 4u);
  for (const auto& [thread, records] : trace.records) {
    const auto values = trace.values_of(thread);
    ASSERT_EQ(values.size(), each);
    for (std::size_t i = 0; i < each; ++i) ASSERT_EQ(values[i], values[0] + i);
  }
  EXPECT_EQ(trace.entries.at(EntryType::thread).size(), 4u);
  EXPECT_EQ(trace.damaged, 0u);
}

TEST_F(Trace, chunks_of_threads_that_ended_are_used_again) {
  begin();
  for (std::uint64_t i = 0; i < 3 * min_chunks; ++i) std::thread([i] { write_numbers(i, 1); }).join();
  close();
  const ReadTrace trace = read_trace(path());
  EXPECT_EQ(trace.count(), min_chunks);
  EXPECT_EQ(trace.end.lost_records, 0u);
}

TEST_F(Trace, slow_thread_keeps_its_chunk_while_others_go_round) {
  begin();
  write_numbers(1'000'000, 1);
  std::thread([] { write_numbers(0, 4 * min_room); }).join();
  write_numbers(1'000'001, 1);
  close();
  const ReadTrace trace = read_trace(path());
  EXPECT_EQ(trace.values_of(0), (std::vector<std::uint64_t>{1'000'000, 1'000'001}));
  EXPECT_EQ(trace.damaged, 0u);
}

TEST_F(Trace, killed_process_leaves_a_readable_file) {
  const int status = in_child([this] {
    begin();
    write_numbers(0, 1234);
    kill(getpid(), SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  const ReadTrace trace = read_trace(path());
  EXPECT_EQ(trace.values_of(0).size(), 1234u);
  EXPECT_EQ(trace.damaged, 0u);
  EXPECT_EQ(trace.end.check, 0u);
}

TEST_F(Trace, child_of_a_fork_writes_nothing) {
  begin();
  write_numbers(0, 1);
  in_child([] {
    abandon();
    write_numbers(100, 1);
  });
  write_numbers(1, 1);
  close();
  EXPECT_EQ(read_trace(path()).values_of(0), (std::vector<std::uint64_t>{0, 1}));
}

volatile sig_atomic_t handled = 0;
constexpr std::uint64_t of_handler = 1'000'000'000;

void write_in_handler(int) {
  write({.kind = static_cast<std::uint16_t>(Kind::fault), .value = of_handler + static_cast<std::uint64_t>(handled)});
  handled = handled + 1;
}

TEST_F(Trace, signal_handler_writes_into_the_middle_of_a_record) {
  begin(std::size_t{16} << 20);
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = write_in_handler;
  sigaction(SIGALRM, &action, &before);
  const itimerval often{{0, 50}, {0, 50}};
  const itimerval never{};
  handled = 0;
  setitimer(ITIMER_REAL, &often, nullptr);
  constexpr std::uint64_t written = 200'000;
  write_numbers(0, written);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  close();
  const ReadTrace trace = read_trace(path());
  const auto values = trace.values_of(0);
  EXPECT_EQ(trace.damaged, 0u);
  EXPECT_EQ(values.size() + trace.end.lost_records, written + static_cast<std::uint64_t>(handled));
  EXPECT_EQ(static_cast<std::uint64_t>(std::count_if(values.begin(), values.end(), [](auto v) { return v < of_handler; })),
            written);
}

TEST_F(Trace, file_that_cannot_grow_keeps_the_newest_of_what_it_has) {
  const int status = in_child([this] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{std::size_t{20} << 20, std::size_t{20} << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    begin(std::size_t{64} << 20);
    write_numbers(0, 600'000);
    close();
  });
  ASSERT_TRUE(WIFEXITED(status));
  const ReadTrace trace = read_trace(path());
  const auto values = trace.values_of(0);
  EXPECT_EQ(values.back(), 599'999u);
  EXPECT_GT(values.size(), 250'000u);
  EXPECT_EQ(trace.end.cause, EndCause::disk_full);
  EXPECT_EQ(trace.damaged, 0u);
}

TEST_F(Trace, directory_that_cannot_be_made_is_named) {
  try {
    open({.directory = "/proc/no-such-place", .limit_bytes = min_limit});
    FAIL() << "a trace was opened";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/proc/no-such-place"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(on());
}

TEST_F(Trace, jobs_that_write_to_one_directory_at_the_same_time_all_write) {
  constexpr int jobs = 8;
  std::filesystem::create_directory(directory_);
  std::vector<pid_t> children;
  for (int job = 0; job < jobs; ++job) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    int status = 0;
    for (int round = 0; round < 20 && status == 0; ++round) {
      try {
        begin();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
      }
      close();
    }
    _exit(status);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(Trace, times_are_those_of_the_monotonic_clock) {
  constexpr std::uint64_t tolerance_ns = 5'000;
  begin();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> around;
  const std::uint64_t until = now_ns() + 200'000'000;
  while (now_ns() < until) {
    const std::uint64_t before = now_ns();
    write_numbers(0, 1);
    around.emplace_back(before, now_ns());
    usleep(500);
  }
  close();
  const auto records = read_trace(path()).records.at(0);
  ASSERT_EQ(records.size(), around.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_GE(records[i].time_ns + tolerance_ns, around[i].first);
    EXPECT_LE(records[i].time_ns, around[i].second + tolerance_ns);
  }
}

[[gnu::noinline]] void call_from_here() {
  const Call call(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), __builtin_dwarf_cfa(), "MPI_Test",
                  CallClass::carried, true);
}

TEST_F(Trace, sites_are_told_apart_and_written_once) {
  begin();
  for (int i = 0; i < 3; ++i) call_from_here();
  call_from_here();
  close();
  const ReadTrace trace = read_trace(path());
  const auto& sites = trace.entries.at(EntryType::site);
  ASSERT_EQ(sites.size(), 2u);
  const auto& records = trace.records.at(0);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].site, records[2].site);
  EXPECT_NE(records[0].site, records[3].site);
  SitePayload site;
  std::memcpy(static_cast<void*>(&site), sites[0].second.data(), sites[0].second.size());
  EXPECT_STREQ(site.function.data(), "MPI_Test");
  EXPECT_GT(site.frames, 1u);
  ASSERT_FALSE(trace.entries.at(EntryType::module).empty());
}

}  // namespace
}  // namespace sluice::trace
