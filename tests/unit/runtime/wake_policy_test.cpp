#include "runtime/wake_policy.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace sluice {
namespace {

/// Facts that are simply said.
struct Facts {
  struct Node {
    bool spare_processor = false;
    bool oversubscribed = false;
  };

  bool held = false;
  CollectiveDuties duties = CollectiveDuties::none;
  bool windows = false;
  bool released = false;
  bool rtrs = false;
  bool shares = false;
  std::size_t large = 0;
  std::size_t open = 0;
  bool unsent = false;
  bool copies = false;
  bool short_copy = false;
  bool next_asleep = false;
  bool some_asleep = false;
  Node node{};

  [[nodiscard]] bool holds_back() const { return held; }
  [[nodiscard]] Awaited awaited() const { return {windows, duties}; }
  [[nodiscard]] bool has_released() const { return released; }
  [[nodiscard]] bool sends_rtrs() const { return rtrs; }
  [[nodiscard]] bool shares_copies() const { return shares; }
  [[nodiscard]] std::size_t large_receives() const { return large; }
  [[nodiscard]] std::size_t open_receives() const { return open; }
  [[nodiscard]] bool may_get_requests() const { return unsent; }
  [[nodiscard]] bool has_copies() const { return copies; }
  [[nodiscard]] bool next_copy_is_short() const { return short_copy; }
  [[nodiscard]] bool next_peer_is_asleep() const { return next_asleep; }
  [[nodiscard]] bool some_peer_is_asleep() const { return some_asleep; }
  [[nodiscard]] const Node& job() const { return node; }
};

TEST(WakePolicy, who_has_nothing_outstanding_is_woken_for_nothing) {
  EXPECT_EQ(needed_wake_mask(Facts{}, false), WakeMask::none);
  EXPECT_EQ(needed_wake_mask(Facts{.open = 3}, false), WakeMask::none) << "small messages wait for a call";
}

TEST(WakePolicy, during_a_host_call_peers_find_room_and_matches) {
  EXPECT_EQ(needed_wake_mask(Facts{}, true), WakeMask::room);
  EXPECT_EQ(needed_wake_mask(Facts{.open = 1}, true), WakeMask::receives);
}

TEST(WakePolicy, sends_wake_for_requests_and_large_receives_for_announcements) {
  EXPECT_EQ(needed_wake_mask(Facts{.unsent = true}, false), WakeMask::sends);
  EXPECT_EQ(needed_wake_mask(Facts{.large = 1, .unsent = true}, false), WakeMask::receives);
}

TEST(WakePolicy, what_opens_pages_or_ends_a_shared_copy_wakes_for_the_end_as_well) {
  EXPECT_EQ(needed_wake_mask(Facts{.released = true}, false), WakeMask::rendezvous);
  EXPECT_EQ(needed_wake_mask(Facts{.rtrs = true}, false), WakeMask::rendezvous);
  EXPECT_EQ(needed_wake_mask(Facts{.shares = true}, false), WakeMask::rendezvous);
}

TEST(WakePolicy, what_others_wait_for_in_a_collective_call_may_hang_on_any_message) {
  EXPECT_EQ(needed_wake_mask(Facts{.duties = CollectiveDuties::by_messages}, false), WakeMask::everything);
  EXPECT_EQ(needed_wake_mask(Facts{.duties = CollectiveDuties::by_messages}, true), WakeMask::everything);
}

TEST(WakePolicy, what_others_wait_for_in_lanes_hangs_on_lanes_too) {
  EXPECT_EQ(needed_wake_mask(Facts{.duties = CollectiveDuties::in_lanes}, false), WakeMask::everything | EventMask::lane);
  const Facts shared{.duties = CollectiveDuties::in_lanes, .node{.oversubscribed = true}};
  EXPECT_EQ(needed_wake_mask(shared, false), WakeMask::none);
  EXPECT_EQ(needed_wake_mask(shared, true), WakeMask::everything | EventMask::lane);
}

TEST(WakePolicy, origins_of_a_window_are_served_at_once_wherever_the_application_is) {
  EXPECT_EQ(needed_wake_mask(Facts{.windows = true}, false), WakeMask::everything);
  EXPECT_EQ(needed_wake_mask(Facts{.windows = true, .node = {.oversubscribed = true}}, false), WakeMask::everything);
}

TEST(WakePolicy, where_processors_are_shared_it_waits_for_a_call_unless_the_host_has_the_application) {
  const Facts shared{.duties = CollectiveDuties::by_messages, .node{.oversubscribed = true}};
  EXPECT_EQ(needed_wake_mask(shared, false), WakeMask::none);
  EXPECT_EQ(needed_wake_mask(shared, true), WakeMask::everything);
}

TEST(WakePolicy, what_is_held_back_waits_for_any_message) {
  EXPECT_EQ(needed_wake_mask(Facts{.held = true, .released = true}, false), WakeMask::everything);
}

TEST(WakePolicy, copies_are_left_to_the_next_call_where_nobody_sleeps_for_them) {
  EXPECT_EQ(copies_left(Facts{}), CopiesLeft::none);
  EXPECT_EQ(copies_left(Facts{.copies = true}), CopiesLeft::to_next_call);
  EXPECT_EQ(copies_left(Facts{.copies = true, .some_asleep = true}), CopiesLeft::to_helper);
  EXPECT_EQ(copies_left(Facts{.released = true, .copies = true}), CopiesLeft::to_helper);
  EXPECT_EQ(copies_left(Facts{.held = true, .copies = true}), CopiesLeft::to_helper);
}

TEST(WakePolicy, a_short_copy_for_a_peer_that_sleeps_is_made_before_leaving) {
  const Facts asleep{.copies = true, .short_copy = true, .next_asleep = true, .some_asleep = true};
  EXPECT_EQ(copies_left(asleep), CopiesLeft::made_first);
  EXPECT_EQ(copies_left(Facts{.copies = true, .next_asleep = true, .some_asleep = true}), CopiesLeft::to_helper);
  EXPECT_EQ(copies_left(Facts{.copies = true, .short_copy = true}), CopiesLeft::to_next_call);
}

TEST(WakePolicy, processors_decide_first) {
  const Facts spare{.copies = true, .short_copy = true, .next_asleep = true, .some_asleep = true, .node{.spare_processor = true}};
  EXPECT_EQ(copies_left(spare), CopiesLeft::to_helper);
  EXPECT_EQ(copies_left(Facts{.copies = true, .node{.oversubscribed = true}}), CopiesLeft::made_first);
}

}  // namespace
}  // namespace sluice
