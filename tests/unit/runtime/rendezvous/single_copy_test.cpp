// Messages within the eager limit that are announced all the same, as their buffers are sent again as they were.

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/cooperating_engines.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = std::size_t{20} << 10;
constexpr std::size_t threshold = std::size_t{16} << 10;

Config automatic() {
  Config made;
  made.release = ReleaseMode::off;
  return made;
}

Calibration calibration_of(std::size_t single_copy_bytes) {
  Calibration made;
  made.single_copy_bytes = single_copy_bytes;
  return made;
}

constexpr ProcessorShare share_of(std::size_t processes) { return {.processes = processes, .processors = 2, .own = 2}; }

struct SingleCopies : CooperatingEngines {
  explicit SingleCopies(const Calibration& measured, const Config& wanted = automatic(),
                        const ProcessorShare& share = share_of(1), std::size_t messages_under_way = LoopbackKnobs::unlimited)
      : CooperatingEngines(wanted, measured, share, {.max_payload = 65536, .room = messages_under_way}) {
    EXPECT_EQ(arena.migrate(ByteRange::of(source.data(), room)), Ineligible::none);
    std::memcpy(source.data(), message_of(0), room);
  }
  ~SingleCopies() {
    sender.drain();
    receiver.drain();
  }
  SingleCopies(const SingleCopies&) = delete;
  SingleCopies& operator=(const SingleCopies&) = delete;

  /// Sends the beginning of the source; whether it was announced.
  bool sends_rts(std::size_t length = bytes) {
    const std::uint64_t before = sender.statistics().rendezvous_sends;
    std::memset(target.data(), 0, length);
    std::thread sending([&] { sender.send(*from, one, tag, source.data(), length, SendMode::standard, here); });
    Request* receive = receiver.start_receive(*to, zero, tag, {target.data(), length, Layout::contiguous(1)}, here);
    receiver.wait_all({&receive, 1}, here);
    receiver.take(receive);
    sending.join();
    EXPECT_EQ(std::memcmp(target.data(), source.data(), length), 0);
    return sender.statistics().rendezvous_sends != before;
  }
};

TEST(SingleCopy, is_of_a_block_that_is_sent_again_as_it_was) {
  SingleCopies pair(calibration_of(threshold));
  EXPECT_FALSE(pair.sends_rts()) << "the first one";
  EXPECT_TRUE(pair.sends_rts());
  EXPECT_TRUE(pair.sends_rts());
  std::memcpy(pair.source.data(), message_of(1), bytes);
  EXPECT_FALSE(pair.sends_rts()) << "written anew";
  EXPECT_TRUE(pair.sends_rts());
  pair.source.data()[100] ^= std::byte{1};  // seen by none of the samples; `sends_rts` compares all bytes
  EXPECT_TRUE(pair.sends_rts());
}

TEST(SingleCopy, is_of_no_shorter_message_and_of_none_where_it_was_not_found_to_pay) {
  SingleCopies pair(calibration_of(bytes + 1));
  EXPECT_FALSE(pair.sends_rts());
  EXPECT_FALSE(pair.sends_rts());
  SingleCopies never(calibration_of(shared_copy::never));
  EXPECT_FALSE(never.sends_rts());
  EXPECT_FALSE(never.sends_rts());
}

TEST(SingleCopy, is_of_none_where_processes_share_processors_unless_it_was_asked_for) {
  SingleCopies pair(calibration_of(threshold), automatic(), share_of(3));
  EXPECT_FALSE(pair.sends_rts());
  EXPECT_FALSE(pair.sends_rts());
  Config asked = automatic();
  asked.single_copy = threshold;
  SingleCopies wanted(calibration_of(shared_copy::never), asked, share_of(3));
  EXPECT_FALSE(wanted.sends_rts());
  EXPECT_TRUE(wanted.sends_rts());
}

/// More than there is room for, each of them sent for the first time.
TEST(SingleCopy, is_of_none_that_only_found_no_room) {
  constexpr std::size_t count = 12;
  SingleCopies pair(calibration_of(threshold), automatic(), share_of(1), count / 3);
  std::vector<Request*> sends;
  const std::uint64_t before = pair.sender.statistics().rendezvous_sends;
  for (std::size_t i = 0; i < count; ++i) {
    Request* send =
        pair.sender.start_send(*pair.from, one, tag, std::span(pair.source.data() + i * bytes, bytes), SendMode::standard, here);
    if (send) sends.push_back(send);
  }
  EXPECT_FALSE(sends.empty()) << "all of them found room";
  EXPECT_EQ(pair.sender.statistics().rendezvous_sends, before);
  std::thread sending([&] {
    pair.sender.wait_all(sends, here);
    for (Request* send : sends) pair.sender.take(send);
  });
  for (std::size_t i = 0; i < count; ++i) {
    Request* receive = pair.receiver.start_receive(*pair.to, zero, tag, {pair.target.data(), bytes, Layout::contiguous(1)}, here);
    pair.receiver.wait_all({&receive, 1}, here);
    pair.receiver.take(receive);
    EXPECT_EQ(std::memcmp(pair.target.data(), pair.source.data() + i * bytes, bytes), 0) << i;
  }
  sending.join();
}

TEST(SingleCopy, is_not_of_memory_that_is_no_block) {
  SingleCopies pair(calibration_of(threshold));
  const Pages other;
  std::memcpy(other.data(), message_of(0), bytes);
  const std::uint64_t before = pair.sender.statistics().rendezvous_sends;
  for (int time = 0; time < 2; ++time) {
    pair.sender.send(*pair.from, one, tag, other.data(), bytes, SendMode::standard, here);
    Request* receive = pair.receiver.start_receive(*pair.to, zero, tag, {pair.target.data(), bytes, Layout::contiguous(1)}, here);
    pair.receiver.wait_all({&receive, 1}, here);
    pair.receiver.take(receive);
    EXPECT_EQ(std::memcmp(pair.target.data(), message_of(0), bytes), 0);
  }
  EXPECT_EQ(pair.sender.statistics().rendezvous_sends, before);
}

}  // namespace
}  // namespace sluice
