// `sluice report --buffers` on traces whose uses of buffers are known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/tools/shell.hpp"
#include "tests/unit/tools/two_rank_trace.hpp"

namespace sluice {
namespace {

using nlohmann::json;
using trace::Kind;

constexpr std::uint64_t buffer = 0x10000;
constexpr std::uint64_t other = 0x20000;
constexpr std::size_t first_threshold = 0;  // the second use
constexpr std::size_t next_threshold = 1;   // the eighth

class BufferReport : public testing::Test {
 protected:
  BufferReport() { ranks_.first.site(1, "MPI_Send", 0x1001); }

  /// Small ones that leave while they are posted.
  void send(std::uint64_t address, std::uint64_t bytes, std::uint16_t how = 0, int times = 1) {
    for (int i = 0; i < times; ++i)
      ranks_.first.add(Kind::post_send, at_++, sent(address, bytes, static_cast<std::uint16_t>(how | trace::post_at_once)));
  }
  /// One that has a request; its message's record may come before that of its post.
  void send_later(std::uint64_t address, std::uint64_t bytes, std::uint16_t message, std::uint16_t how = 0,
                  bool is_before = true) {
    const std::uint32_t operation = ++operation_;
    trace::Record post = sent(address, bytes, how);
    post.operation = operation;
    const trace::Record left{.detail = message, .operation = operation, .peer = 1, .tag = 3};
    if (is_before) ranks_.first.add(Kind::message_out, at_++, left);
    ranks_.first.add(Kind::post_send, at_++, post);
    if (!is_before) ranks_.first.add(Kind::message_out, at_++, left);
  }
  void receive(std::uint64_t address, std::uint16_t how) {
    const std::uint32_t operation = ++operation_;
    ranks_.second.add(Kind::post_receive, at_++,
                      {.bytes = 4096, .value = address, .operation = operation, .site = 1, .peer = 0, .tag = 3});
    ranks_.second.add(Kind::match, at_++, {.detail = how, .bytes = 300, .operation = operation, .peer = 0, .tag = 3});
  }
  Result run(const std::string& options) {
    ranks_.write();
    return shell("$sluice report --buffers " + options + " " + ranks_.directory.path().string());
  }
  json report() {
    const Result result = run("--json");
    EXPECT_EQ(result.status, 0) << result.output;
    return json::parse(result.output, nullptr, false);
  }

  static constexpr std::uint16_t eager = TwoRanks::message_eager;
  static constexpr std::uint16_t rts = TwoRanks::message_rts;
  TwoRanks ranks_;

 private:
  static trace::Record sent(std::uint64_t address, std::uint64_t bytes, std::uint16_t how) {
    return {.detail = how, .bytes = bytes, .value = address, .site = 1, .peer = 1, .tag = 3};
  }

  double at_ = 10;
  std::uint32_t operation_ = 0;
};

TEST_F(BufferReport, uses_of_each_buffer_are_counted_by_direction) {
  send(buffer, 600, 0, 5);
  send(other, 900);
  send_later(buffer, 1 << 20, rts);
  receive(buffer, 0);
  receive(buffer, 0);
  receive(other, trace::match_rendezvous);

  const json found = report();

  const json& small = found["directions"][0];
  EXPECT_EQ(small["messages"], "sent, small");
  EXPECT_EQ(small["number"], 6);
  EXPECT_EQ(small["again"], 4);
  EXPECT_EQ(small["buffers"]["most"], 2);
  EXPECT_EQ(small["most_uses"]["most"], 5);
  EXPECT_EQ(small["bytes_of_most"]["most"], 600);
  EXPECT_EQ(found["directions"][1]["number"], 2);
  EXPECT_EQ(found["directions"][1]["again"], 1);
  EXPECT_EQ(found["directions"][2]["number"], 1);
  EXPECT_EQ(found["directions"][3]["number"], 1);
  EXPECT_EQ(found["buffers"][0]["address"], buffer);
  EXPECT_EQ(found["buffers"][0]["rank"], 0);
  EXPECT_EQ(found["buffers"][0]["sent"], 6);
  EXPECT_EQ(found["buffers"][0]["bytes"], 1 << 20);
  EXPECT_EQ(found["buffers"][0]["site"], "MPI_Send at 0x1000");
  EXPECT_EQ(found["buffers"].size(), 4U) << "the same address on two ranks is two buffers";
}

TEST_F(BufferReport, copies_are_those_that_the_runtime_would_count) {
  send(buffer, 600, 0, 10);
  send(other, 256, 0, 3);  // goes inline
  send(other, 600, trace::post_gaps);
  send_later(other, 600, eager, trace::post_synchronous);
  send_later(other, 600, eager, trace::post_buffered);
  send_later(other, 1 << 20, rts);

  const json copies = report()["copies"];

  EXPECT_EQ(copies["messages"], 10);
  EXPECT_EQ(copies["buffers"], 1);
  EXPECT_EQ(copies["saved"], 0);
  EXPECT_EQ(copies["would_save"][first_threshold]["copies"], 9);
  EXPECT_EQ(copies["would_save"][next_threshold]["copies"], 3);
  EXPECT_EQ(copies["would_save"][next_threshold]["bytes"], 3 * 600);
  EXPECT_EQ(copies["would_save"][2]["copies"], 0);
}

TEST_F(BufferReport, records_of_a_send_may_come_in_any_order) {
  send_later(buffer, 600, eager, 0, true);
  send_later(buffer, 600, eager, 0, false);

  EXPECT_EQ(report()["copies"]["messages"], 2);
}

TEST_F(BufferReport, messages_that_left_without_their_copy_are_those_that_say_so) {
  send(buffer, 3000, 0, 2);
  for (int i = 0; i < 3; ++i) send_later(buffer, 3000, eager, trace::post_gathered);
  ranks_.first.add(Kind::frequent, 5000, {.duration_ns = 700, .bytes = 3000, .value = buffer, .extra = 3});

  const json found = report();

  EXPECT_EQ(found["copies"]["saved"], 3);
  EXPECT_EQ(found["copies"]["saved_bytes"], 9000);
  EXPECT_EQ(found["buffers"][0]["saved"], 3);
  EXPECT_EQ(found["became_frequent"], 1);
  EXPECT_EQ(found["uses_until_frequent"]["most"], 3);
  EXPECT_EQ(found["sizes"][0]["size"], "up to 4 KB");
  EXPECT_EQ(found["sizes"][0]["saved"], 3);
}

/// 16 KB: R = 4 · 1000 ns, C − V = 16384 · 0.1 − 638.4 = 1000 ns, n = 4; without any V 3. Of 4 KB 0.4 µs are less than V.
TEST_F(BufferReport, uses_that_are_needed_follow_from_what_the_job_measured_last) {
  constexpr std::uint64_t copy_ps_per_kib = 102'400;
  ranks_.first.entry(trace::EntryType::configuration, 0, "SLUICE_FREQUENT_SHARE=100");
  ranks_.first.add(Kind::frequent_terms, 1, {.duration_ns = 9, .bytes = 9, .value = 9, .extra = 9});
  ranks_.first.add(Kind::frequent_terms, 2, {.duration_ns = 1000, .bytes = copy_ps_per_kib, .value = 638'400, .extra = 0});
  send(buffer, 16'000);
  send(buffer, 4000);

  const json found = report();

  ASSERT_EQ(found["sizes"].size(), 2U);
  EXPECT_TRUE(found["sizes"][0]["is_measured"]);
  EXPECT_TRUE(found["sizes"][0]["frequent_from_use"].is_null()) << "never";
  EXPECT_EQ(found["sizes"][1]["frequent_from_use"], 4);
  EXPECT_EQ(found["sizes"][1]["frequent_from_use_where_calls_wait"], 3);
  EXPECT_EQ(found["costs"][0]["use_ns"], 638.4);
}

TEST_F(BufferReport, tables_tell_it_in_words) {
  send(buffer, 600, 0, 10);
  send(other, 700);

  const Result result = run("--most 1");

  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.output, "2 buffers")) << result.output;
  EXPECT_TRUE(contains(result.output, "sent, small")) << result.output;
  EXPECT_TRUE(contains(result.output, "81.8 %")) << "9 of 11 messages came from a buffer that was used before\n" << result.output;
  EXPECT_TRUE(contains(result.output, "was not measured")) << result.output;
  EXPECT_TRUE(contains(result.output, "0x10000")) << result.output;
  EXPECT_FALSE(contains(result.output, "0x20000")) << "one line at most\n" << result.output;
}

TEST_F(BufferReport, a_trace_without_messages_says_so) {
  const Result result = run("");

  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.output, "no message of the program's came from a buffer")) << result.output;
}

TEST_F(BufferReport, a_trace_from_before_saved_copies_were_told_says_how_many_there_are) {
  trace::CounterPayload counter{.value = 42, .name = {}};
  std::string("  from the program's memory").copy(counter.name.data(), counter.name.size());
  ranks_.first.entry_of(trace::EntryType::counter, 0, counter);
  send(buffer, 600);

  const Result result = run("");

  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.output, "42 small messages left without their copy; the trace does not say which"))
      << result.output;
}

TEST_F(BufferReport, damage_is_told_and_the_rest_counted) {
  send(buffer, 600, 0, 3);
  ranks_.write();
  std::string file = ranks_.first.bytes();
  file[file.size() - trace::chunk_bytes + trace::record_bytes + 20] ^= 1;  // in the first record
  TraceMaker::write_bytes(ranks_.directory.file(0), file);

  const Result result = shell("$sluice report --buffers " + ranks_.directory.file(0).string());

  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(contains(result.output, "rank-000000.trace: offset ")) << result.output;
  EXPECT_TRUE(contains(result.output, "sent, small")) << result.output;
}

TEST_F(BufferReport, what_is_no_trace_costs_one_line) {
  const Result result = shell("$sluice report --buffers /nowhere");

  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.output, "/nowhere")) << result.output;
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
}

}  // namespace
}  // namespace sluice
