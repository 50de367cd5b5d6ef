// Members are objects over one memory; where one waits, the test lets others go on.
#include "runtime/window/shared_sync.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>

namespace sluice {
namespace {

using Members = SharedSync::Members;
using enum LockWord::Use;

class Member final : public SharedSync::Host {
 public:
  bool wait(WindowWait& wait, std::uint64_t limit_ns) override {
    for (int round = 0; !wait.is_there(); ++round) {
      waits += round == 0 ? 1 : 0;
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      if (!wait.is_there() && limit_ns != SharedSync::unlimited_ns) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void wake(std::size_t member) override { woken.push_back(member); }

  std::unique_ptr<SharedSync> sync;
  std::function<void()> meanwhile;  // once, in the next wait
  int waits = 0;
  std::vector<std::size_t> woken;
};

class SharedSyncs : public testing::Test {
 protected:
  static constexpr std::size_t size = 3;

  SharedSyncs() {
    std::vector<WindowControl> controls;
    for (auto& words : memory_) controls.emplace_back(words.bytes);
    for (std::size_t rank = 0; rank < size; ++rank)
      members[rank].sync = std::make_unique<SharedSync>(controls, rank, members[rank]);
  }
  SharedSync& of(std::size_t rank) { return *members[rank].sync; }

  std::array<Member, size> members;

 private:
  struct alignas(cache_line) Words {
    std::byte bytes[WindowControl::bytes(size)]{};
  };
  std::array<Words, size> memory_;
};

TEST_F(SharedSyncs, a_fence_waits_for_all) {
  members[0].meanwhile = [&] {
    members[1].meanwhile = [&] { EXPECT_TRUE(of(2).fence(true)); };
    EXPECT_TRUE(of(1).fence(true));
  };
  EXPECT_TRUE(of(0).fence(true));
  EXPECT_EQ(members[0].waits, 1);
  EXPECT_EQ(members[2].waits, 0);
  EXPECT_TRUE(of(0).epochs().may_access(2));
  EXPECT_GE(members[2].woken.size(), 2u);
}

TEST_F(SharedSyncs, fences_follow_each_other) {
  for (int number = 0; number < 5; ++number) {
    members[0].meanwhile = [&] {
      members[1].meanwhile = [&] { EXPECT_TRUE(of(2).fence(false)); };
      EXPECT_TRUE(of(1).fence(false));
    };
    EXPECT_TRUE(of(0).fence(false));
    EXPECT_EQ(members[0].waits, number + 1);
  }
}

TEST_F(SharedSyncs, a_start_waits_for_the_posts_of_its_targets) {
  members[0].meanwhile = [&] {
    EXPECT_TRUE(of(1).post({0}));
    EXPECT_EQ(members[1].woken, (Members{0}));
    EXPECT_TRUE(of(2).post({0}));
  };
  EXPECT_TRUE(of(0).start({1, 2}));
  EXPECT_EQ(members[0].waits, 1);
  EXPECT_TRUE(of(0).complete());
  EXPECT_TRUE(of(1).wait());
  EXPECT_TRUE(of(2).wait());
  EXPECT_EQ(members[1].waits + members[2].waits, 0);
}

TEST_F(SharedSyncs, a_post_serves_one_start) {
  EXPECT_TRUE(of(1).post({0}));
  EXPECT_TRUE(of(0).start({1}));
  EXPECT_TRUE(of(0).complete());
  EXPECT_TRUE(of(1).wait());
  members[0].meanwhile = [&] { EXPECT_TRUE(of(1).post({0})); };
  EXPECT_TRUE(of(0).start({1}));
  EXPECT_EQ(members[0].waits, 1);
}

TEST_F(SharedSyncs, an_exposure_lasts_until_all_its_origins_have_completed) {
  EXPECT_EQ(of(2).test(), std::nullopt);
  EXPECT_TRUE(of(2).post({0, 1}));
  EXPECT_TRUE(of(0).start({2}));
  EXPECT_TRUE(of(1).start({2}));
  EXPECT_EQ(of(2).test(), false);
  EXPECT_TRUE(of(0).complete());
  EXPECT_EQ(of(2).test(), false);
  EXPECT_TRUE(of(1).complete());
  EXPECT_EQ(of(2).test(), true);
  EXPECT_EQ(of(2).test(), std::nullopt);
}

TEST_F(SharedSyncs, a_lock_waits_for_its_target_only) {
  EXPECT_TRUE(of(0).lock(2, {exclusive, true}));
  EXPECT_TRUE(of(1).lock(1, {exclusive, true}));
  members[1].meanwhile = [&] { EXPECT_TRUE(of(0).unlock(2)); };
  EXPECT_TRUE(of(1).lock(2, {exclusive, true}));
  EXPECT_EQ(members[1].waits, 1);
  EXPECT_FALSE(members[0].woken.empty());
}

TEST_F(SharedSyncs, a_lock_that_is_not_checked_waits_for_nobody_and_leaves_nothing) {
  EXPECT_TRUE(of(0).lock(2, {exclusive, true}));
  EXPECT_TRUE(of(1).lock(2, {exclusive, false}));
  EXPECT_TRUE(of(1).unlock(2));
  EXPECT_TRUE(of(0).unlock(2));
  EXPECT_TRUE(of(1).lock(2, {exclusive, true}));
  EXPECT_EQ(members[0].waits + members[1].waits, 0);
}

TEST_F(SharedSyncs, a_reader_waits_no_longer_than_its_turn_for_a_writer_that_waits) {
  EXPECT_TRUE(of(0).lock(2, {shared, true}));
  members[1].meanwhile = [&] {  // the writer waits now
    EXPECT_TRUE(of(2).lock(2, {shared, true}));
    EXPECT_EQ(members[2].waits, 1);
    EXPECT_TRUE(of(2).unlock(2));
    EXPECT_TRUE(of(0).unlock(2));
  };
  EXPECT_TRUE(of(1).lock(2, {exclusive, true}));
}

TEST_F(SharedSyncs, locks_of_all_are_shared) {
  EXPECT_TRUE(of(0).lock_all(true));
  EXPECT_TRUE(of(1).lock_all(true));
  members[2].meanwhile = [&] {
    EXPECT_TRUE(of(0).unlock_all());
    EXPECT_TRUE(of(1).unlock_all());
  };
  EXPECT_TRUE(of(2).lock(1, {exclusive, true}));
  EXPECT_EQ(members[2].waits, 1);
}

TEST_F(SharedSyncs, calls_that_do_not_go_with_the_epochs_change_nothing) {
  EXPECT_FALSE(of(0).complete() || of(0).wait() || of(0).unlock(1) || of(0).unlock_all());
  EXPECT_TRUE(of(0).lock(1, {shared, true}));
  EXPECT_FALSE(of(0).lock(1, {shared, true}) || of(0).lock_all(true) || of(0).start({1}) || of(0).fence(true));
  EXPECT_TRUE(of(0).unlock(1));
  EXPECT_TRUE(of(1).lock(1, {exclusive, true}));
  EXPECT_EQ(members[1].waits, 0);
}

TEST_F(SharedSyncs, accumulates_to_one_target_exclude_each_other) {
  std::vector<std::thread> threads;
  int sum = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      for (int i = 0; i < 2000; ++i) {
        const SharedSync::Accumulating lock(of(rank), 1);
        ++sum;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, 6000);
}

}  // namespace
}  // namespace sluice
