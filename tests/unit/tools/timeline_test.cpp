// What `sluice timeline` makes of traces with known content.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/tools/two_rank_trace.hpp"
#include "tools/timeline/collector.hpp"
#include "tools/timeline/columns.hpp"

namespace sluice::timeline {
namespace {

using trace::Kind;

constexpr std::int64_t us = 1000;

/// A trace of two ranks, and what a page of it would show.
class Timeline : public testing::Test, protected TwoRanks {
 protected:
  struct Shown {
    std::vector<Slice> slices;
    std::vector<Arrow> arrows;
    Counts slice_counts;
    std::uint64_t one_ended = 0;
    std::uint64_t shaded_ns = 0;
    std::uint64_t shaded = 0;
    std::size_t damage = 0;

    [[nodiscard]] std::vector<Slice> of(SliceKind kind) const {
      std::vector<Slice> found;
      for (const Slice& slice : slices) {
        if (slice.kind == kind) found.push_back(slice);
      }
      return found;
    }
  };

  Shown shown(std::size_t max_kept = 1000, Window window = {0, std::int64_t{1} << 60}) {
    write();
    return shown_of_files(max_kept, window);
  }
  /// As they are.
  Shown shown_of_files(std::size_t max_kept, Window window) {
    const Trace trace(directory.path());
    std::vector<const TraceFile*> files;
    for (const auto& file : trace.files()) files.push_back(file.get());
    Collector collector(files, max_kept, window);
    collector.read(trace, "test");
    const Content content = collector.content(trace);
    Shown result{content.slices, content.arrows, content.slice_counts, content.one_ended};
    result.damage = trace.damage().found();
    for (const auto& bins : content.density->lanes()) {
      for (const auto& bin : bins) {
        for (const Density::Cell& cell : bin) {
          result.shaded_ns += cell.time_ns;
          result.shaded += cell.begun;
        }
      }
    }
    return result;
  }
};

TEST_F(Timeline, a_message_reaches_from_its_announcement_to_its_completion) {
  large_message();

  const Shown page = shown();

  ASSERT_EQ(page.arrows.size(), 1U);
  const Arrow& arrow = page.arrows[0];
  EXPECT_EQ(arrow.sent_ns, 100 * us);
  EXPECT_EQ(arrow.matched_ns, 150 * us);
  EXPECT_EQ(arrow.complete_ns, 300 * us);
  EXPECT_EQ(arrow.from_lane, 0U);
  EXPECT_EQ(arrow.to_lane, 1U) << "the thread that receives, though another one completed it";
  EXPECT_EQ(arrow.from_site, 1U);
  EXPECT_EQ(arrow.to_site, 2U);
  EXPECT_EQ(arrow.about.tag, 7);
  EXPECT_EQ(arrow.about.bytes, 1U << 20);
  EXPECT_EQ(arrow.about.protocol, 2);
  EXPECT_EQ(arrow.about.reason, 9);
  EXPECT_EQ(page.one_ended, 0U);
}

TEST_F(Timeline, a_message_that_was_gone_at_once_and_one_that_was_written_to_its_receive_have_arrows) {
  first.add(Kind::post_send, 10, {.detail = trace::post_at_once, .bytes = 8, .site = 1, .peer = 1, .tag = 1, .extra = 3});
  second.add(Kind::post_receive, 5, {.operation = 1, .peer = 0});
  second.add(Kind::match, 20, {.bytes = 8, .value = 3, .operation = 1, .peer = 0, .tag = 1});
  second.add(Kind::complete, 21, {.bytes = 8, .operation = 1});
  // Its number is that of an eager message as well, but these are counted apart.
  first.add(Kind::post_send, 30, {.bytes = 9000, .operation = 2, .peer = 1});
  first.add(Kind::message_out, 31, {.detail = trace::message_put, .value = 3, .operation = 2, .peer = 1});
  second.add(Kind::post_receive, 25, {.operation = 2, .peer = 0});
  second.add(Kind::match, 40, {.detail = trace::match_put, .bytes = 9000, .value = 3, .operation = 2, .peer = 0});
  second.add(Kind::complete, 41, {.bytes = 9000, .operation = 2});

  const Shown page = shown();

  ASSERT_EQ(page.arrows.size(), 2U);
  EXPECT_EQ(page.arrows[0].sent_ns, 10 * us);
  EXPECT_EQ(page.arrows[0].complete_ns, 21 * us);
  EXPECT_EQ(page.arrows[1].sent_ns, 31 * us);
  EXPECT_EQ(page.arrows[1].about.bytes, 9000U);
}

TEST_F(Timeline, a_receive_that_is_told_before_its_send_finds_it) {
  second.add(Kind::post_receive, 5, {.operation = 1, .peer = 0});
  second.add(Kind::match, 20, {.bytes = 8, .value = 1, .operation = 1, .peer = 0});
  second.add(Kind::complete, 21, {.bytes = 8, .operation = 1});
  first.add(Kind::message_out, 22, {.detail = message_eager, .value = 1, .operation = 1, .peer = 1});
  first.add(Kind::post_send, 23, {.bytes = 8, .operation = 1, .peer = 1});

  const Shown page = shown();

  ASSERT_EQ(page.arrows.size(), 1U);
  EXPECT_EQ(page.arrows[0].length_ns(), 0U) << "never before it was sent";
}

TEST_F(Timeline, messages_with_one_end_are_counted) {
  large_message();
  first.add(Kind::post_send, 400, {.detail = trace::post_at_once, .peer = 1, .extra = 2});
  second.add(Kind::match, 500, {.value = 7, .operation = 9, .peer = 0});

  const Shown page = shown();

  EXPECT_EQ(page.arrows.size(), 1U);
  EXPECT_EQ(page.one_ended, 2U);
}

TEST_F(Timeline, a_receive_that_never_completes_ends_where_it_was_matched) {
  first.add(Kind::post_send, 10, {.detail = trace::post_at_once, .peer = 1, .extra = 1});
  second.add(Kind::match, 20, {.value = 1, .operation = 9, .peer = 0});

  const Shown page = shown();

  ASSERT_EQ(page.arrows.size(), 1U);
  EXPECT_EQ(page.arrows[0].complete_ns, 20 * us);
}

TEST_F(Timeline, calls_and_waits_are_slices_in_the_lane_of_their_thread) {
  large_message();
  second.add(Kind::wait, 300, {.detail = 0, .duration_ns = 200 * us, .operation = 8, .site = 2, .extra = 4});
  second.add(Kind::call, 310, {.duration_ns = 260 * us, .value = 200 * us, .site = 2, .extra = 4});
  second.add(Kind::call, 320, {.detail = 1, .duration_ns = 5 * us, .site = 3, .extra = 5});

  const Shown page = shown();

  ASSERT_EQ(page.of(SliceKind::wait).size(), 1U);
  const Slice wait = page.of(SliceKind::wait)[0];
  EXPECT_EQ(wait.begin_ns, 100 * us);
  EXPECT_EQ(wait.duration_ns, 200U * us);
  EXPECT_EQ(wait.lane, 1U);
  EXPECT_EQ(wait.about.protocol, 2) << "told of the operation";
  ASSERT_EQ(page.of(SliceKind::call).size(), 1U);
  EXPECT_EQ(page.of(SliceKind::call)[0].waited_ns, 200U * us);
  EXPECT_EQ(page.of(SliceKind::host_call).size(), 1U);
}

TEST_F(Timeline, a_release_tells_what_was_hidden_and_who_waited_on_its_pages_also_later) {
  large_message();
  second.add(Kind::release, 200, {.bytes = 1 << 20, .operation = 8, .site = 2, .extra = 256});
  second.add(Kind::open, 250, {.operation = 8}, helper);
  second.add(Kind::release_end, 300,
             {.detail = trace::release_touched, .duration_ns = 100 * us, .bytes = 60 * us, .value = 60 * us, .operation = 8},
             helper);
  second.add(Kind::fault, 305, {.duration_ns = 45 * us, .operation = 8, .site = 3});

  const Shown page = shown();

  ASSERT_EQ(page.of(SliceKind::release).size(), 1U);
  const Slice release = page.of(SliceKind::release)[0];
  EXPECT_EQ(release.lane, 1U);
  EXPECT_EQ(release.begin_ns, 200 * us);
  EXPECT_EQ(release.duration_ns, 100U * us);
  EXPECT_EQ(release.hidden_ns, 60U * us);
  EXPECT_EQ(release.pages, 256U);
  EXPECT_EQ(release.runs, 1U);
  EXPECT_EQ(release.faults, 1U);
  EXPECT_EQ(release.waited_ns, 45U * us);
  EXPECT_EQ(page.of(SliceKind::fault)[0].site, 3U);
}

TEST_F(Timeline, releases_at_the_same_time_are_below_one_another) {
  for (const std::uint32_t operation : {1U, 2U}) second.add(Kind::release, 10.0 * operation, {.operation = operation});
  second.add(Kind::release_end, 30, {.operation = 1});
  second.add(Kind::release, 40, {.operation = 3});
  second.add(Kind::release_end, 50, {.operation = 2});
  second.add(Kind::release_end, 60, {.operation = 3});

  std::map<std::uint32_t, int> row_of;
  for (const Slice& release : shown().of(SliceKind::release)) row_of[release.about.operation] = release.row;

  EXPECT_EQ(row_of, (std::map<std::uint32_t, int>{{1, 0}, {2, 1}, {3, 0}}));
}

TEST_F(Timeline, what_a_killed_program_waited_for_reaches_to_the_end_of_the_trace) {
  second.add(Kind::post_receive, 5, {.operation = 1, .peer = 0});
  second.add(Kind::waiting, 1005, {.duration_ns = 1000 * us, .operation = 1, .site = 2});
  first.add(Kind::helper, 9000, {.duration_ns = 1});

  const auto unfinished = shown().of(SliceKind::unfinished);

  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(unfinished[0].begin_ns, 5 * us);
  EXPECT_EQ(unfinished[0].duration_ns, 8995U * us);
}

TEST_F(Timeline, a_wait_that_ended_after_all_is_no_unfinished_one) {
  second.add(Kind::waiting, 1005, {.duration_ns = 1000 * us, .operation = 1, .site = 2});
  second.add(Kind::wait, 2005, {.duration_ns = 2000 * us, .operation = 1, .site = 2});

  EXPECT_TRUE(shown().of(SliceKind::unfinished).empty());
}

TEST_F(Timeline, beyond_the_limit_the_longest_are_kept_and_nothing_of_the_others_is_lost) {
  std::uint64_t all_ns = 0;
  for (int i = 1; i <= 5000; ++i) {
    const auto duration = static_cast<std::uint64_t>(i * 7919 % 5000 + 1);
    first.add(Kind::call, 1000.0 * i, {.duration_ns = duration, .site = 1});
    all_ns += duration;
  }

  const Shown page = shown(100);

  ASSERT_EQ(page.slices.size(), 100U);
  std::uint64_t kept_ns = 0;
  for (const Slice& slice : page.slices) {
    EXPECT_GT(slice.duration_ns, 4900U);
    kept_ns += slice.duration_ns;
  }
  EXPECT_EQ(page.slice_counts.left_out, 4900U);
  EXPECT_EQ(page.slice_counts.longest_left_out_ns, 4900U);
  EXPECT_EQ(page.shaded, 4900U);
  EXPECT_EQ(kept_ns + page.shaded_ns, all_ns);
}

TEST_F(Timeline, of_equally_long_slices_those_that_are_kept_come_from_the_whole_trace) {
  for (int i = 0; i < 4000; ++i) first.add(Kind::call, 100.0 * (i + 1), {.duration_ns = 5, .site = 1});

  int in_first_half = 0;
  for (const Slice& slice : shown(200).slices) in_first_half += slice.begin_ns < 200'000 * us ? 1 : 0;

  EXPECT_GT(in_first_half, 50);
  EXPECT_LT(in_first_half, 150);
}

TEST_F(Timeline, a_part_of_the_time_has_what_reaches_into_it) {
  for (int i = 1; i <= 10; ++i) first.add(Kind::call, 100.0 * i, {.duration_ns = 10 * us, .site = 1});

  const auto slices = shown(1000, {295 * us, 595 * us}).slices;

  ASSERT_EQ(slices.size(), 4U);
  EXPECT_EQ(slices.front().begin_ns, 290 * us);
  EXPECT_EQ(slices.back().begin_ns, 590 * us);
}

TEST_F(Timeline, of_a_trace_with_changed_bytes_the_rest_is_shown) {
  for (int i = 0; i < 40; ++i) {
    first.add(Kind::call, 1000.0 + 100 * i, {.duration_ns = 10 * us, .site = 1});
    second.add(Kind::call, 1000.0 + 100 * i, {.duration_ns = 10 * us, .site = 1}, static_cast<std::uint32_t>(i % 2));
  }
  large_message();
  write();
  const std::string whole = second.bytes();
  const std::uint64_t chunks = second.header().chunks_offset;
  std::mt19937 random(1);
  for (int turn = 0; turn < 100; ++turn) {
    std::string bytes = whole;
    const std::size_t place = chunks + random() % (bytes.size() - chunks);
    bytes[place] = static_cast<char>(bytes[place] ^ (1 << random() % 8));
    TraceMaker::write_bytes(directory.file(1), bytes);

    const Shown page = shown_of_files(1000, {0, std::int64_t{1} << 60});

    EXPECT_GE(page.of(SliceKind::call).size(), 79U) << place << ": one record at most";
    EXPECT_LE(80U, page.of(SliceKind::call).size() + page.damage) << place << ": and it is told";
  }
}

TEST_F(Timeline, of_a_trace_that_was_cut_the_beginning_is_shown) {
  large_message();
  write();
  const std::string whole = second.bytes();
  for (std::size_t bytes = trace::header_bytes; bytes < whole.size(); bytes += 997) {
    TraceMaker::write_bytes(directory.file(1), whole.substr(0, bytes));

    const Shown page = shown_of_files(1000, {0, std::int64_t{1} << 60});

    EXPECT_GT(page.damage, 0U);
    EXPECT_EQ(page.arrows.size() + page.one_ended, 1U);
  }
}

TEST(timeline_density, keeps_its_sums_when_its_bins_grow) {
  Density density(1);
  for (int i = 0; i < 100; ++i)
    density.add(0, SliceKind::wait, std::int64_t{1} << (i % 40), 1000 + static_cast<std::uint64_t>(i));

  std::uint64_t time = 0;
  std::uint64_t begun = 0;
  for (const auto& bin : density.lanes()[0]) {
    time += bin[static_cast<std::size_t>(SliceKind::wait)].time_ns;
    begun += bin[static_cast<std::size_t>(SliceKind::wait)].begun;
  }

  EXPECT_EQ(begun, 100U);
  EXPECT_EQ(time, 100U * 1000 + 99 * 100 / 2);
}

TEST(timeline_pairs, ends_without_a_partner_are_given_up_and_counted) {
  MessagePairs<int> pairs(100);
  constexpr std::uint64_t count = 110;
  for (std::uint64_t number = 1; number <= count; ++number) pairs.add({.from = 0, .to = 1, .number = number}, true, 5);

  EXPECT_FALSE(pairs.add({.from = 0, .to = 1, .number = 10}, false, 6)) << "given up";
  const auto pair = pairs.add({.from = 0, .to = 1, .number = count}, false, 7);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->sent, 5);
  EXPECT_EQ(pair->received, 7);
  EXPECT_EQ(pairs.unpaired(), count);
}

TEST(timeline_columns, numbers_are_zigzag_groups_of_seven_bits_in_base64) {
  Columns columns;
  for (const std::int64_t number : {0, -1, 1, 64, -300}) columns.add(number);

  EXPECT_EQ(columns.base64(), "AAECgAHXBA==");  // 00 01 02 80 01 d7 04
}

/// Rank 0 is in a blocking call from 100 to 300, and has begun another one at 150 that is done at 500.
TEST_F(Timeline, collective_calls_are_slices_and_what_they_consist_of_are_no_messages) {
  const auto enter = [&](double at, std::uint32_t operation, std::uint32_t how) {
    first.add(Kind::collective, at,
              {.detail = 4, .bytes = 800, .value = operation, .operation = operation, .site = 1, .context = 1, .extra = how});
  };
  enter(100, 5, 0);
  first.add(Kind::part, 110, {.detail = trace::part_send, .value = 5, .operation = 6, .peer = 1});
  first.add(Kind::message_out, 111, {.detail = message_eager, .value = 1, .operation = 6, .peer = 1, .extra = 1});
  enter(150, 7, trace::collective_nonblocking);
  first.add(Kind::collective_end, 300, {.duration_ns = 200 * us, .value = 90 * us, .operation = 5, .site = 1, .peer = 1});
  first.add(Kind::collective_end, 500, {.duration_ns = 350 * us, .operation = 7, .site = 1}, helper);
  second.add(Kind::part, 50, {.value = 5, .operation = 9, .peer = 0});
  second.add(Kind::match, 120, {.bytes = 8, .value = 1, .operation = 9, .peer = 0, .extra = 1});
  second.add(Kind::complete, 121, {.bytes = 8, .operation = 9});

  const Shown page = shown();

  const auto blocking = page.of(SliceKind::collective);
  ASSERT_EQ(blocking.size(), 1U);
  EXPECT_EQ(blocking[0].begin_ns, 100 * us);
  EXPECT_EQ(blocking[0].duration_ns, 200U * us);
  EXPECT_EQ(blocking[0].waited_ns, 90U * us);
  EXPECT_EQ(blocking[0].detail, 4);
  EXPECT_EQ(blocking[0].about.bytes, 800U);
  const auto nonblocking = page.of(SliceKind::nonblocking);
  ASSERT_EQ(nonblocking.size(), 1U);
  EXPECT_EQ(nonblocking[0].duration_ns, 350U * us);
  EXPECT_EQ(nonblocking[0].lane, 0U) << "the thread that began it, though another one ended it";
  EXPECT_EQ(page.arrows.size(), 0U);
  EXPECT_EQ(page.one_ended, 0U);
}

TEST_F(Timeline, a_collective_call_that_never_ends_lasts_to_the_end) {
  first.add(Kind::collective, 100, {.detail = 1, .value = 1, .operation = 5, .site = 1});
  second.add(Kind::call, 900, {.site = 1});

  const auto calls = shown().of(SliceKind::collective);

  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].duration_ns, 800U * us);
}

}  // namespace
}  // namespace sluice::timeline
