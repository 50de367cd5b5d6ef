// The engine of a job of one rank: no transport, no helper thread, and all messages to itself.

#include <gtest/gtest.h>

#include <thread>

#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/engine_process.hpp"

namespace sluice {
namespace {

class Alone : public testing::TestWithParam<std::size_t> {
 protected:
  Alone() : world_(engine_.contexts().adopt(ContextId{1}, {Peer{0}}, zero)) {}

  Request* start_send(SendMode mode = SendMode::standard) {
    return engine_.start_send(*world_, zero, tag, contiguous(data_), mode, here);
  }
  void receive() { engine_.receive(*world_, zero, tag, got_.data(), got_.size(), here); }
  void finish(Request* request) {
    if (!request) return;  // has left at once
    engine_.wait_all({&request, 1}, here);
    engine_.take(request);
  }

  Engine engine_{{.self = Peer{0}, .job_size = 1, .transport = nullptr, .arena = nullptr, .host = {}, .config = {}}};
  Context* world_;
  std::vector<std::byte> data_ = pattern(GetParam(), 3);
  std::vector<std::byte> got_ = std::vector<std::byte>(GetParam());
};

TEST_P(Alone, a_message_arrives_whoever_is_first) {
  for (const SendMode mode : {SendMode::standard, SendMode::synchronous, SendMode::buffered}) {
    std::fill(got_.begin(), got_.end(), std::byte{0});
    Request* send = start_send(mode);
    receive();
    finish(send);
    EXPECT_EQ(got_, data_);

    std::fill(got_.begin(), got_.end(), std::byte{0});
    Request* posted = engine_.start_receive(*world_, any_source, any_tag, contiguous(got_), here);
    finish(start_send(mode));
    finish(posted);
    EXPECT_EQ(got_, data_);
  }
}

TEST_P(Alone, a_thread_waits_for_the_message_of_another) {
  std::thread receiver([this] { receive(); });
  finish(start_send());
  receiver.join();
  EXPECT_EQ(got_, data_);
}

TEST_P(Alone, what_is_not_received_does_not_keep_it_from_ending) {
  Request* synchronous = start_send(SendMode::synchronous);
  Request* buffered = start_send(SendMode::buffered);
  engine_.drain();
  receive();
  receive();
  finish(synchronous);
  finish(buffered);
}

TEST_P(Alone, what_nobody_has_waited_for_is_received_before_the_end) {
  engine_.start_receive(*world_, zero, tag, contiguous(got_), here);
  start_send();
  engine_.drain();
  EXPECT_EQ(got_, data_);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Alone, testing::Values(0, 1, 16384, 16385, 65536, 1'000'003));

}  // namespace
}  // namespace sluice
