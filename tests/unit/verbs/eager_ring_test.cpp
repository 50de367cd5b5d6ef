// Both ends of a ring in plain memory: a copy stands for the adapter, which writes when the test says so.

#include "verbs/eager_ring.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t min_bytes = verbs_slot::overhead;
constexpr std::size_t max_bytes = verbs_slot::bytes - eager_ring::trailer_bytes;

class eager_ring_pair : public testing::Test {
 protected:
  using State = RingReceiver::State;

  void open() {
    receiver_.open(memory());
    words_.theirs = {reinterpret_cast<std::uint64_t>(memory()), 7, 1};
  }
  /// What the receiver's adapter does to close: so the sender's `begun` is known.
  void close() {
    receiver_.close();
    words_.theirs.open = 0;
    receiver_.note_begun(words_.begun, received_);
  }

  /// The message is under way afterwards.
  void post(const std::string& text) {
    std::vector<std::byte>& message = slot_;
    std::memcpy(message.data(), text.data(), text.size());
    const RingSender::Write write = sender_.next(message.data() + text.size(), static_cast<std::uint32_t>(text.size()), sent_++);
    EXPECT_EQ(write.remote.key, words_.theirs.key);
    under_way_.push_back({write.remote.address, std::string(reinterpret_cast<const char*>(message.data()), write.bytes)});
  }
  void arrive(std::size_t max_of_it = ~std::size_t{0}) {
    const auto& [address, bytes] = under_way_.front();
    std::memcpy(reinterpret_cast<void*>(address), bytes.data(), std::min(bytes.size(), max_of_it));
    if (max_of_it >= bytes.size()) under_way_.pop_front();
  }
  void write(const std::string& text) {
    post(text);
    arrive();
  }
  std::string take() {
    const RingReceiver::Found found = receiver_.find(received_);
    EXPECT_TRUE(found.good);
    const std::string text(reinterpret_cast<const char*>(found.message.data()), found.message.size());
    if (text.empty()) return text;
    receiver_.note_received(++received_);
    receiver_.consume();
    return text;
  }
  static std::string text_of(std::size_t bytes, unsigned seed = 0) {
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 7 + seed) & 0xff);
    return text;
  }
  std::byte* memory() { return reinterpret_cast<std::byte*>(memory_.data()); }

  RingWords words_;
  RingSender sender_{words_, eager_ring::slots};
  RingReceiver receiver_;
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(eager_ring::bytes / sizeof(std::uint64_t));
  std::vector<std::byte> slot_ = std::vector<std::byte>(verbs_slot::bytes);
  std::deque<std::pair<std::uint64_t, std::string>> under_way_;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
};

TEST_F(eager_ring_pair, messages_of_all_lengths_arrive_whole_over_many_rounds) {
  open();
  for (std::size_t i = 0; i < 5 * eager_ring::slots; ++i) {
    const std::string text = text_of(min_bytes + (i * 1237) % (max_bytes - min_bytes + 1), static_cast<unsigned>(i));
    write(text);
    ASSERT_EQ(take(), text) << i;
    ASSERT_EQ(take(), "") << i;
  }
}

TEST_F(eager_ring_pair, the_longest_message_fits) {
  open();
  write(text_of(max_bytes));
  EXPECT_EQ(take(), text_of(max_bytes));
}

TEST_F(eager_ring_pair, a_full_ring_is_read_in_order) {
  open();
  for (unsigned i = 0; i < eager_ring::slots; ++i) write(text_of(100 + i, i));
  for (unsigned i = 0; i < eager_ring::slots; ++i) EXPECT_EQ(take(), text_of(100 + i, i));
}

TEST_F(eager_ring_pair, a_message_is_not_seen_before_its_last_byte) {
  open();
  post(text_of(1000));
  arrive(eager_ring::taken(1000) - eager_ring::trailer_bytes);
  EXPECT_EQ(take(), "");
  arrive();
  EXPECT_EQ(take(), text_of(1000));
}

TEST_F(eager_ring_pair, what_an_earlier_round_left_in_a_slot_is_no_message) {
  open();
  for (unsigned i = 0; i < eager_ring::slots; ++i) {
    write(text_of(max_bytes, i));
    take();
  }
  EXPECT_EQ(take(), "");
  post(text_of(min_bytes));
  EXPECT_EQ(take(), "");
}

TEST_F(eager_ring_pair, a_message_waits_for_the_one_that_was_sent_before_it) {
  open();
  ++sent_;  // by the other path
  write(text_of(100));
  EXPECT_EQ(take(), "");
  ++received_;
  EXPECT_EQ(take(), text_of(100));
}

TEST_F(eager_ring_pair, numbers_may_overflow) {
  sent_ = received_ = ~std::uint32_t{0} - 1;
  open();
  for (unsigned i = 0; i < 4; ++i) {
    ASSERT_TRUE(sender_.admits(sent_));
    write(text_of(100, i));
  }
  close();
  EXPECT_EQ(receiver_.state(), State::draining);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(take(), text_of(100, i));
  EXPECT_EQ(receiver_.state(), State::closed);
}

TEST_F(eager_ring_pair, a_length_that_no_message_has_is_noticed) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{min_bytes - 1}, std::uint64_t{verbs_slot::bytes}}) {
    open();
    memory_[verbs_slot::bytes / sizeof(std::uint64_t) - 1] = bytes;
    EXPECT_FALSE(receiver_.find(0).good) << bytes;
  }
}

TEST_F(eager_ring_pair, a_number_that_no_message_can_have_now_is_noticed) {
  received_ = sent_ = 10000;
  for (const std::uint32_t number : {received_ - 1, received_ + eager_ring::max_under_way, 0U}) {
    open();
    memory_[verbs_slot::bytes / sizeof(std::uint64_t) - 1] = min_bytes | std::uint64_t{number} << 32;
    const RingReceiver::Found found = receiver_.find(received_);
    EXPECT_FALSE(found.good) << number;
    EXPECT_EQ(RingReceiver::explain(found.word, received_), "message " + std::to_string(number) + " of " +
                                                                std::to_string(verbs_slot::overhead) +
                                                                " bytes, where message 10000 should be");
  }
}

TEST_F(eager_ring_pair, nothing_goes_by_a_ring_that_was_not_offered) {
  EXPECT_FALSE(sender_.admits(0));
  open();
  EXPECT_TRUE(sender_.admits(0));
  EXPECT_FALSE(RingSender().admits(0));
}

TEST_F(eager_ring_pair, a_closed_ring_admits_nothing_until_it_is_opened_again) {
  open();
  close();
  EXPECT_EQ(receiver_.state(), State::closed);
  EXPECT_FALSE(sender_.admits(sent_));
  open();
  ASSERT_TRUE(sender_.admits(sent_));
  write(text_of(100));
  EXPECT_EQ(take(), text_of(100));
}

TEST_F(eager_ring_pair, a_ring_is_closed_when_all_that_it_had_admitted_is_there) {
  open();
  for (unsigned i = 0; i < 2; ++i) {
    ASSERT_TRUE(sender_.admits(sent_));
    post(text_of(100, i));
  }
  close();
  EXPECT_EQ(receiver_.state(), State::draining);
  EXPECT_TRUE(receiver_.is_restless());
  arrive();
  take();
  EXPECT_EQ(receiver_.state(), State::draining);
  arrive();
  take();
  EXPECT_EQ(receiver_.state(), State::closed);
  EXPECT_FALSE(receiver_.is_restless());
}

TEST_F(eager_ring_pair, an_admission_of_long_ago_does_not_keep_a_ring_from_being_closed) {
  open();
  ASSERT_TRUE(sender_.admits(sent_));
  write(text_of(100));
  take();
  for (const std::uint32_t later : {0U, 1U << 31, 0xffff0000U}) {
    received_ = 1 + later;
    open();
    close();
    EXPECT_EQ(receiver_.state(), State::closed) << later;
  }
}

TEST_F(eager_ring_pair, a_ring_goes_on_in_other_memory) {
  open();
  for (unsigned i = 0; i < 5; ++i) write(text_of(100, i));
  for (unsigned i = 0; i < 5; ++i) take();
  close();
  receiver_.give_up();
  EXPECT_EQ(receiver_.find(received_).message.size(), 0U);
  const std::vector<std::uint64_t> old = std::exchange(memory_, std::vector<std::uint64_t>(memory_.size()));
  open();
  ASSERT_TRUE(sender_.admits(sent_));
  write(text_of(100, 9));
  EXPECT_EQ(take(), text_of(100, 9));
}

/// Sender, receiver and adapter take their steps in any order, those of the adapter among themselves in the order of its queue.
class eager_ring_steps : public eager_ring_pair {
 protected:
  enum class Closing { not_yet, write_posted, read_posted, done };

  void begin() {
    words_ = {};
    sender_ = RingSender(words_, eager_ring::slots);
    receiver_ = {};
    sent_ = received_ = 0;
    closing_ = Closing::not_yet;
    open();
  }
  void send() {
    if (sent_ - received_ >= eager_ring::slots) return;
    if (sender_.admits(sent_)) {
      post(text_of(64, sent_));
    } else {
      under_way_.push_back({0, std::to_string(sent_++)});  // by the other path
    }
  }
  void deliver() {
    if (under_way_.empty()) return;
    if (under_way_.front().first != 0) return arrive();
    entries_.push_back(static_cast<std::uint32_t>(std::stoul(under_way_.front().second)));
    under_way_.pop_front();
  }
  void receive() {
    const std::uint32_t number = received_;
    const std::string text = take();
    if (!text.empty()) {
      EXPECT_EQ(text, text_of(64, number));
    } else if (!entries_.empty() && entries_.front() == received_) {
      entries_.pop_front();
      receiver_.note_received(++received_);
    }
  }
  void go_on_closing() {
    if (closing_ == Closing::not_yet) receiver_.close();
    if (closing_ == Closing::write_posted) words_.theirs.open = 0;
    if (closing_ == Closing::read_posted) receiver_.note_begun(words_.begun, received_);
    if (closing_ != Closing::done) closing_ = static_cast<Closing>(static_cast<int>(closing_) + 1);
  }
  [[nodiscard]] bool something_comes_by_the_ring() const {
    for (const auto& [address, bytes] : under_way_) {
      if (address != 0) return true;
    }
    return !receiver_.find(received_).message.empty();
  }

  Closing closing_{};
  std::deque<std::uint32_t> entries_;  // in the completion queue
};

TEST_F(eager_ring_steps, nothing_comes_by_a_ring_that_its_receiver_takes_for_closed) {
  unsigned closed_while_draining = 0;
  for (unsigned seed = 0; seed < 5000; ++seed) {
    std::mt19937 random(seed);
    begin();
    for (int step = 0; step < 60; ++step) {
      const State before = receiver_.state();
      switch (random() % 8) {
        case 0:
        case 1:
        case 2:
          send();
          break;
        case 3:
        case 4:
          deliver();
          break;
        case 5:
        case 6:
          receive();
          break;
        default:
          go_on_closing();
          break;
      }
      if (receiver_.state() != State::closed) continue;
      ASSERT_FALSE(something_comes_by_the_ring()) << seed;
      if (before == State::draining) ++closed_while_draining;
    }
    while (!under_way_.empty()) deliver();
    while (received_ != sent_) {
      const std::uint32_t before = received_;
      receive();
      ASSERT_NE(received_, before) << seed;
    }
  }
  EXPECT_GT(closed_while_draining, 100U);
}

}  // namespace
}  // namespace sluice
