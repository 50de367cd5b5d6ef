#include "runtime/engine/message_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/support/loopback_transport.hpp"

namespace sluice {
namespace {

constexpr std::size_t kb = 1024;
constexpr std::size_t cache = 1024 * kb;
constexpr Peer sender{0};
constexpr Peer self{1};
constexpr MessageLines::Moment alone{};
constexpr MessageLines::Moment in_an_exchange{.is_exchange = true};

/// A process that receives into one buffer what the other writes anew before each message.
class MessageLinesTest : public testing::Test {
 protected:
  MessageLinesTest() {
    calibration_.far_ns = any_distance_ns;
    calibration_.copies.handing_back_bytes = 4 * kb;
    have_far_lines(false);
  }

  MessageLines make(bool oversubscribed = false) {
    return {{calibration_, {.own_bytes = cache, .largest_bytes = 4 * cache}, oversubscribed}, &network_.transport(self), 2};
  }
  void have_far_lines(bool far) { have_far_lines(far, far); }
  void have_far_lines(bool far, bool far_messages) { network_.have_lines_take(far ? 190 : 70, far_messages ? 190 : 70); }

  /// The next message, which has met its receive.
  const Request& match(MessageLines& lines, std::size_t bytes, std::uint8_t flags = flag_block) {
    source_.front() = static_cast<std::byte>(++written_);
    receive_.kind = Request::Kind::receive;
    receive_.peer = sender;
    receive_.rts_flags = flags;
    receive_.remote_address = reinterpret_cast<std::uintptr_t>(source_.data());
    receive_.data = target_.data();
    receive_.bytes = receive_.limit = receive_.stop = bytes;
    lines.on_match(receive_);
    return receive_;
  }
  void read(MessageLines& lines) {
    std::copy_n(source_.data(), receive_.limit, target_.data());
    lines.on_read(receive_);
  }
  /// Of the third message, as it is known of the first two that they were written anew.
  bool left_to_sender(MessageLines& lines, std::size_t bytes, MessageLines::Moment moment = alone,
                      std::uint8_t flags = flag_block) {
    for (int i = 0; i < 2; ++i) {
      match(lines, bytes, flags);
      read(lines);
    }
    return lines.are_left_to_sender(match(lines, bytes, flags), moment);
  }

  Calibration calibration_;
  LoopbackNetwork network_{2};
  int written_ = 0;
  std::vector<std::byte> source_ = std::vector<std::byte>(4 * cache);
  std::vector<std::byte> target_ = std::vector<std::byte>(4 * cache);
  Request receive_;
};

TEST_F(MessageLinesTest, near_are_left_to_a_sender_that_writes_them_anew_up_to_half_a_cache) {
  for (const std::size_t bytes : {31 * kb, 32 * kb, cache / 2, cache / 2 + kb}) {
    MessageLines lines = make();
    EXPECT_EQ(left_to_sender(lines, bytes), bytes >= 32 * kb && bytes <= cache / 2) << bytes;
  }
}

TEST_F(MessageLinesTest, far_are_left_to_it_at_any_length_that_is_worth_asking) {
  have_far_lines(true);
  for (const std::size_t bytes : {15 * kb, 16 * kb, 64 * kb, 4 * cache}) {
    MessageLines lines = make();
    EXPECT_EQ(left_to_sender(lines, bytes), bytes >= 16 * kb) << bytes;
  }
}

TEST_F(MessageLinesTest, far_are_not_left_to_it_if_they_come_in_windows_of_which_most_lines_are_here) {
  have_far_lines(true, false);
  for (const bool is_exchange : {false, true}) {
    const MessageLines::Moment in_a_window{.one_of_several = true, .is_exchange = is_exchange};
    MessageLines lines = make();
    EXPECT_FALSE(left_to_sender(lines, 2 * cache, in_a_window));
    EXPECT_TRUE(left_to_sender(lines, 64 * kb, in_a_window)) << "it is still there";
  }
}

TEST_F(MessageLinesTest, far_that_both_sides_send_are_left_to_senders_but_for_several_that_leave_their_caches) {
  have_far_lines(true);
  for (const std::size_t bytes : {cache / 2, cache / 2 + kb}) {
    MessageLines lines = make();
    EXPECT_TRUE(left_to_sender(lines, bytes, in_an_exchange));
    EXPECT_EQ(left_to_sender(lines, bytes, {.one_of_several = true, .is_exchange = true}), bytes <= cache / 2) << bytes;
  }
}

TEST_F(MessageLinesTest, of_windows_are_left_to_it_where_they_are_far_and_so_are_its_other_lines) {
  for (const bool far : {false, true}) {
    have_far_lines(far, true);
    MessageLines lines = make();
    EXPECT_EQ(left_to_sender(lines, 2 * cache, {.one_of_several = true}), far);
  }
}

TEST_F(MessageLinesTest, are_not_where_measurement_found_no_gain_or_the_message_comes_from_no_block) {
  have_far_lines(true);
  MessageLines lines = make();
  EXPECT_FALSE(left_to_sender(lines, 64 * kb, alone, 0));
  calibration_.far_ns = 0;
  EXPECT_FALSE(left_to_sender(lines, 64 * kb));
}

TEST_F(MessageLinesTest, of_a_buffer_that_a_message_has_overwritten_are_shared_if_it_is_long) {
  have_far_lines(true);
  for (const std::size_t bytes : {cache / 2, cache / 2 + kb}) {
    MessageLines lines = make();
    EXPECT_EQ(left_to_sender(lines, bytes, alone, flag_block | flag_overwritten), bytes <= cache / 2) << bytes;
  }
}

TEST_F(MessageLinesTest, of_long_messages_are_left_to_senders_far_away_where_processes_share_processors) {
  for (const bool far : {false, true}) {
    have_far_lines(far);
    for (const std::size_t bytes : {63 * kb, 64 * kb}) {
      MessageLines lines = make(true);
      EXPECT_EQ(left_to_sender(lines, bytes), far && bytes >= 64 * kb) << bytes << ' ' << far;
      EXPECT_FALSE(left_to_sender(lines, bytes, alone, flag_block | flag_overwritten)) << "its sender did not write it";
    }
  }
}

TEST_F(MessageLinesTest, of_very_long_messages_are_shared_where_processes_share_processors) {
  have_far_lines(true);
  MessageLines lines = make(true);
  EXPECT_TRUE(left_to_sender(lines, 2048 * kb - 1));
  EXPECT_FALSE(left_to_sender(lines, 2048 * kb));
  EXPECT_TRUE(left_to_sender(lines, 2048 * kb, {.one_of_several = true}));
}

TEST_F(MessageLinesTest, that_processes_exchange_in_turns_are_left_to_senders_if_several_come_and_are_short) {
  have_far_lines(true);
  MessageLines lines = make(true);
  constexpr MessageLines::Moment of_several{.one_of_several = true, .is_exchange = true};
  EXPECT_TRUE(left_to_sender(lines, 128 * kb, of_several));
  EXPECT_FALSE(left_to_sender(lines, 128 * kb + 1, of_several)) << "each has its own copies to make";
  EXPECT_FALSE(left_to_sender(lines, 128 * kb, in_an_exchange)) << "who waits for one has the processor";
}

TEST_F(MessageLinesTest, of_senders_that_were_near_are_left_to_them_soon_after_they_were_moved) {
  MessageLines lines = make(true);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(left_to_sender(lines, 64 * kb));
  have_far_lines(true);
  std::uint32_t read_by_receiver = 0;
  while (!left_to_sender(lines, 64 * kb)) ++read_by_receiver;
  EXPECT_LE(read_by_receiver, MessageDistance::most_between_looks);
  EXPECT_TRUE(left_to_sender(lines, 64 * kb));
}

TEST_F(MessageLinesTest, are_handed_back_where_no_other_process_uses_the_processor) {
  for (const bool oversubscribed : {false, true}) {
    MessageLines lines = make(oversubscribed);
    (void)left_to_sender(lines, 256 * kb);
    EXPECT_EQ(receive_.source_lines, oversubscribed ? SourceLines::kept : SourceLines::handed_back);
  }
}

TEST_F(MessageLinesTest, are_overwritten_from_a_message_that_comes_into_them_to_their_being_read) {
  MessageLines lines = make();
  Request send;
  send.kind = Request::Kind::send;
  send.data = target_.data();
  send.bytes = 64 * kb;
  EXPECT_FALSE(lines.are_overwritten(send));
  match(lines, 64 * kb);
  EXPECT_TRUE(lines.are_overwritten(send));
  for (const bool handed_back : {false, true}) {
    match(lines, 64 * kb);
    lines.on_read_by_peer(send, handed_back);
    EXPECT_FALSE(lines.are_overwritten(send)) << handed_back;
  }
}

}  // namespace
}  // namespace sluice
