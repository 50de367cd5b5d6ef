// Which blocked sends are copied to a bounce buffer, so that their calls return.

#include "runtime/release/bounced_sends.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "tests/unit/support/quiet_transport.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

constexpr Peer peer{1};
constexpr std::size_t bytes = 400'000;
constexpr std::uint64_t copy_ns = bytes / 4000 * 1000;

struct Host final : BouncedSends::Host {
  void progress(Lock&) override {
    ++rounds;
    if (on_round) on_round();
  }
  int rounds = 0;
  std::function<void()> on_round;
};

class BouncedSendsTest : public testing::Test {
 protected:
  BouncedSendsTest() {
    for (std::size_t i = 0; i < bytes; ++i) data_[i] = static_cast<std::byte>(i * 7);
    send_.kind = Request::Kind::send;
    send_.peer = peer;
    send_.way = Request::Way::stream;
    send_.data = data_.data();
    send_.bytes = send_.limit = bytes;
  }
  static QuietTransport& streaming(QuietTransport& transport) {
    transport.streams = true;
    return transport;
  }
  bool bounce(std::uint64_t waited_ns = copy_ns) {
    Request* requests[] = {nullptr, &send_};
    Lock lock(mutex_);
    bounced_.bounce(lock, requests, waited_ns);
    return send_.bounced != 0;
  }

  QuietTransport transport_;
  Job job_{one_of_two(Peer{0}, streaming(transport_), {})};
  EngineLock mutex_;
  EngineStatistics statistics_;
  Host host_;
  std::size_t in_use_ = 0;
  BouncedSends bounced_{job_, host_, in_use_, statistics_};
  std::vector<std::byte> data_ = std::vector<std::byte>(bytes);
  Request send_;
};

TEST_F(BouncedSendsTest, a_send_is_copied_with_the_engine_at_work_meanwhile) {
  const std::vector<std::byte> before = data_;
  ASSERT_TRUE(bounce());
  EXPECT_TRUE(send_.may_return());
  EXPECT_GT(host_.rounds, 1);
  EXPECT_EQ(in_use_, bytes);
  EXPECT_EQ(statistics_.bounced_sends, 1u);
  std::fill(data_.begin(), data_.end(), std::byte{0});
  EXPECT_EQ(std::memcmp(send_.data, before.data(), bytes), 0);
}

TEST_F(BouncedSendsTest, not_before_the_wait_has_lasted_as_long_as_the_copy) {
  EXPECT_FALSE(bounce(copy_ns - 1));
  EXPECT_EQ(host_.rounds, 0);
}

TEST_F(BouncedSendsTest, what_has_left_is_not_copied) {
  send_.offset = bytes / 2;
  EXPECT_TRUE(bounce(copy_ns / 2));
}

TEST_F(BouncedSendsTest, a_send_that_is_through_meanwhile_keeps_its_buffer) {
  host_.on_round = [&] { send_.complete.store(true); };
  EXPECT_FALSE(bounce());
  EXPECT_EQ(send_.data, data_.data());
  EXPECT_EQ(in_use_, 0u);
}

TEST_F(BouncedSendsTest, there_is_a_bound_for_all_together) {
  in_use_ = BouncedSends::max_bytes - bytes + 1;
  EXPECT_FALSE(bounce());
  in_use_ = BouncedSends::max_bytes - bytes;
  EXPECT_TRUE(bounce());
}

TEST_F(BouncedSendsTest, others_are_left_to_their_calls) {
  const auto refused_when = [&](const auto& change, const auto& back) {
    change();
    const bool refused = !bounce();
    back();
    return refused;
  };
  EXPECT_TRUE(refused_when([&] { send_.kind = Request::Kind::receive; }, [&] { send_.kind = Request::Kind::send; }));
  EXPECT_TRUE(refused_when([&] { send_.mode = SendMode::synchronous; }, [&] { send_.mode = SendMode::standard; }));
  EXPECT_TRUE(refused_when([&] { send_.peer = job_.self; }, [&] { send_.peer = peer; }));
  EXPECT_TRUE(refused_when([&] { send_.way = Request::Way::write; }, [&] { send_.way = Request::Way::stream; }));
  EXPECT_TRUE(refused_when([&] { send_.offers_rdma = true; }, [&] { send_.offers_rdma = false; }));
  EXPECT_TRUE(refused_when([&] { send_.owned = std::make_unique<std::byte[]>(1); }, [&] { send_.owned.reset(); }));
  EXPECT_TRUE(refused_when([&] { transport_.streams = false; }, [&] { transport_.streams = true; }));
  EXPECT_TRUE(bounce()) << "but for these";
}

TEST_F(BouncedSendsTest, an_announcement_that_is_not_answered_is_under_way) {
  send_.way = Request::Way::undecided;
  EXPECT_FALSE(bounce());
  send_.expects = Request::Expects::clearance;
  EXPECT_TRUE(bounce());
}

}  // namespace
}  // namespace sluice
