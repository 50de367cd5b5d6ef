// What a collective call tells the trace.
#include "runtime/engine/collective_trace.hpp"

#include <gtest/gtest.h>

#include "runtime/trace/call.hpp"
#include "tests/unit/support/traced.hpp"

namespace sluice::trace {
namespace {

constexpr CollectiveTrace::Call bcast{.kind = CollectiveKind::bcast,
                                      .communicator = ContextId{9},
                                      .first = Peer{4},
                                      .number = 3,
                                      .bytes = 800,
                                      .root = Peer{5},
                                      .ranks = 2,
                                      .how = collective_lanes};

TEST(collective_trace, a_call_is_told_when_it_begins_and_when_it_is_over) {
  const Traced traced;

  CollectiveTrace call(7, bcast);
  call.has_waited(1000);
  call.has_waited(500);
  call.came(Peer{5});
  call.end();

  const auto records = traced.records();
  ASSERT_EQ(records.size(), 2U);
  const Record& begin = records[0];
  EXPECT_EQ(line_of(begin), "collective bcast 800");
  EXPECT_EQ(begin.operation, 7U);
  EXPECT_EQ(begin.peer, 5);
  EXPECT_EQ(begin.context, 9U);
  EXPECT_EQ(begin.value, std::uint64_t{4} << 32 | 3) << "disjoint communicators may have one name";
  EXPECT_EQ(begin.extra, collective_lanes);
  const Record& end = records[1];
  EXPECT_EQ(end.kind, static_cast<std::uint16_t>(Kind::collective_end));
  EXPECT_EQ(end.operation, 7U);
  EXPECT_EQ(end.value, 1500U);
  EXPECT_EQ(end.peer, 5);
  EXPECT_EQ(end.extra, 2U);
  EXPECT_LE(end.bytes, end.duration_ns) << "who was late came before the end";
  EXPECT_GE(end.duration_ns, end.time_ns - begin.time_ns);
}

TEST(collective_trace, what_is_waited_counts_for_the_call_that_the_thread_is_in) {
  const Traced traced;
  const std::uint64_t before = current_call().waited_ns;

  CollectiveTrace call(7, bcast);
  const std::uint64_t since = now();
  while (now() - since < 1000) continue;
  call.waited_since(since);
  call.has_waited(1'000'000'000);  // the call knows already
  call.end(true);

  const std::uint64_t waited = current_call().waited_ns - before;
  EXPECT_GE(waited, 1000U);
  EXPECT_LT(waited, 1'000'000'000U);
  const Record end = traced.records().back();
  EXPECT_EQ(end.value, waited + 1'000'000'000);
  EXPECT_EQ(end.detail, collective_lanes | collective_failed);
  EXPECT_EQ(end.peer, -1) << "nobody was seen to be late";
}

TEST(collective_trace, idle_time_is_a_sum_of_pieces) {
  IdleTime idle;
  idle.ends();
  EXPECT_EQ(idle.sum_ns(), 0U);

  const std::uint64_t since = now();
  idle.begins();
  idle.begins();
  while (now() - since < 1000) continue;
  idle.ends();

  const std::uint64_t sum = idle.sum_ns();
  EXPECT_GT(sum, 0U);
  EXPECT_LE(sum, now() - since);
  idle.ends();
  EXPECT_EQ(idle.sum_ns(), sum) << "nothing was under way";
}

}  // namespace
}  // namespace sluice::trace
