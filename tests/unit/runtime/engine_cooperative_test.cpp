// Two engines with alias blocks, joined by the loop-back network, whose processes share an address space: a receive buffer that
// is a block is written by the sender and read by the receiver at once.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/alias_arena.hpp"
#include "runtime/engine.hpp"
#include "runtime/layout.hpp"
#include "runtime/statistics.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

constexpr std::size_t room = 3'000'000;

/// Ordinary private memory that may become a block.
class Pages {
 public:
  Pages() {
    if (start_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Pages() { munmap(start_, room); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(start_); }

 private:
  void* start_ = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

constexpr int rounds = 12;  // a buffer becomes a block at its sixth use

/// `room` bytes, others in every round. Computed once: sanitizers make loops over bytes slow, and leave memcpy as it is.
const std::byte* message_of(int round) {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> made(room + rounds);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(i * 7 + i / 4099);
    return made;
  }();
  return bytes.data() + round;
}

struct Case {
  const char* name;
  Rendezvous rendezvous;
  LoopbackKnobs knobs;
  bool receiver_takes_part;
  std::size_t copy_chunk = 0;
};

class Cooperative : public testing::TestWithParam<std::tuple<std::size_t, Case>> {
 protected:
  Engine::Parts parts(Peer self) {
    Config config;
    config.release = ReleaseMode::off;
    config.rendezvous = std::get<1>(GetParam()).rendezvous;
    config.copy_chunk = std::get<1>(GetParam()).copy_chunk;
    return {.self = self,
            .job_size = 2,
            .processes_on_node = 1,
            .transport = &network.transport(self),
            .arena = &arena,
            .host = {},
            .config = config};
  }

  LoopbackNetwork network{2, std::get<1>(GetParam()).knobs};
  AliasArena arena{10000};
};

TEST_P(Cooperative, every_byte_arrives_once_and_nothing_beyond_it_changes) {
  const auto& [bytes, conditions] = GetParam();
  Engine sender(parts(Peer{0}));
  Engine receiver(parts(Peer{1}));
  Context* from = sender.adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  Context* to = receiver.adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  const Pages source;
  const Pages target;
  std::memset(target.data(), 0x5a, room);

  std::thread sending([&, bytes = bytes] {
    for (int round = 0; round < rounds; ++round) {
      std::memcpy(source.data(), message_of(round), bytes);
      sender.send(*from, one, tag, source.data(), bytes, SendMode::standard, here);
    }
    sender.drain();
  });
  for (int round = 0; round < rounds; ++round) {
    const Outcome outcome = receiver.receive(*to, zero, tag, target.data(), bytes + 1000, here);
    ASSERT_EQ(outcome.bytes, bytes);
    ASSERT_EQ(std::memcmp(target.data(), message_of(round), bytes), 0) << "round " << round;
    ASSERT_EQ(target.data()[bytes], std::byte{0x5a});
  }
  receiver.drain();
  sending.join();
  EXPECT_TRUE(conditions.receiver_takes_part || receiver.statistics().cooperative == 0);
  const std::uint64_t copied = sender.statistics().bytes_copied + receiver.statistics().bytes_copied;
  EXPECT_TRUE(receiver.statistics().streamed != 0 ? copied < rounds * bytes : copied == rounds * bytes) << copied;
  for (const Peer peer : {Peer{0}, Peer{1}}) EXPECT_EQ(network.transport(peer).copy_load(peer).expected, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Cooperative,
    testing::Combine(
        testing::Values(std::size_t{32'768}, std::size_t{65'537}, std::size_t{1'000'003}, std::size_t{2'900'000}),
        testing::Values(Case{"both", Rendezvous::coop, {}, true}, Case{"sender", Rendezvous::rput, {}, false},
                        Case{"receiver", Rendezvous::rget, {}, false}, Case{"calls", Rendezvous::coop_coll, {}, true},
                        Case{"load", Rendezvous::coop_load, {}, true}, Case{"automatic", Rendezvous::automatic, {}, true},
                        Case{"load_sender_stops", Rendezvous::coop_load, {.write_budget = 4'700'000}, true},
                        Case{"load_receiver_stops", Rendezvous::coop_load, {.read_budget = 4'700'000}, true},
                        Case{"short_chunks", Rendezvous::coop, {}, true, 4096},
                        Case{"odd_chunks", Rendezvous::coop, {}, true, 5003},
                        Case{"long_chunks", Rendezvous::coop, {}, true, std::size_t{64} << 20},
                        Case{"slow", Rendezvous::coop, {.delay_polls = 5, .room = 2}, true},
                        Case{"sender_stops", Rendezvous::coop, {.write_budget = 4'700'000}, true},
                        Case{"receiver_stops", Rendezvous::coop, {.read_budget = 14'300'000}, true},
                        Case{"both_stop", Rendezvous::coop, {.write_budget = 4'700'000, .read_budget = 14'300'000}, true})),
    [](const auto& instance) {
      return std::string(std::get<1>(instance.param).name) + "_" + std::to_string(std::get<0>(instance.param));
    });

/// With more processes than processors, so that no helper thread copies.
Engine::Parts reader(LoopbackNetwork& network, Peer self) {
  Config config;
  config.release = ReleaseMode::off;
  config.rendezvous = Rendezvous::rget;
  return {.self = self,
          .job_size = 2,
          .processes_on_node = 1000,
          .transport = &network.transport(self),
          .arena = nullptr,
          .host = {},
          .config = config};
}

TEST(Chunks, what_a_thread_waits_for_is_told_before_a_chunk_of_something_else_is_copied) {
  LoopbackNetwork network(2);
  Engine sender(reader(network, Peer{0}));
  Engine receiver(reader(network, Peer{1}));
  Context* from = sender.adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  Context* to = receiver.adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  const Pages source;
  const Pages target;
  int small = 0;
  constexpr int sent = 17;
  const Tag other{4};

  std::vector<Request*> receives;
  {
    const Engine::Pause in_a_call(receiver);
    receives = {receiver.start_receive(*to, zero, tag, {target.data(), room, Layout::contiguous(1)}, here),
                receiver.start_receive(*to, zero, other,
                                       {reinterpret_cast<std::byte*>(&small), sizeof small, Layout::contiguous(1)}, here)};
    Request* send = sender.start_send(*from, one, tag, {source.data(), room, Layout::contiguous(1)}, SendMode::standard, here);
    sender.send(*from, one, other, reinterpret_cast<const std::byte*>(&sent), sizeof sent, SendMode::standard, here);
    receiver.wait_any(receives);
    EXPECT_EQ(network.bytes_read(Peer{1}), 0u);
    EXPECT_EQ(small, sent);

    receiver.wait_all(receives, here);
    sender.wait_all({&send, 1}, here);
    sender.take(send);
  }
  for (Request* receive : receives) receiver.take(receive);
  EXPECT_EQ(network.bytes_read(Peer{1}), room);
}

}  // namespace
}  // namespace sluice
