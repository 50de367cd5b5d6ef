// The rendezvous protocols over RDMA, on the model of an adapter: what arrives, what is exchanged for it, and what happens where
// memory, order or room are not as one would like.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "runtime/alias/arena.hpp"
#include "runtime/registration/registration_cache.hpp"
#include "runtime/rendezvous/rdma_protocol.hpp"
#include "tests/unit/support/rdma_pair.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

constexpr Rank zero{0};
constexpr Peer sender_side{0};
constexpr Peer receiver_side{1};
constexpr std::byte untouched{0x5a};

const AdapterKnobs plain{};
const AdapterKnobs shuffled{.shuffled = true};
const AdapterKnobs narrow{.shuffled = true, .largest_transfer = 5000, .queue_depth = 1, .room = 1};
const AdapterKnobs slow_messages{.latency = 10, .per_message = 5000, .notification = 0, .max_payload = 64};

std::size_t taken(const Engine& receiver, Rendezvous protocol) {
  return receiver.statistics().rdma[static_cast<std::size_t>(protocol)];
}

// --- every byte --------------------------------------------------------------------------------------------------------

/// In one thread, by hand: the thread sanitizer sees nothing in it but what it sees with a few of the sizes.
#ifdef __SANITIZE_THREAD__
const auto message_sizes = testing::Values(0, 1, 4097, 131'073);
#else
const auto message_sizes = testing::Values(0, 1, 2, 3, 4095, 4096, 4097, 131'072, 131'073, 1'000'003, 4 << 20);
#endif

class Delivery : public testing::TestWithParam<std::tuple<Rendezvous, std::size_t, AdapterKnobs>> {};

TEST_P(Delivery, every_byte_arrives_once_and_nothing_beyond_it_changes) {
  const auto& [protocol, bytes, knobs] = GetParam();
  RdmaPair pair(knobs, RdmaPair::forced(protocol));
  for (const bool expected : {true, false}) {
    auto sent = pattern(bytes);
    std::vector<std::byte> got(bytes + 64, untouched);
    const auto from = RdmaPair::contiguous(sent);
    const auto into = RdmaPair::contiguous(got);

    const Outcome outcome = expected ? pair.exchange(from, into) : pair.exchange_unexpected(from, into);

    EXPECT_EQ(outcome.bytes, bytes);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got.begin()));
    EXPECT_EQ(std::count(got.begin() + static_cast<std::ptrdiff_t>(bytes), got.end(), untouched), 64);
  }
  pair.run_out();
  for (const Peer side : {sender_side, receiver_side}) {
    EXPECT_EQ(pair.network.counts(side).registered, 0u);
    EXPECT_EQ(pair.network.counts(side).told_work, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, Delivery,
                         testing::Combine(testing::Values(Rendezvous::automatic, Rendezvous::rput, Rendezvous::getcqe,
                                                          Rendezvous::get, Rendezvous::rdrp, Rendezvous::putnr, Rendezvous::put),
                                          message_sizes, testing::Values(plain, shuffled, narrow, slow_messages)));

// --- what is exchanged -------------------------------------------------------------------------------------------------

class Exchange : public testing::TestWithParam<Rendezvous> {};

INSTANTIATE_TEST_SUITE_P(Protocols, Exchange,
                         testing::Values(Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get, Rendezvous::rdrp),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(Exchange, each_rendezvous_takes_the_protocols_own_number_of_messages) {
  constexpr std::size_t messages = 50;
  const Rendezvous protocol = GetParam();
  RdmaPair pair(plain, RdmaPair::forced(protocol));
  auto sent = pattern(100'000);
  std::vector<std::byte> got(sent.size());
  for (std::size_t i = 0; i < messages; ++i) pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  pair.run_out();

  const AdapterCounts by_sender = pair.network.counts(sender_side);
  const AdapterCounts by_receiver = pair.network.counts(receiver_side);
  const bool writes = protocol == Rendezvous::rput;
  EXPECT_EQ(taken(pair.receiver, protocol), messages);
  EXPECT_EQ(by_sender.of(MessageKind::rts), messages);
  EXPECT_EQ(by_receiver.of(MessageKind::cts), writes ? messages : 0);
  EXPECT_EQ(by_sender.of(MessageKind::fin), writes ? messages : 0);
  EXPECT_EQ(by_receiver.of(MessageKind::fin), writes ? 0 : messages);
  EXPECT_EQ(pair.control_messages(), (writes ? 3 : 2) * messages);
  EXPECT_EQ(by_sender.writes, writes ? messages : 0);
  EXPECT_EQ(by_receiver.reads, writes ? 0 : messages);
  EXPECT_EQ(by_receiver.of(MessageKind::data) + by_sender.of(MessageKind::data), 0u);
  EXPECT_EQ(pair.receiver.statistics().last_bytes_seen, protocol == Rendezvous::get ? messages : 0);

  pair.counts(protocol, "any").print();
}

TEST_P(Exchange, a_wildcard_receive_is_served) {
  RdmaPair pair(plain, RdmaPair::forced(GetParam()));
  auto sent = pattern(70'000);
  std::vector<std::byte> got(sent.size());
  EXPECT_EQ(pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got), any_source).source, zero);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(taken(pair.receiver, GetParam()), 1u);
}

// --- whoever speaks first ----------------------------------------------------------------------------------------------

class AnyProtocol : public testing::TestWithParam<Rendezvous> {};

INSTANTIATE_TEST_SUITE_P(Protocols, AnyProtocol,
                         testing::Values(Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get, Rendezvous::rdrp,
                                         Rendezvous::putnr, Rendezvous::put),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(AnyProtocol, a_message_longer_than_the_buffer_fills_it_and_is_reported) {
  RdmaPair pair(shuffled, RdmaPair::forced(GetParam()));
  auto sent = pattern(300'001);
  std::vector<std::byte> got(150'007, untouched);
  const auto whole = std::span(got);
  const Outcome outcome = pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(whole.first(150'000)));
  EXPECT_EQ(outcome.failure, Failure::truncated);
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 150'000, sent.begin()));
  EXPECT_EQ(std::count(got.begin() + 150'000, got.end(), untouched), 7);
}

TEST_P(AnyProtocol, buffers_with_gaps_go_as_a_stream) {
  const auto every_other = std::make_shared<Layout>(std::vector<StridedRun>{{0, 8, 16, 5000}}, 16 * 5000);
  for (const bool sender_has_them : {true, false}) {
    RdmaPair pair(plain, RdmaPair::forced(GetParam()));
    auto spread = pattern(16 * 5000);
    auto dense = pattern(8 * 5000, 2);
    const UserBuffer gaps{spread.data(), 1, every_other};
    const UserBuffer whole = RdmaPair::contiguous(dense);
    pair.exchange(sender_has_them ? gaps : whole, sender_has_them ? whole : gaps);
    std::vector<std::byte> packed(dense.size());
    LayoutCursor(gaps).pack(packed);
    EXPECT_EQ(packed, dense);
    EXPECT_EQ(taken(pair.receiver, GetParam()), 0u);
    pair.run_out();
    EXPECT_EQ(pair.network.counts(sender_side).registered, 0u);
  }
}

TEST_P(AnyProtocol, memory_that_cannot_be_registered_loses_nothing) {
  for (const auto& refused : {std::vector<std::size_t>{0}, {1}, {0, 1}}) {
    RdmaPair pair({.refused_processes = refused}, RdmaPair::forced(GetParam()));
    auto sent = pattern(200'003);
    std::vector<std::byte> got(sent.size());
    pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
    EXPECT_EQ(got, sent);
    EXPECT_GT(pair.network.counts(sender_side).of(MessageKind::data), 0u);
    pair.run_out();
    EXPECT_EQ(pair.network.counts(sender_side).registered, 0u);
    EXPECT_EQ(pair.network.counts(receiver_side).registered, 0u);
  }
}

TEST_P(AnyProtocol, many_messages_at_once_all_arrive_whatever_the_room) {
  constexpr std::size_t messages = 40;
  for (const AdapterKnobs& knobs :
       {plain, narrow, AdapterKnobs{.shuffled = true, .queue_depth = 3, .room = 2, .registrations = 5}}) {
    RdmaPair pair(knobs, RdmaPair::forced(GetParam()));
    std::vector<std::vector<std::byte>> sent;
    std::vector<std::vector<std::byte>> got;
    std::vector<Request*> requests;
    for (std::size_t i = 0; i < messages; ++i) {
      sent.push_back(pattern(i * 3001, static_cast<unsigned>(i)));
      got.emplace_back(sent.back().size());
    }
    for (std::size_t i = 0; i < messages; ++i) {
      const auto tag = static_cast<Tag>(i);
      if (i % 2 == 0) requests.push_back(pair.start_send(RdmaPair::contiguous(sent[i]), tag));
      requests.push_back(pair.start_receive(RdmaPair::contiguous(got[i]), zero, tag));
      if (i % 2 != 0) requests.push_back(pair.start_send(RdmaPair::contiguous(sent[i]), tag));
    }
    ASSERT_TRUE(pair.run(requests));
    for (std::size_t i = 0; i < messages; ++i) EXPECT_EQ(got[i], sent[i]) << i;
  }
}

// --- what is particular to one -----------------------------------------------------------------------------------------

TEST(Rdrp, never_has_more_reads_under_way_than_it_may) {
  for (const std::size_t max_reads : {1, 3, 8}) {
    Config config = RdmaPair::forced(Rendezvous::rdrp);
    config.rdrp_chunk = 8192;
    config.rdrp_outstanding = max_reads;
    RdmaPair pair(shuffled, config);
    auto sent = pattern(500'000);
    std::vector<std::byte> got(sent.size());
    pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
    EXPECT_EQ(got, sent);
    EXPECT_EQ(pair.network.counts(receiver_side).max_reads, max_reads);
  }
}

TEST(Rdrp, the_announcement_brings_the_first_bytes) {
  RdmaPair pair({.max_payload = 4096}, RdmaPair::forced(Rendezvous::rdrp));
  auto small = pattern(4000);
  std::vector<std::byte> got(small.size());
  pair.exchange(RdmaPair::contiguous(small), RdmaPair::contiguous(got));
  EXPECT_EQ(got, small);
  EXPECT_EQ(pair.network.counts(receiver_side).reads, 0u);
}

TEST(Get, is_done_before_the_adapter_notifies_anybody) {
  const AdapterKnobs late{.notification = 1'000'000};
  RdmaPair pair(late, RdmaPair::forced(Rendezvous::get));
  auto sent = pattern(50'000);
  std::vector<std::byte> got(sent.size());
  pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_EQ(got, sent);
  EXPECT_EQ(pair.network.counts(receiver_side).notifications, 0u);
  EXPECT_EQ(pair.network.counts(receiver_side).registered, 1u);  // until the adapter is done with it
  pair.run_out();
  EXPECT_EQ(pair.network.counts(receiver_side).registered, 0u);
}

TEST(Get, a_receive_buffer_that_holds_the_last_byte_already_waits_for_it_all_the_same) {
  RdmaPair pair(plain, RdmaPair::forced(Rendezvous::get));
  auto sent = pattern(50'000);
  std::vector<std::byte> got(sent.size(), sent.back());
  pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_EQ(got, sent);
}

TEST(Get, gives_way_to_getcqe_where_data_is_not_placed_in_order_or_the_last_byte_is_not_wanted) {
  auto sent = pattern(50'000);
  std::vector<std::byte> got(sent.size());
  RdmaPair disorderly(shuffled, RdmaPair::forced(Rendezvous::get));
  disorderly.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_EQ(taken(disorderly.receiver, Rendezvous::getcqe), 1u);
  RdmaPair truncating(plain, RdmaPair::forced(Rendezvous::get));
  truncating.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(std::span(got).first(40'000)));
  EXPECT_EQ(taken(truncating.receiver, Rendezvous::getcqe), 1u);
}

TEST(Automatic, reads_at_once_what_is_short_and_in_chunks_what_is_long) {
  Config config = RdmaPair::forced(Rendezvous::automatic);
  RdmaPair pair(plain, config);
  for (const std::size_t bytes : {2 * config.rdrp_chunk, 2 * config.rdrp_chunk + 1}) {
    auto sent = pattern(bytes);
    std::vector<std::byte> got(bytes);
    pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
    EXPECT_EQ(got, sent);
  }
  EXPECT_EQ(taken(pair.receiver, Rendezvous::getcqe), 1u);
  EXPECT_EQ(taken(pair.receiver, Rendezvous::rdrp), 1u);
}

// --- nobody waits ------------------------------------------------------------------------------------------------------

class Unattended : public testing::TestWithParam<Rendezvous> {};
INSTANTIATE_TEST_SUITE_P(Protocols, Unattended,
                         testing::Values(Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get, Rendezvous::rdrp),
                         [](const auto& instance) { return name_of(instance.param); });

/// Nobody is told of a last byte that has changed: data moves, and the next call finds it.
class UnattendedPut : public testing::TestWithParam<Rendezvous> {};
INSTANTIATE_TEST_SUITE_P(Protocols, UnattendedPut, testing::Values(Rendezvous::putnr, Rendezvous::put),
                         [](const auto& instance) { return name_of(instance.param); });

/// Two engines, each with its helper thread, and one message that is under way between them.
class Computing {
 public:
  explicit Computing(Rendezvous protocol)
      : sender_(parts(sender_side, protocol)),
        receiver_(parts(receiver_side, protocol)),
        from_(sender_.contexts().adopt(ContextId{1}, {sender_side, receiver_side}, zero)),
        to_(receiver_.contexts().adopt(ContextId{1}, {sender_side, receiver_side}, Rank{1})) {
    receive = receiver_.start_receive(*to_, zero, RdmaPair::tag, RdmaPair::contiguous(got), RdmaPair::here);
    send = sender_.start_send(*from_, Rank{1}, RdmaPair::tag, RdmaPair::contiguous(sent), SendMode::standard, RdmaPair::here);
  }
  ~Computing() {
    sender_.take(send);
    receiver_.take(receive);
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

  void call_receiver() { receiver_.progress(); }

  std::vector<std::byte> sent = pattern(700'000);
  std::vector<std::byte> got = std::vector<std::byte>(sent.size());
  Request* receive = nullptr;
  Request* send = nullptr;

 private:
  Engine::Parts parts(Peer self, Rendezvous protocol) {
    return one_of_two(self, network_.transport(self), RdmaPair::forced(protocol));
  }

  ModelAdapters network_{2, {.shuffled = false, .queue_depth = 2}};
  Engine sender_;
  Engine receiver_;
  Context* const from_;
  Context* const to_;
};

TEST_P(Unattended, a_message_is_through_while_both_sides_compute) {
  Computing pair(GetParam());
  while (!Engine::is_complete(*pair.receive) || !Engine::is_complete(*pair.send))
    std::this_thread::yield();  // no call into an engine
  EXPECT_EQ(pair.got, pair.sent);
}

TEST_P(UnattendedPut, a_message_is_in_place_while_both_sides_compute_and_the_next_call_finds_it) {
  Computing pair(GetParam());
  while (!Engine::is_complete(*pair.send)) std::this_thread::yield();  // no call into an engine
  EXPECT_EQ(pair.got, pair.sent);
  pair.call_receiver();
  EXPECT_TRUE(Engine::is_complete(*pair.receive));
}

class TwoThreads : public testing::TestWithParam<Rendezvous> {};
INSTANTIATE_TEST_SUITE_P(Protocols, TwoThreads,
                         testing::Values(Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get, Rendezvous::rdrp,
                                         Rendezvous::putnr, Rendezvous::put),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(TwoThreads, two_threads_and_an_adapter_that_goes_on_by_itself_lose_nothing) {
  constexpr int rounds = 60;
  ModelAdapters network(2, {.shuffled = true, .largest_transfer = 50'000, .queue_depth = 3, .room = 2});
  const auto work = [&](Peer self, Peer other) {
    Engine engine({.self = self,
                   .job_size = 2,
                   .processors = {.processes = 2, .processors = 2},
                   .transport = &network.transport(self),
                   .arena = nullptr,
                   .host = {},
                   .config = RdmaPair::forced(GetParam())});
    Context* const world = engine.contexts().adopt(ContextId{1}, {sender_side, receiver_side}, static_cast<Rank>(self));
    for (int round = 0; round < rounds; ++round) {
      const auto bytes = static_cast<std::size_t>(round) * 4001;
      auto sent = pattern(bytes, static_cast<unsigned>(round) + static_cast<unsigned>(self));
      std::vector<std::byte> got(bytes + 1);
      Request* const send = engine.start_send(*world, static_cast<Rank>(other), RdmaPair::tag, RdmaPair::contiguous(sent),
                                              SendMode::standard, RdmaPair::here);
      engine.receive(*world, static_cast<Rank>(other), RdmaPair::tag, got.data(), got.size(), RdmaPair::here);
      Request* const sends[] = {send};
      engine.wait_all(sends, RdmaPair::here);
      if (send) engine.take(send);
      got.pop_back();
      ASSERT_EQ(got, pattern(bytes, static_cast<unsigned>(round) + static_cast<unsigned>(other))) << round;
    }
    engine.drain();
  };
  std::thread second([&] { work(receiver_side, sender_side); });
  work(sender_side, receiver_side);
  second.join();
}

}  // namespace
}  // namespace sluice
