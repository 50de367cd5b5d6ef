// Two engines with alias blocks, joined by the loop-back network, whose processes share an address space: a receive buffer that
// is a block is written by the sender and read by the receiver at once.

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "runtime/alias/arena.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/cooperating_engines.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

constexpr std::size_t min_offloaded = 65'536;
constexpr std::size_t max_reads = 3;

enum class Offload { never, some, all_complete };

struct Case {
  const char* name;
  Rendezvous rendezvous;
  LoopbackKnobs knobs;
  bool receiver_takes_part;
  std::size_t copy_chunk = 0;
  Offload offload = Offload::never;
};

class Cooperative : public testing::TestWithParam<std::tuple<std::size_t, Case>> {
 protected:
  Engine::Parts parts(Peer self) {
    Config config;
    config.release = ReleaseMode::off;
    config.rendezvous = std::get<1>(GetParam()).rendezvous;
    config.copy_chunk = std::get<1>(GetParam()).copy_chunk;
    config.hca_bytes = min_offloaded;
    config.hca_outstanding = max_reads;
    return one_of_two(self, network.transport(self), config, &arena);
  }

  LoopbackNetwork network{2, std::get<1>(GetParam()).knobs};
  AliasArena arena{10000};
};

TEST_P(Cooperative, every_byte_arrives_once_and_nothing_beyond_it_changes) {
  const auto& [bytes, conditions] = GetParam();
  Engine sender(parts(Peer{0}));
  Engine receiver(parts(Peer{1}));
  Context* from = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  Context* to = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
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
  const EngineStatistics& counts = receiver.statistics();
  const std::uint64_t moved = sender.statistics().bytes_copied + counts.bytes_copied + counts.bytes_offloaded;
  const std::uint64_t all = rounds * bytes;
  // What lies between two chunks that the adapter could not read is brought again.
  const bool again = conditions.offload == Offload::some;
  EXPECT_TRUE(counts.streamed != 0 ? again || moved < all : moved == all || (again && moved > all)) << moved;
  // Of few chunks, the processors may have them all before the adapter is asked.
  if (conditions.offload == Offload::never || bytes < min_offloaded) {
    EXPECT_EQ(counts.offloaded, 0u);
  } else if (bytes > 10 * min_offloaded) {
    EXPECT_GT(counts.offloaded, 0u);
  }
  if (conditions.offload != Offload::some) {
    EXPECT_EQ(counts.offloads_failed, 0u);
  } else if (bytes > 10 * min_offloaded) {
    EXPECT_GT(counts.offloads_failed, 0u);
  }
  EXPECT_LE(network.adapter(Peer{1}).max_under_way(), max_reads);
  EXPECT_EQ(network.adapter_work(), 0u);
  for (const Peer peer : {Peer{0}, Peer{1}}) EXPECT_EQ(network.transport(peer).copy_load(peer).expected, 0u);
}

std::string case_name(const testing::TestParamInfo<Cooperative::ParamType>& instance) {
  return std::string(std::get<1>(instance.param).name) + "_" + std::to_string(std::get<0>(instance.param));
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
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Adapter, Cooperative,
    testing::Combine(
        testing::Values(std::size_t{65'537}, std::size_t{1'000'003}),
        testing::Values(
            Case{"hca", Rendezvous::coop_hca, {.adapter = {.present = true}}, true, 0, Offload::all_complete},
            Case{"hca_slow",
                 Rendezvous::coop_hca,
                 {.adapter = {.present = true, .delay_polls = 7}},
                 true,
                 0,
                 Offload::all_complete},
            Case{"hca_odd_chunks",
                 Rendezvous::coop_hca,
                 {.adapter = {.present = true, .delay_polls = 2}},
                 true,
                 5003,
                 Offload::all_complete},
            Case{"hca_one_read", Rendezvous::coop_hca, {.adapter = {.present = true, .room = 1}}, true, 0, Offload::all_complete},
            Case{"hca_fails", Rendezvous::coop_hca, {.adapter = {.present = true, .reads = 4}}, true, 0, Offload::some},
            Case{"hca_fails_late",
                 Rendezvous::coop_hca,
                 {.adapter = {.present = true, .delay_polls = 20, .reads = 4}},
                 true,
                 0,
                 Offload::some},
            Case{"hca_fails_at_once", Rendezvous::coop_hca, {.adapter = {.present = true, .reads = 0}}, true, 0, Offload::some},
            Case{"hca_unconnected", Rendezvous::coop_hca, {.adapter = {.present = true, .connects = false}}, true},
            Case{"hca_unregistered", Rendezvous::coop_hca, {.adapter = {.present = true, .registrations = 0}}, true},
            Case{"hca_busy", Rendezvous::coop_hca, {.adapter = {.present = true, .foreign_work = 8}}, true},
            Case{"hca_absent", Rendezvous::coop_hca, {}, true},
            Case{"hca_sender_stops",
                 Rendezvous::coop_hca,
                 {.write_budget = 4'700'000, .adapter = {.present = true, .delay_polls = 3}},
                 true,
                 0,
                 Offload::all_complete},
            Case{"hca_receiver_stops",
                 Rendezvous::coop_hca,
                 {.read_budget = 14'300'000, .adapter = {.present = true, .delay_polls = 3}},
                 true,
                 0,
                 Offload::all_complete},
            Case{"hca_all_stop",
                 Rendezvous::coop_hca,
                 {.write_budget = 9'700'000, .read_budget = 14'300'000, .adapter = {.present = true, .reads = 9}},
                 true,
                 0,
                 Offload::some})),
    case_name);

/// How many of so many messages, received at once, their sender wrote, alone or as one of both.
std::size_t written_at_once(std::size_t messages, std::size_t bytes, const Calibration& calibration,
                            const ProcessorShare& processors) {
  Config config;
  config.release = ReleaseMode::off;
  CooperatingEngines pair(config, calibration, processors);
  EXPECT_EQ(pair.arena.migrate(ByteRange::of(pair.target.data(), room)), Ineligible::none);
  std::vector<Request*> receives;
  const Engine::Pause receiver_in_a_call(pair.receiver);
  for (std::size_t i = 0; i < messages; ++i) {
    const UserBuffer part{pair.target.data() + i * bytes, bytes, Layout::contiguous(1)};
    receives.push_back(pair.receiver.start_receive(*pair.to, zero, tag, part, here));
  }
  std::thread sending([&] {
    for (std::size_t i = 0; i < messages; ++i)
      pair.sender.send(*pair.from, one, tag, pair.source.data(), bytes, SendMode::standard, here);
  });
  pair.receiver.wait_all(receives, here);
  sending.join();
  for (Request* receive : receives) pair.receiver.take(receive);
  return pair.receiver.statistics().written;
}

TEST(Hybrid, messages_that_come_at_once_are_shared_that_are_too_short_alone) {
  Calibration calibration;
  calibration.round_trip_ns = 100;
  calibration.coop_bytes = calibration.coop_own_bytes = 200'000;
  const ProcessorShare each_one{.processes = 2, .processors = 2};
  EXPECT_EQ(written_at_once(1, 60'000, calibration, each_one), 0U);
  EXPECT_GE(written_at_once(2, 60'000, calibration, each_one), 1U);
  EXPECT_GE(written_at_once(2, 20'000, calibration, each_one), 1U);
  calibration.coop_bytes = Calibration::most_coop_bytes;
  EXPECT_EQ(written_at_once(2, 60'000, calibration, each_one), 0U) << "not found to pay";
}

TEST(Hybrid, blocked_senders_copy_long_messages_where_many_share_a_processor) {
  Calibration calibration;
  calibration.gathered_bytes = 300'000;
  const ProcessorShare crowded{.processes = 8, .processors = 2};
  EXPECT_EQ(written_at_once(1, 400'000, calibration, crowded), 1U);
  EXPECT_GE(written_at_once(2, 400'000, calibration, crowded), 1U);
  EXPECT_EQ(written_at_once(2, 200'000, calibration, crowded), 0U);
  EXPECT_EQ(written_at_once(2, 400'000, calibration, {.processes = 7, .processors = 2}), 0U);
  calibration.gathered_bytes = shared_copy::never;
  EXPECT_EQ(written_at_once(2, 400'000, calibration, crowded), 0U);
}

/// Whether the sender wrote a part of a message from MPI_Isend, both sides being in calls.
bool is_shared_in_turns(std::size_t bytes, Engine::Caller receiving, const Calibration& calibration,
                        const ProcessorShare& processors) {
  Config config;
  config.release = ReleaseMode::off;
  CooperatingEngines pair(config, calibration, processors);
  EXPECT_EQ(pair.arena.migrate(ByteRange::of(pair.target.data(), room)), Ineligible::none);
  const Engine::Pause receiver_in_a_call(pair.receiver);
  const Engine::Pause sender_in_a_call(pair.sender);
  const UserBuffer target{pair.target.data(), bytes, Layout::contiguous(1)};
  Request* receive = pair.receiver.start_receive(*pair.to, zero, tag, target, here, receiving);
  const UserBuffer source{pair.source.data(), bytes, Layout::contiguous(1)};
  Request* send = pair.sender.start_send(*pair.from, one, tag, source, SendMode::standard, here);
  std::thread sending([&] { pair.sender.wait_all({&send, 1}, here); });
  pair.receiver.wait_all({&receive, 1}, here);
  sending.join();
  pair.receiver.take(receive);
  pair.sender.take(send);
  return pair.receiver.statistics().written != 0;
}

TEST(Hybrid, where_many_share_a_processor_two_halves_pay_later_in_turns_if_the_receive_blocks) {
  using Caller = Engine::Caller;
  Calibration calibration;
  calibration.coop_turns_bytes = 100'000;
  const ProcessorShare crowded{.processes = 8, .processors = 2};
  const ProcessorShare shared{.processes = 7, .processors = 2};
  EXPECT_TRUE(is_shared_in_turns(110'000, Caller::waits, calibration, shared));
  EXPECT_FALSE(is_shared_in_turns(390'000, Caller::waits, calibration, crowded));
  EXPECT_TRUE(is_shared_in_turns(410'000, Caller::waits, calibration, crowded));
  EXPECT_TRUE(is_shared_in_turns(110'000, Caller::goes_on, calibration, crowded));
  EXPECT_FALSE(is_shared_in_turns(90'000, Caller::goes_on, calibration, crowded));
}

/// Of two processes that are in calls, with a processor each.
TEST(Hybrid, both_copy_a_message_unless_the_receiver_sends_as_much_or_did_beside_the_last_one) {
  LoopbackNetwork network(2);
  AliasArena arena{10000};
  Config config;
  config.release = ReleaseMode::off;
  Engine a(one_of_two(Peer{0}, network.transport(Peer{0}), config, &arena));
  Engine b(one_of_two(Peer{1}, network.transport(Peer{1}), config, &arena));
  Context* at_a = a.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  Context* at_b = b.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  const Pages source;
  const Pages target;
  ASSERT_EQ(arena.migrate(ByteRange::of(target.data(), room)), Ineligible::none);
  const auto part = [](const Pages& pages, std::size_t bytes) { return UserBuffer{pages.data(), bytes, Layout::contiguous(1)}; };
  const Engine::Pause a_in_a_call(a);
  const Engine::Pause b_in_a_call(b);

  struct {
    std::size_t bytes;
    std::size_t sent_back;
    bool shared;
  } const cases[] = {{30'000, 0, false},         {100'000, 0, true},        {400'000, 0, true},
                     {600'000, 0, true},         {600'000, 600'000, false}, {1'200'000, 1'200'000, false},
                     {1'200'000, 200'000, true}, {600'000, 600'000, false}, {600'000, 0, false},
                     {600'000, 0, true}};
  for (const auto& [bytes, sent_back, shared] : cases) {
    Request* back = nullptr;
    if (sent_back != 0) back = b.start_send(*at_b, zero, tag, part(target, sent_back), SendMode::standard, here);
    const std::uint64_t written = b.statistics().written;
    Request* send = a.start_send(*at_a, one, tag, part(source, bytes), SendMode::standard, here);
    Request* receive = b.start_receive(*at_b, zero, tag, part(target, bytes), here);
    std::thread sending([&, send = send] { a.wait_all({&send, 1}, here); });
    b.wait_all({&receive, 1}, here);
    sending.join();
    EXPECT_EQ(b.statistics().written - written, shared ? 1U : 0U) << bytes << " one way, " << sent_back << " the other";
    a.take(send);
    b.take(receive);
    if (!back) continue;
    std::thread receiving([&, bytes = sent_back] { a.receive(*at_a, one, tag, source.data(), bytes, here); });
    b.wait_all({&back, 1}, here);
    receiving.join();
    b.take(back);
  }
}

/// MPI_Isend and something else, and MPI_Recv.
class BusySender {
 public:
  explicit BusySender(const LoopbackKnobs& knobs) : network_(2, knobs) {
    EXPECT_EQ(arena_.migrate(ByteRange::of(target_.data(), room)), Ineligible::none);
    std::memcpy(source_.data(), message_of(0), room);
    send_ = a_.start_send(*at_a_, one, tag, {source_.data(), room, Layout::contiguous(1)}, SendMode::standard, here);
  }

  void receive() {
    EXPECT_EQ(b_.receive(*at_b_, zero, tag, target_.data(), room, here).bytes, room);
    EXPECT_EQ(std::memcmp(target_.data(), message_of(0), room), 0);
  }
  void end_send() {
    a_.wait_all({&send_, 1}, here);
    a_.take(send_);
  }
  [[nodiscard]] std::size_t read() { return network_.bytes_read(Peer{1}); }
  [[nodiscard]] std::size_t times_woken() { return network_.wakes(Peer{0}); }
  [[nodiscard]] const EngineStatistics& receiver() const { return b_.statistics(); }

 private:
  static Engine::Parts parts(LoopbackNetwork& network, Peer self, AliasArena& arena) {
    Config config;
    config.release = ReleaseMode::early;
    return one_of_two(self, network.transport(self), config, &arena);
  }

  LoopbackNetwork network_;
  AliasArena arena_{10000};
  Pages source_;
  Pages target_;
  Engine a_{parts(network_, Peer{0}, arena_)};
  Engine b_{parts(network_, Peer{1}, arena_)};
  Context* at_a_ = a_.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  Context* at_b_ = b_.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  Request* send_ = nullptr;
};

TEST(Hybrid, a_sender_that_does_something_else_is_not_woken_and_the_receiver_copies_all) {
  BusySender job({});
  job.receive();
  EXPECT_EQ(job.receiver().written, 1U) << "the sender might have taken part";
  EXPECT_EQ(job.read(), room);
  EXPECT_EQ(job.times_woken(), 0U);
  job.end_send();
}

TEST(Hybrid, a_sender_that_comes_brings_what_the_receiver_has_not_copied) {
  BusySender job({.read_budget = room / 2});
  std::thread receiving([&] { job.receive(); });
  while (job.read() < room / 2) std::this_thread::yield();
  job.end_send();
  receiving.join();
  EXPECT_LT(job.read(), room);
}

class Offloading : public testing::Test {
 protected:
  Offloading() {
    EXPECT_EQ(arena.migrate(ByteRange::of(source.data(), room)), Ineligible::none);
    EXPECT_EQ(arena.migrate(ByteRange::of(target.data(), room)), Ineligible::none);
    std::memcpy(source.data(), message_of(0), room);
  }

  Engine::Parts parts(Peer self) {
    Config config;
    config.release = ReleaseMode::off;
    config.rendezvous = Rendezvous::coop_hca;
    return one_of_two(self, network.transport(self), config, &arena);
  }
  static UserBuffer all_of(const Pages& pages) { return {pages.data(), room, Layout::contiguous(1)}; }

  LoopbackNetwork network{2, {.adapter = {.present = true, .delay_polls = 2}}};
  AliasArena arena{10000};
  const Pages source;
  const Pages target;
};

TEST_F(Offloading, the_adapter_brings_what_no_processor_has_time_for) {
  Engine sender(parts(Peer{0}));
  Engine receiver(parts(Peer{1}));
  Context* from = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  Context* to = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  Request* receive = receiver.start_receive(*to, zero, tag, all_of(target), here);
  Request* send = nullptr;
  {
    // In a call that does not look at messages; and the receiver's application is in none.
    const Engine::Pause busy(sender);
    send = sender.start_send(*from, one, tag, all_of(source), SendMode::standard, here);
    while (!Engine::is_complete(*receive)) std::this_thread::yield();
    EXPECT_FALSE(Engine::is_complete(*send));
    sender.wait_all({&send, 1}, here);
  }
  sender.take(send);
  EXPECT_EQ(receiver.take(receive).bytes, room);
  EXPECT_EQ(std::memcmp(target.data(), message_of(0), room), 0);
  EXPECT_EQ(receiver.statistics().bytes_offloaded, room);
  EXPECT_EQ(sender.statistics().bytes_copied + receiver.statistics().bytes_copied, 0u);
}

}  // namespace
}  // namespace sluice
