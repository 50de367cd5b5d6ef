// When blocked operations are released, all or none, and what becomes of them: with a real guard and real blocks, and fakes of
// the ways in which messages travel.

#include "runtime/release/releases.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <thread>

#include "runtime/engine/matching.hpp"
#include "tests/unit/support/guarded_block.hpp"
#include "tests/unit/support/quiet_transport.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

constexpr CallSite here{1};
constexpr std::uint64_t long_wait = 1'000'000'000;

struct NoSink final : Causality::Sink {
  void send_held(Request&) override {}
  void begin_held(Request&) override {}
  void acknowledge_held(Peer, std::uint64_t, std::uint32_t) override {}
};

struct Alone final : AliasBlocks::Others {
  [[nodiscard]] bool holds_writers_up() const override { return PageGuard::holds_writers_up(); }
  [[nodiscard]] bool guards(ByteRange) const override { return false; }
  [[nodiscard]] bool pins(PageRange) const override { return false; }
  [[nodiscard]] bool are_written_by_peers(PageRange) const override { return false; }
  [[nodiscard]] bool may_reach_memory() const override { return false; }
  void hold_signals() override {}
  void tell_trace() override {}
};

struct FakeWays final : Releases::Ways {
  void look_at_sentinels(Request&) override { ++looks; }
  [[nodiscard]] std::size_t missing_bytes(const Request&) const override { return missing; }
  [[nodiscard]] bool can_read_from(const Request&) const override { return false; }
  void withdraw(Request& receive) override { withdrawn = &receive; }

  std::size_t missing = std::size_t{1} << 30;  // worth a release, whatever that costs here
  int looks = 0;
  Request* withdrawn = nullptr;
};

bool host_is_busy = false;
bool memory_is_shared = false;

class ReleasesTest : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer has a thread that blocks SIGSEGV, so nothing is released";
#endif
    host_is_busy = memory_is_shared = false;
    transport_.writes = true;
    world_.become({Peer{0}, Peer{1}}, Rank{1});
    releases_.begin(waiter_);
  }
  static EngineParts parts(Transport& transport, AliasArena& arena) {
    EngineParts made = one_of_two(Peer{1}, transport, {}, &arena);
    made.config.send_release = true;
    made.host.outstanding = [] { return host_is_busy; };
    made.host.shares_memory = [] { return memory_is_shared; };
    return made;
  }
  /// Posted, and waited for; its message is not known.
  void await(Request& receive, ByteRange bytes) {
    receive.kind = Request::Kind::receive;
    receive.context = &world_;
    receive.rank = Rank{0};
    receive.tag = Tag{3};
    receive.data = reinterpret_cast<std::byte*>(bytes.begin);
    receive.bytes = bytes.size();
  }
  static void match_by_write(Request& receive) {
    receive.matched = true;
    receive.way = Request::Way::write;
    receive.limit = receive.stop = receive.bytes;
  }
  void await_send(Request& send, ByteRange bytes, bool offered) {
    await(send, bytes);
    send.kind = Request::Kind::send;
    send.offered = offered;
  }
  bool try_release(std::initializer_list<Request*> requests, std::uint64_t waited_ns = long_wait) {
    Lock lock(mutex_);
    return releases_.try_release(lock, {requests.begin(), requests.size()}, here, waited_ns);
  }
  void complete(Request& request) {
    request.offset = request.bytes;
    causality_.ended(request);
  }
  [[nodiscard]] std::uint64_t count(Fallback reason) const { return statistics_.fallbacks[static_cast<std::size_t>(reason)]; }

  QuietTransport transport_;
  AliasArena arena_{10000};
  Waiter waiter_;
  EngineLock mutex_;
  EngineStatistics statistics_;
  Job job_{parts(transport_, arena_)};
  Alone alone_;
  AliasBlocks blocks_{&arena_, alone_};
  NoSink sink_;
  Causality causality_{sink_};
  FakeWays ways_;
  std::size_t busy_copies_ = 0;
  std::size_t open_rtrs_ = 0;
  std::uint64_t operations_ = 7;
  Context world_{ContextId{1}};
  Releases releases_{job_, blocks_, causality_, ways_, {busy_copies_, open_rtrs_, operations_}, statistics_};
  Request first_;
  Request second_;
};

TEST_F(ReleasesTest, a_receive_returns_before_its_message_is_known) {
  const Block block(arena_, 64);
  await(first_, block.range());
  ASSERT_TRUE(try_release({&first_}));
  EXPECT_TRUE(first_.may_return());
  EXPECT_TRUE(first_.unknown);
  EXPECT_EQ(first_.release_mark, operations_);
  EXPECT_TRUE(causality_.must_hold(operations_ + 1));
  EXPECT_FALSE(accessible(block.page(0)));
  EXPECT_TRUE(Releases::this_thread_released());
  EXPECT_EQ(statistics_.released_unmatched, 1u);

  EXPECT_EQ(releases_.lazy_counts().find(first_.lazy_token), std::nullopt);
  first_.limit = 1234;
  causality_.matched(first_);
  EXPECT_EQ(releases_.lazy_counts().find(first_.lazy_token), 1234u);
  EXPECT_FALSE(causality_.must_hold(operations_ + 1));

  complete(first_);
  EXPECT_TRUE(accessible(block.page(0)));
  EXPECT_TRUE(causality_.released().empty());
  EXPECT_EQ(releases_.policy().reports().size(), 1u);
}

TEST_F(ReleasesTest, pages_open_as_their_data_comes) {
  const Block block(arena_, 64);
  await(first_, block.range());
  match_by_write(first_);
  first_.progress_slot = 0;
  ASSERT_TRUE(try_release({&first_}));
  EXPECT_FALSE(first_.unknown);
  EXPECT_EQ(statistics_.released_unmatched, 0u);
  transport_.in_place = 10 * page_bytes;
  releases_.advance();
  EXPECT_TRUE(accessible(block.page(9)));
  EXPECT_FALSE(accessible(block.page(10)));
  EXPECT_GT(ways_.looks, 1);
  complete(first_);
}

TEST_F(ReleasesTest, what_its_sender_writes_to_by_address_stays_open) {
  const Block block(arena_, 64);
  await(first_, block.range());
  match_by_write(first_);
  first_.shared.by_address = true;
  EXPECT_FALSE(try_release({&first_}));
  EXPECT_EQ(count(Fallback::other_copy), 1u);
}

TEST_F(ReleasesTest, memory_becomes_a_block_when_the_wait_has_lasted_as_long_as_that_takes) {
  constexpr std::size_t pages = 64;
  void* const start = mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(start, 1, pages * page_bytes);
  const ByteRange bytes = ByteRange::of(start, pages * page_bytes);
  await(first_, bytes);
  const std::uint64_t cost = releases_.policy().cost_ns(0);
  if (!outlasts_migration(cost, pages)) {
    EXPECT_FALSE(try_release({&first_}, cost));
    EXPECT_EQ(count(Fallback::not_worth), 1u);
    EXPECT_FALSE(blocks_.is_live(bytes));
  }
  EXPECT_TRUE(try_release({&first_}));
  EXPECT_TRUE(blocks_.is_live(bytes));
  complete(first_);
  munmap(start, pages * page_bytes);
}

TEST_F(ReleasesTest, all_that_are_open_are_released_or_none) {
  const Block block(arena_, 64);
  await(first_, block.pages(0, 32));
  await(second_, block.pages(32, 64));
  second_.tag = any_tag;
  EXPECT_FALSE(try_release({&first_, nullptr, &second_}));
  EXPECT_FALSE(first_.released);
  EXPECT_EQ(count(Fallback::wildcard_unmatched), 1u);
  second_.tag = Tag{4};
  EXPECT_TRUE(try_release({&first_, nullptr, &second_}));
  EXPECT_TRUE(first_.released && second_.released);
  complete(first_);
  complete(second_);
  EXPECT_EQ(releases_.policy().reports().front().calls, 1u) << "one call, whatever it released";
}

TEST_F(ReleasesTest, those_that_are_done_keep_nobody_from_a_release) {
  const Block block(arena_, 64);
  await(first_, block.range());
  await(second_, block.pages(0, 1));
  second_.complete = true;
  EXPECT_TRUE(try_release({&second_, &first_}));
  complete(first_);
}

TEST_F(ReleasesTest, many_wait_for_as_long_as_each_of_them_costs) {
  const Block block(arena_, 64);
  await(first_, block.pages(0, 32));
  await(second_, block.pages(32, 64));
  const std::uint64_t cost = releases_.policy().cost_ns(0);
  EXPECT_FALSE(try_release({&first_, &second_}, 2 * cost - 1));
  EXPECT_EQ(ways_.looks, 0) << "nothing was looked at";
}

TEST_F(ReleasesTest, nothing_is_released_while_the_host_has_work) {
  const Block block(arena_, 64);
  await(first_, block.range());
  host_is_busy = true;
  EXPECT_FALSE(try_release({&first_}));
  EXPECT_EQ(count(Fallback::host_outstanding), 1u);
}

TEST_F(ReleasesTest, only_what_is_matched_is_released_while_peers_see_what_is_stored) {
  const Block block(arena_, 64);
  await(first_, block.range());
  memory_is_shared = true;
  EXPECT_FALSE(try_release({&first_}));
  EXPECT_EQ(count(Fallback::shared_window), 1u);
  match_by_write(first_);
  EXPECT_TRUE(try_release({&first_}));
  complete(first_);
}

TEST_F(ReleasesTest, a_receive_that_was_announced_is_asked_back_after_a_while) {
  const Block block(arena_, 64);
  await(first_, block.range());
  first_.rtr_open = true;
  open_rtrs_ = 1;
  const std::uint64_t limit = job_.config.rtr_wait * std::uint64_t{1000};
  EXPECT_FALSE(try_release({&first_}, limit - 1));
  EXPECT_EQ(ways_.withdrawn, nullptr);
  EXPECT_FALSE(try_release({&first_}, limit));
  EXPECT_EQ(ways_.withdrawn, &first_);
  EXPECT_EQ(count(Fallback::rtr_open), 2u);
}

TEST_F(ReleasesTest, a_copy_comes_to_the_end_of_its_chunk_first) {
  const Block block(arena_, 64);
  await(first_, block.range());
  busy_copies_ = 1;
  bool ended_first = false;
  std::thread copying([&] {
    const Lock lock(mutex_);
    ended_first = !first_.released;
    busy_copies_ = 0;
  });
  EXPECT_TRUE(try_release({&first_}));
  copying.join();
  EXPECT_TRUE(ended_first);
  complete(first_);
}

TEST_F(ReleasesTest, a_send_returns_before_its_receiver_has_come) {
  const Block block(arena_, 64);
  await_send(first_, block.range(), true);
  ASSERT_TRUE(try_release({&first_}));
  EXPECT_EQ(first_.source(), arena_.alias(block.range().begin));
  EXPECT_FALSE(causality_.must_hold(operations_ + 1)) << "a send holds nothing back";
  EXPECT_EQ(statistics_.sends_released, 1u);
  complete(first_);
  EXPECT_TRUE(accessible(block.page(0)));
}

TEST_F(ReleasesTest, a_send_that_was_not_offered_gets_its_block_with_the_next_one) {
  constexpr std::size_t pages = 64;
  void* const start = mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(start, 1, pages * page_bytes);
  const ByteRange bytes = ByteRange::of(start, pages * page_bytes);
  await_send(first_, bytes, false);
  EXPECT_FALSE(try_release({&first_}));
  EXPECT_EQ(count(Fallback::send_not_offered), 1u);
  EXPECT_TRUE(blocks_.use(bytes));
  munmap(start, pages * page_bytes);
}

}  // namespace
}  // namespace sluice
