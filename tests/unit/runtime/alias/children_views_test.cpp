#include "runtime/alias/children_views.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr PageRange shown{100, 200};

PageSet pages(PageRange range) {
  PageSet set;
  set.add(range);
  return set;
}

/// A child that ends when it is killed.
pid_t make_child(ChildrenViews& views) {
  const pid_t child = fork();
  if (child == 0) {
    for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);  // as a daemon does
    pause();
    _exit(0);
  }
  views.child_is_made();
  return child;
}

void end(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(ChildrenViewsTest, pages_are_shown_until_the_child_ends) {
  ChildrenViews views;
  views.expect_child(pages(shown));
  const pid_t child = make_child(views);
  views.look();
  EXPECT_TRUE(views.overlap({150, 151}));
  EXPECT_FALSE(views.overlap({200, 300}));
  end(child);
  views.look();
  EXPECT_FALSE(views.any());
}

TEST(ChildrenViewsTest, each_child_counts) {
  ChildrenViews views;
  views.expect_child(pages(shown));
  const pid_t first = make_child(views);
  views.expect_child(pages(shown));
  const pid_t second = make_child(views);
  views.expect_child(pages({300, 400}));
  const pid_t other = make_child(views);
  end(first);
  views.look();
  EXPECT_TRUE(views.overlap(shown));
  end(second);
  views.look();
  EXPECT_FALSE(views.overlap(shown));
  EXPECT_TRUE(views.overlap({300, 301}));
  end(other);
}

TEST(ChildrenViewsTest, so_does_a_child_of_a_child) {
  ChildrenViews views;
  views.expect_child(pages(shown));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) pause();
    write(ends[1], &grandchild, sizeof grandchild);
    _exit(0);
  }
  views.child_is_made();
  pid_t grandchild = 0;
  ASSERT_EQ(read(ends[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  waitpid(child, nullptr, 0);
  views.look();
  EXPECT_TRUE(views.overlap(shown));
  kill(grandchild, SIGKILL);
  for (int wait = 0; wait < 10000 && views.any(); ++wait) {
    usleep(1000);
    views.look();
  }
  EXPECT_FALSE(views.any());
  close(ends[0]);
  close(ends[1]);
}

TEST(ChildrenViewsTest, a_fork_that_fails_leaves_nothing_behind) {
  ChildrenViews views;
  views.expect_child(pages(shown));
  views.child_is_made();
  views.look();
  EXPECT_FALSE(views.any());
}

}  // namespace
}  // namespace sluice
