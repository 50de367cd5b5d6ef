// put and get where no protocol is asked for, on the model of an adapter: for which receives, and what becomes of the others.

#include <gtest/gtest.h>

#include "tests/unit/support/rdma_pair.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 20'000;
constexpr Peer sender_side{0};
constexpr Peer receiver_side{1};

class PutUnasked : public testing::Test {
 protected:
  explicit PutUnasked(const AdapterKnobs& knobs = {}, const Config& config = unasked()) : pair_(knobs, config) {}

  static Config unasked() { return RdmaPair::forced(Rendezvous::automatic); }
  static Config windowed() {
    Config config = unasked();
    config.read_window = std::size_t{1} << 20;
    return config;
  }

  /// The receive is posted before anything of the message.
  void exchange_posted_ahead(std::size_t length = bytes) {
    auto sent = pattern(length, ++messages_);
    std::vector<std::byte> got(length);
    Request* const receive = pair_.start_receive(RdmaPair::contiguous(got));
    pair_.run_out();
    end(pair_.start_send(RdmaPair::contiguous(sent)), receive);
    EXPECT_EQ(got, sent);
  }
  /// Both calls at the same time.
  void exchange_at_once() {
    auto sent = pattern(bytes, ++messages_);
    std::vector<std::byte> got(bytes);
    pair_.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
    pair_.run_out();
    EXPECT_EQ(got, sent);
  }
  void end(Request* send, Request* receive) {
    const std::array requests{send, receive};
    ASSERT_TRUE(pair_.run(requests)) << "stuck";
    pair_.sender.take(send);
    pair_.receiver.take(receive);
    pair_.run_out();
  }
  [[nodiscard]] std::size_t taken(Rendezvous protocol) const {
    return pair_.receiver.statistics().rdma[static_cast<std::size_t>(protocol)];
  }
  [[nodiscard]] std::size_t announced() { return pair_.network.counts(receiver_side).of(MessageKind::rtr); }

  RdmaPair pair_;
  unsigned messages_ = 0;
};

class OutOfOrder : public PutUnasked {
 protected:
  OutOfOrder() : PutUnasked({.shuffled = true}) {}
};

class UnderAReadWindow : public PutUnasked {
 protected:
  UnderAReadWindow() : PutUnasked({}, windowed()) {}
};

TEST_F(PutUnasked, what_is_posted_ahead_is_written_once_its_site_has_waited_and_its_sender_was_told) {
  exchange_posted_ahead();
  EXPECT_EQ(taken(Rendezvous::getcqe), 1u);
  exchange_posted_ahead();
  EXPECT_EQ(taken(Rendezvous::get), 1u);
  EXPECT_EQ(announced(), 0u);
  pair_.network.forget_counts();
  for (int message = 0; message < 5; ++message) exchange_posted_ahead();
  EXPECT_EQ(taken(Rendezvous::put), 5u);
  EXPECT_EQ(announced(), 5u);
  EXPECT_EQ(pair_.network.counts(sender_side).of(MessageKind::rts), 0u);
}

TEST_F(PutUnasked, what_is_not_posted_ahead_is_read_until_its_last_byte_is_there) {
  for (int message = 0; message < 8; ++message) {
    auto sent = pattern(bytes);
    std::vector<std::byte> got(bytes);
    pair_.exchange_unexpected(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
    EXPECT_EQ(got, sent);
  }
  EXPECT_EQ(taken(Rendezvous::getcqe), 1u);
  EXPECT_EQ(taken(Rendezvous::get), 7u);
  EXPECT_EQ(announced(), 0u);
}

TEST_F(PutUnasked, announcements_that_cross_their_messages_become_rare_and_the_sender_waits_for_none) {
  constexpr std::size_t messages = 40;
  for (std::size_t message = 0; message < messages; ++message) exchange_at_once();
  EXPECT_EQ(taken(Rendezvous::put), 0u);
  EXPECT_EQ(taken(Rendezvous::get) + taken(Rendezvous::getcqe), messages);
  EXPECT_EQ(announced(), 2u) << "of the 3rd and the 11th";
}

TEST_F(PutUnasked, messages_that_go_in_chunks_are_read_in_chunks) {
  const std::size_t length = 3 * Config{}.rdrp_chunk;
  for (int message = 0; message < 3; ++message) exchange_posted_ahead(length);
  EXPECT_EQ(taken(Rendezvous::rdrp), 3u);
  EXPECT_EQ(announced(), 0u);
}

TEST_F(PutUnasked, a_receive_that_was_announced_can_be_cancelled) {
  for (int message = 0; message < 3; ++message) exchange_posted_ahead();
  std::vector<std::byte> got(bytes, std::byte{7});
  Request* const receive = pair_.start_receive(RdmaPair::contiguous(got));
  pair_.run_out();
  EXPECT_EQ(announced(), 2u);
  pair_.receiver.completion().cancel(*receive);
  ASSERT_TRUE(pair_.run({&receive, 1}));
  EXPECT_TRUE(pair_.receiver.take(receive).cancelled);
  EXPECT_EQ(got, std::vector<std::byte>(bytes, std::byte{7}));
  exchange_posted_ahead();
}

TEST_F(OutOfOrder, nobody_looks_at_last_bytes) {
  for (int message = 0; message < 3; ++message) exchange_posted_ahead();
  EXPECT_EQ(taken(Rendezvous::getcqe), 3u);
  EXPECT_EQ(announced(), 0u);
}

TEST_F(UnderAReadWindow, nobody_writes_what_the_window_could_not_hold_back) {
  for (int message = 0; message < 3; ++message) exchange_posted_ahead();
  EXPECT_EQ(taken(Rendezvous::put), 0u);
  EXPECT_EQ(announced(), 0u);
}

}  // namespace
}  // namespace sluice
