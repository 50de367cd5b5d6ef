#include "runtime/collective/collective_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "../../support/layouts.hpp"

namespace sluice {
namespace {

using Area = Region::Area;

/// Requests that are over when the test says so.
class FakeMessages final : public CollectiveRun::Messages {
 public:
  struct Begun {
    bool is_send;
    Part part;
    bool is_over = false;
    std::size_t bytes = 0;
    bool is_taken = false;
  };

  Request* receive(const Part& part) override { return begin(false, part); }
  Request* send(const Part& part) override { return begin(true, part); }
  [[nodiscard]] bool is_over(const Request& request) const override { return of(&request).is_over; }
  std::optional<std::size_t> take(Request* request) override {
    Begun& one = of(request);
    EXPECT_FALSE(one.is_taken);
    one.is_taken = true;
    return one.is_over && !one.is_send ? std::optional(one.bytes) : std::nullopt;
  }

  void end_send(std::size_t number) { begun.at(number).is_over = true; }
  void end_receive(std::size_t number, const Bytes& message) {
    Begun& one = begun.at(number);
    LayoutCursor(one.part.buffer).unpack(message);
    one.bytes = message.size();
    one.is_over = true;
  }
  [[nodiscard]] Bytes sent(std::size_t number) const {
    Bytes bytes(begun.at(number).part.buffer.bytes());
    LayoutCursor(begun.at(number).part.buffer).pack(bytes);
    return bytes;
  }

  std::vector<Begun> begun;

 private:
  /// Names that are never followed.
  Request* begin(bool is_send, const Part& part) {
    begun.push_back({is_send, part});
    return reinterpret_cast<Request*>(begun.size() * alignof(std::max_align_t) * 64);
  }
  [[nodiscard]] const Begun& of(const Request* request) const {
    return begun.at(reinterpret_cast<std::uintptr_t>(request) / (alignof(std::max_align_t) * 64) - 1);
  }
  Begun& of(Request* request) { return const_cast<Begun&>(std::as_const(*this).of(request)); }
};

UserBuffer plain(Bytes& memory) { return {memory.data(), memory.size(), Layout::contiguous(1)}; }

/// Every second of its bytes.
UserBuffer with_gaps(Bytes& memory) {
  return {memory.data(), memory.size() / 2, std::make_shared<const Layout>(Runs{{.bytes = 1}}, 2)};
}

constexpr CollectiveRun::Tags tags(7, 0x123);

void work_off(CollectiveRun& run, std::size_t bytes = 16) {
  run.advance();
  for (int step = 0; run.has_work() && step < 10'000; ++step) {
    run.work(bytes);
    run.advance();
  }
}

Round round_of(std::vector<Round::Message> receives, std::vector<Round::Message> sends, std::vector<Round::Local> local = {}) {
  return {std::move(receives), std::move(sends), std::move(local)};
}

TEST(CollectiveRun, a_call_without_rounds_is_done_at_once) {
  FakeMessages messages;
  ScratchPool pool;
  CollectiveRun run({}, {}, nullptr, tags, messages, pool);
  EXPECT_TRUE(run.can_advance());
  EXPECT_TRUE(run.advance());
  EXPECT_TRUE(run.is_done());
  EXPECT_FALSE(run.advance());
}

TEST(CollectiveRun, a_round_begins_when_all_messages_of_the_one_before_are_over) {
  Bytes own = numbered(8);
  Bytes result(8);
  FakeMessages messages;
  ScratchPool pool;
  Schedule schedule;
  schedule.rounds.push_back(round_of({{Rank{1}, {Area::result, 0, 0, 8}}}, {}));
  schedule.rounds.push_back(round_of({}, {{Rank{2}, {Area::result, 0, 0, 4}}, {Rank{3}, {Area::result, 0, 4, 4}}}));
  CollectiveRun run(schedule, {{}, {plain(result)}}, nullptr, tags, messages, pool);
  EXPECT_TRUE(run.advance());
  EXPECT_FALSE(run.is_last_wait());
  EXPECT_TRUE(run.has_more_rounds());
  ASSERT_EQ(messages.begun.size(), 1U);
  EXPECT_EQ(messages.begun[0].part.peer, Rank{1});
  EXPECT_EQ(messages.begun[0].part.tag, tags.of(0));
  EXPECT_FALSE(run.advance());
  messages.end_receive(0, own);
  EXPECT_TRUE(run.can_advance());
  EXPECT_TRUE(run.advance());
  ASSERT_EQ(messages.begun.size(), 3U);
  EXPECT_TRUE(run.is_last_wait());
  EXPECT_FALSE(run.has_more_rounds());
  EXPECT_EQ(messages.sent(1), Bytes(own.begin(), own.begin() + 4));
  EXPECT_EQ(messages.sent(2), Bytes(own.begin() + 4, own.end()));
  messages.end_send(2);
  EXPECT_FALSE(run.advance());
  messages.end_send(1);
  EXPECT_TRUE(run.advance());
  EXPECT_TRUE(run.is_done());
  EXPECT_FALSE(run.odd_one());
}

TEST(CollectiveRun, the_last_round_may_be_left_before_its_messages_are_over) {
  Bytes result(8);
  FakeMessages messages;
  ScratchPool pool;
  Schedule schedule;
  schedule.rounds.push_back(round_of({{Rank{1}, {Area::result, 0, 0, 8}}}, {}));
  CollectiveRun run(schedule, {{}, {plain(result)}}, nullptr, tags, messages, pool);
  run.advance();
  ASSERT_TRUE(run.is_last_wait());
  ASSERT_EQ(run.open().size(), 1U);
  EXPECT_TRUE(run.open()[0]);
  run.finish();
  EXPECT_TRUE(run.is_done());
  EXPECT_TRUE(messages.begun[0].is_taken);
  EXPECT_FALSE(run.odd_one());
}

TEST(CollectiveRun, scratch_stays_until_nothing_comes_there_any_more) {
  FakeMessages messages;
  ScratchPool pool;
  Schedule schedule;
  schedule.scratch_bytes = 8;
  schedule.rounds.push_back(round_of({{Rank{1}, {Area::scratch, 0, 0, 8}}}, {}));
  CollectiveRun run(schedule, {}, nullptr, tags, messages, pool);
  run.advance();
  EXPECT_FALSE(run.is_last_wait());
  messages.end_receive(0, numbered(8));
  run.advance();
  EXPECT_TRUE(run.is_done());
}

TEST(CollectiveRun, local_steps_are_done_in_pieces_while_messages_are_under_way) {
  Bytes own = numbered(100);
  Bytes result(100);
  FakeMessages messages;
  ScratchPool pool;
  Schedule schedule;
  schedule.scratch_bytes = 100;
  schedule.rounds.push_back(round_of(
      {{Rank{1}, {Area::scratch, 0, 50, 50}}}, {},
      {{{{Area::operand, 0, 0, 100}}, {Area::result, 0, 0, 100}}, {{{Area::operand, 0, 0, 50}}, {Area::scratch, 0, 0, 50}}}));
  schedule.rounds.push_back(round_of({}, {}, {{{{Area::scratch, 0, 0, 100}}, {Area::result, 0, 0, 100}}}));
  CollectiveRun run(schedule, {{plain(own)}, {plain(result)}}, nullptr, tags, messages, pool);
  run.advance();
  EXPECT_EQ(messages.begun.size(), 1U);
  std::size_t pieces = 0;
  while (run.has_work()) {
    EXPECT_FALSE(run.can_advance());
    run.work(16);
    ++pieces;
  }
  EXPECT_EQ(pieces, 7U + 4U);
  EXPECT_EQ(result, own);
  run.advance();
  EXPECT_FALSE(run.is_last_wait());
  messages.end_receive(0, Bytes(own.begin(), own.begin() + 50));
  work_off(run);
  EXPECT_TRUE(run.is_done());
  EXPECT_TRUE(std::equal(own.begin(), own.begin() + 50, result.begin()));
  EXPECT_TRUE(std::equal(own.begin(), own.begin() + 50, result.begin() + 50));
}

TEST(CollectiveRun, operands_are_folded_in_the_order_in_which_they_stand) {
  constexpr std::size_t elements = 37;
  std::vector<std::int32_t> own(elements);
  std::vector<std::int32_t> result(elements);
  Bytes message(elements * sizeof(std::int32_t));
  for (std::size_t i = 0; i < elements; ++i) {
    own[i] = static_cast<std::int32_t>(i);
    const std::int32_t other = 1000;
    std::memcpy(message.data() + i * sizeof other, &other, sizeof other);
  }
  const auto sum = Reduction::of(ReduceOperation::sum, ElementKind::int32);
  ASSERT_TRUE(sum);
  FakeMessages messages;
  ScratchPool pool;
  Schedule schedule;
  schedule.scratch_bytes = message.size();
  schedule.rounds.push_back(round_of({{Rank{1}, {Area::scratch, 0, 0, message.size()}}}, {}));
  schedule.rounds.push_back(round_of(
      {}, {},
      {{{{Area::operand, 0, 0, message.size()}, {Area::scratch, 0, 0, message.size()}}, {Area::result, 0, 0, message.size()}}}));
  const auto bytes_of = [&](std::vector<std::int32_t>& vector) {
    return UserBuffer{reinterpret_cast<std::byte*>(vector.data()), message.size(), Layout::contiguous(1)};
  };
  CollectiveRun run(schedule, {{bytes_of(own)}, {bytes_of(result)}}, &*sum, tags, messages, pool);
  run.advance();
  messages.end_receive(0, message);
  work_off(run, 10);
  ASSERT_TRUE(run.is_done());
  for (std::size_t i = 0; i < elements; ++i) EXPECT_EQ(result[i], 1000 + static_cast<std::int32_t>(i));
}

/// Joins two bytes to an element: what was joined first can be told from the result.
class FakeOperation final : public OwnOperation {
 public:
  explicit FakeOperation(std::vector<std::size_t>& calls) : calls_(calls) {}
  [[nodiscard]] std::size_t element_bytes() const override { return 2; }
  void combine(const std::byte* lower, std::byte* upper, std::size_t elements) override {
    calls_.push_back(elements);
    for (std::size_t i = 0; i < 2 * elements; ++i)
      upper[i] = static_cast<std::byte>(3 * static_cast<unsigned>(lower[i]) + 5 * static_cast<unsigned>(upper[i]));
  }

 private:
  std::vector<std::size_t>& calls_;
};

TEST(CollectiveRun, an_operation_of_the_programs_own_is_called_for_whole_elements_in_the_canonical_order) {
  Bytes memory = numbered(64);  // an operand with gaps
  Bytes message = numbered(64);
  Bytes result(32);
  std::vector<std::size_t> calls;
  FakeMessages messages;
  Schedule schedule;
  schedule.scratch_bytes = 64;
  schedule.rounds.push_back(round_of({{Rank{1}, {Area::scratch, 0, 0, 64}}}, {}));
  schedule.rounds.push_back(round_of(
      {}, {}, {{{{Area::operand, 0, 0, 32}, {Area::scratch, 0, 0, 32}, {Area::scratch, 0, 32, 32}}, {Area::result, 0, 0, 32}}}));
  ScratchPool pool;
  CollectiveRun run(schedule, {{with_gaps(memory)}, {plain(result)}}, nullptr, tags, messages, pool,
                    std::make_unique<FakeOperation>(calls));
  work_off(run);
  messages.end_receive(0, message);
  run.advance();
  std::size_t pieces = 0;
  while (run.has_work()) {
    run.work(20);  // three elements of each operand
    if (!run.awaits_program()) continue;
    EXPECT_FALSE(run.has_work());
    EXPECT_FALSE(run.can_advance());
    EXPECT_FALSE(run.advance());
    run.call_program();
    EXPECT_FALSE(run.awaits_program());
    ++pieces;
  }
  work_off(run);
  ASSERT_TRUE(run.is_done());
  EXPECT_EQ(pieces, 6U);
  EXPECT_EQ(calls, (std::vector<std::size_t>{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 1}));
  for (std::size_t i = 0; i < 32; ++i) {
    const auto value = [](std::byte byte) { return static_cast<unsigned>(byte); };
    const unsigned pair = 3 * value(memory[2 * i]) + 5 * value(message[i]);
    EXPECT_EQ(value(result[i]), (3 * (pair & 0xFF) + 5 * value(message[32 + i])) & 0xFF);
  }
}

TEST(CollectiveRun, a_block_with_gaps_is_moved_as_it_is_when_it_is_moved_whole) {
  Bytes memory = numbered(64);
  FakeMessages messages;
  ScratchPool pool;
  Schedule schedule;
  schedule.rounds.push_back(round_of({}, {{Rank{1}, {Area::operand, 0, 0, 32}}}));
  CollectiveRun run(schedule, {{with_gaps(memory)}, {}}, nullptr, tags, messages, pool);
  run.advance();
  EXPECT_TRUE(run.is_last_wait());
  EXPECT_EQ(messages.begun[0].part.buffer.base, memory.data());
}

TEST(CollectiveRun, a_block_with_gaps_that_is_cut_goes_through_a_packed_copy_and_its_gaps_stay) {
  Bytes memory(64, std::byte{0xEE});
  const Bytes message = numbered(32);
  FakeMessages messages;
  ScratchPool pool;
  Schedule schedule;
  schedule.rounds.push_back(round_of({{Rank{1}, {Area::result, 0, 0, 16}}}, {}));
  schedule.rounds.push_back(round_of({{Rank{1}, {Area::result, 0, 16, 16}}}, {{Rank{2}, {Area::result, 0, 0, 16}}}));
  CollectiveRun run(schedule, {{}, {with_gaps(memory)}}, nullptr, tags, messages, pool);
  work_off(run);
  messages.end_receive(0, Bytes(message.begin(), message.begin() + 16));
  work_off(run);
  EXPECT_FALSE(run.is_last_wait());  // it is to be unpacked
  EXPECT_TRUE(run.has_more_rounds());
  EXPECT_EQ(messages.sent(2), Bytes(message.begin(), message.begin() + 16));
  messages.end_receive(1, Bytes(message.begin() + 16, message.end()));
  messages.end_send(2);
  work_off(run, 5);
  ASSERT_TRUE(run.is_done());
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(memory[2 * i], message[i]);
    EXPECT_EQ(memory[2 * i + 1], std::byte{0xEE});
  }
}

TEST(CollectiveRun, a_message_of_another_length_is_noted) {
  Bytes result(8);
  FakeMessages messages;
  ScratchPool pool;
  Schedule schedule;
  schedule.rounds.push_back(round_of({{Rank{4}, {Area::result, 0, 0, 8}}, {Rank{5}, {Area::result, 0, 0, 0}}}, {}));
  CollectiveRun run(schedule, {{}, {plain(result)}}, nullptr, tags, messages, pool);
  run.advance();
  messages.end_receive(0, numbered(6));
  messages.end_receive(1, {});
  run.advance();
  ASSERT_TRUE(run.is_done());
  EXPECT_EQ(run.odd_one(), Rank{4});
}

TEST(CollectiveRun, tags_of_persistent_calls_are_no_others) {
  constexpr auto persistent = CollectiveTags::of_persistent(7, 0x123);
  constexpr std::uint32_t last = CollectiveTags::persistent_numbers - 1;
  EXPECT_FALSE(tags.has_number_of(persistent.of(0)));
  EXPECT_FALSE(persistent.has_number_of(CollectiveTags::of_persistent(8, 0x123).of(0)));
  EXPECT_FALSE(CollectiveTags::have_same_number(CollectiveTags::of_persistent(last, 1).of(0), CollectiveTags(last, 1).of(0)));
  EXPECT_EQ(persistent.of(2), CollectiveTags::of_persistent(7, 0x125).of(0));
  EXPECT_GE(static_cast<int>(CollectiveTags::of_persistent(last, 0x7FFF).of(0xFFFF)), 0);
}

TEST(CollectiveRun, tags_of_other_calls_differ) {
  EXPECT_TRUE(tags.has_number_of(tags.of(5)));
  EXPECT_FALSE(tags.has_number_of(CollectiveRun::Tags(8, 0x123).of(0)));
  EXPECT_TRUE(CollectiveTags::have_same_number(tags.of(3), CollectiveRun::Tags(7, 0x400).of(0)));
  FakeMessages messages;
  ScratchPool pool;
  const CollectiveRun run({}, {}, nullptr, tags, messages, pool);
  EXPECT_FALSE(run.is_odd(tags.of(0)));
  EXPECT_TRUE(run.is_odd(CollectiveRun::Tags(7, 0x124).of(0)));
  EXPECT_FALSE(run.is_odd(CollectiveRun::Tags(8, 0x124).of(0)));
  EXPECT_GE(static_cast<int>(CollectiveRun::Tags(0xFFFFFFFF, 0xFFFF).of(0xFFFF)), 0);
}

}  // namespace
}  // namespace sluice
