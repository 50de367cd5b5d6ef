#include "runtime/window/epochs.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Members = WindowEpochs::Members;
using enum LockWord::Use;

TEST(WindowEpochs, nothing_may_be_accessed_at_first) {
  const WindowEpochs epochs(2);
  EXPECT_FALSE(epochs.may_access(0));
  EXPECT_FALSE(epochs.may_access(1));
}

TEST(WindowEpochs, a_fence_opens_all_until_one_that_nothing_follows) {
  WindowEpochs epochs(2);
  epochs.fence(true);
  EXPECT_TRUE(epochs.may_access(0) && epochs.may_access(1));
  epochs.fence(false);
  EXPECT_FALSE(epochs.may_access(0) || epochs.may_access(1));
  EXPECT_EQ(epochs.next_fence(), 1u);
  EXPECT_EQ(epochs.next_fence(), 2u);
}

TEST(WindowEpochs, a_lock_opens_its_target_only_and_ends_the_epoch_of_a_fence) {
  WindowEpochs epochs(3);
  epochs.fence(true);
  ASSERT_TRUE(epochs.may_lock(1));
  epochs.lock(1, {exclusive, true});
  EXPECT_TRUE(epochs.may_access(1));
  EXPECT_FALSE(epochs.may_access(0));
  EXPECT_FALSE(epochs.may_lock(1));
  EXPECT_FALSE(epochs.may_fence());
  EXPECT_FALSE(epochs.may_lock_all());
  EXPECT_FALSE(epochs.start({0}));
  EXPECT_FALSE(epochs.lock_of(0));
  EXPECT_EQ(epochs.lock_of(1)->use, exclusive);
  epochs.unlock(1);
  EXPECT_FALSE(epochs.may_access(1));
  EXPECT_TRUE(epochs.may_fence());
}

TEST(WindowEpochs, a_lock_is_remembered_as_it_was_taken) {
  WindowEpochs epochs(4);
  const WindowEpochs::Lock locks[] = {{shared, true}, {exclusive, true}, {shared, false}, {exclusive, false}};
  for (std::size_t target = 0; target < 4; ++target) epochs.lock(target, locks[target]);
  for (std::size_t target = 0; target < 4; ++target) {
    EXPECT_EQ(epochs.lock_of(target)->use, locks[target].use);
    EXPECT_EQ(epochs.lock_of(target)->is_taken, locks[target].is_taken);
    EXPECT_TRUE(epochs.is_locked(target));
  }
}

TEST(WindowEpochs, a_lock_of_all_is_none_of_each) {
  WindowEpochs epochs(2);
  EXPECT_FALSE(epochs.lock_of_all());
  EXPECT_FALSE(epochs.is_any_locked());
  ASSERT_TRUE(epochs.may_lock_all());
  epochs.lock_all(true);
  EXPECT_TRUE(epochs.may_access(0) && epochs.may_access(1) && epochs.is_any_locked());
  EXPECT_FALSE(epochs.lock_of(0));
  EXPECT_FALSE(epochs.may_lock(0));
  EXPECT_TRUE(epochs.lock_of_all()->is_taken);
  epochs.unlock_all();
  EXPECT_FALSE(epochs.may_access(0) || epochs.lock_of_all() || epochs.is_any_locked());
}

TEST(WindowEpochs, exposures_and_accesses_are_counted_by_member) {
  WindowEpochs epochs(3);
  ASSERT_TRUE(epochs.post({0, 2}));
  EXPECT_FALSE(epochs.post({1}));
  EXPECT_EQ(epochs.posts_to(1), 0u);
  EXPECT_EQ(epochs.origins(), (Members{0, 2}));
  epochs.end_exposure();
  ASSERT_TRUE(epochs.post({2}));
  EXPECT_EQ(epochs.posts_to(0), 1u);
  EXPECT_EQ(epochs.posts_to(2), 2u);
  ASSERT_TRUE(epochs.start({1}));  // beside the exposure
  EXPECT_TRUE(epochs.may_access(1));
  EXPECT_FALSE(epochs.may_access(0));
  EXPECT_FALSE(epochs.is_locked(1));
  EXPECT_FALSE(epochs.start({0}));
  EXPECT_EQ(epochs.starts_for(1), 1u);
  EXPECT_EQ(epochs.starts_for(0), 0u);
  EXPECT_FALSE(epochs.may_lock(0));
  epochs.end_access();
  EXPECT_FALSE(epochs.may_access(1) || epochs.is_started());
}

TEST(WindowEpochs, groups_may_be_empty) {
  WindowEpochs epochs(2);
  EXPECT_TRUE(epochs.post({}));
  EXPECT_TRUE(epochs.start({}));
  EXPECT_TRUE(epochs.is_posted() && epochs.is_started());
  EXPECT_FALSE(epochs.may_fence());
  epochs.end_access();
  epochs.end_exposure();
  EXPECT_TRUE(epochs.may_fence());
}

}  // namespace
}  // namespace sluice
