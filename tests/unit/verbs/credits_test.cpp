#include "verbs/credits.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace sluice {
namespace {

TEST(credits, window_is_used_up_by_as_many_messages) {
  Credits credits(3, 4);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(credits.may_send());
    credits.note_sent();
  }
  EXPECT_FALSE(credits.may_send());
}

TEST(credits, grant_makes_sending_possible_again) {
  Credits credits(2, 2);
  credits.note_sent();
  credits.note_sent();
  EXPECT_TRUE(credits.accept(1));
  EXPECT_TRUE(credits.may_send());
}

TEST(credits, more_granted_than_taken_is_refused) {
  Credits credits(4, 4);
  credits.note_sent();
  EXPECT_FALSE(credits.accept(2));
  EXPECT_TRUE(credits.accept(1));
  EXPECT_FALSE(credits.accept(1));
}

TEST(credits, what_was_consumed_is_granted_once) {
  Credits credits(4, 4);
  credits.note_consumed();
  credits.note_consumed();
  EXPECT_EQ(credits.grant(), 2U);
  EXPECT_EQ(credits.grant(), 0U);
}

TEST(credits, half_a_window_has_to_be_told) {
  Credits credits(8, 8);
  for (int i = 0; i < 3; ++i) credits.note_consumed();
  EXPECT_FALSE(credits.must_tell());
  credits.note_consumed();
  EXPECT_TRUE(credits.must_tell());
  EXPECT_EQ(credits.grant(), 4U);
  EXPECT_FALSE(credits.must_tell());
}

/// Two sides over a network that delivers in order, driven at random: each sends messages, by receive buffers or by a ring, and
/// looks at what has come when chance says so, and tells its credits whenever it must.
class Side {
 public:
  enum class Kind { sent, ring, credit };
  struct Message {
    Kind kind{};
    std::uint32_t granted = 0;
    std::uint32_t ring_granted = 0;
  };

  explicit Side(std::uint32_t window) : credits_(window, window), ring_(window, window), buffers_(Credits::buffers(window)) {}

  void send(Side& to, bool by_ring = false) {
    Credits& path = by_ring ? ring_ : credits_;
    if (!path.may_send()) return;
    path.note_sent();
    tell(to, by_ring ? Kind::ring : Kind::sent);
    ++sent_;
  }
  void look(Side& to) {
    if (inbox_.empty()) return;
    const Message message = inbox_.front();
    inbox_.pop_front();
    if (message.kind != Kind::ring) ++buffers_;
    ASSERT_TRUE(credits_.accept(message.granted));
    ASSERT_TRUE(ring_.accept(message.ring_granted));
    if (message.kind == Kind::sent) credits_.note_consumed();
    if (message.kind == Kind::ring) ring_.note_consumed();
    if (credits_.must_tell() || ring_.must_tell()) tell(to, Kind::credit);
  }
  [[nodiscard]] std::size_t sent() const { return sent_; }
  [[nodiscard]] bool was_without_buffer() const { return without_buffer_; }

 private:
  void tell(Side& to, Kind kind) { to.take_in({kind, credits_.grant(), ring_.grant()}); }
  void take_in(const Message& message) {
    inbox_.push_back(message);
    if (message.kind == Kind::ring) return;
    without_buffer_ = without_buffer_ || buffers_ == 0;
    --buffers_;
  }

  Credits credits_;
  Credits ring_;
  std::uint32_t buffers_;
  std::deque<Message> inbox_;
  std::size_t sent_ = 0;
  bool without_buffer_ = false;
};

TEST(credits, no_message_ever_meets_a_peer_without_a_buffer) {
  for (const std::uint32_t window : {2U, 4U, 32U}) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::mt19937 random(seed);
      Side left(window);
      Side right(window);
      // Sides that differ in how often they send and look; one that never sends too.
      const unsigned eagerness = random() % 4;
      for (int step = 0; step < 20000; ++step) {
        switch (random() % 8) {
          case 0:
          case 1:
            left.send(right, random() % 2 != 0);
            break;
          case 2:
            if (eagerness != 0) right.send(left, random() % 2 != 0);
            break;
          case 3:
            if (eagerness > 2) left.look(right);
            break;
          case 4:
            right.look(left);
            break;
          default:
            eagerness % 2 == 0 ? left.look(right) : right.look(left);
            break;
        }
      }
      EXPECT_FALSE(left.was_without_buffer()) << window << " " << seed;
      EXPECT_FALSE(right.was_without_buffer()) << window << " " << seed;
    }
  }
}

TEST(credits, one_way_traffic_never_stops) {
  Side sender(32);
  Side receiver(32);
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < 40; ++i) sender.send(receiver);
    for (int i = 0; i < 40; ++i) receiver.look(sender);
    for (int i = 0; i < 40; ++i) sender.look(receiver);
  }
  EXPECT_GE(sender.sent(), 32000U);
  EXPECT_FALSE(sender.was_without_buffer());
}

}  // namespace
}  // namespace sluice
