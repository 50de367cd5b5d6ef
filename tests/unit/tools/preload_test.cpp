#include "tools/preload.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(preload, library_stands_alone_where_nothing_was_preloaded) {
  EXPECT_EQ(with_preload("", "/lib/libsluice.so"), "/lib/libsluice.so");
}

TEST(preload, library_stands_behind_other_tools) {
  EXPECT_EQ(with_preload("tool.so:/opt/other.so", "/lib/libsluice.so"), "tool.so:/opt/other.so:/lib/libsluice.so");
}

TEST(preload, library_that_is_listed_already_stays_where_it_is) {
  EXPECT_EQ(with_preload("/lib/libsluice.so:tool.so", "/lib/libsluice.so"), "/lib/libsluice.so:tool.so");
  EXPECT_EQ(with_preload("tool.so /lib/libsluice.so", "/lib/libsluice.so"), "tool.so /lib/libsluice.so");
}

TEST(preload, library_whose_name_begins_like_a_listed_one_is_added) {
  EXPECT_EQ(with_preload("/lib/libsluice.so.old", "/lib/libsluice.so"), "/lib/libsluice.so.old:/lib/libsluice.so");
}

TEST(preload, installed_library_is_found_relative_to_the_command) {
  const auto candidates = library_candidates("/moved/bin", "/usr/local/bin", "/usr/local/lib/x86_64-linux-gnu");

  EXPECT_EQ(candidates.front(), "/moved/lib/x86_64-linux-gnu/libsluice.so");
}

TEST(preload, library_is_found_in_the_build_tree) {
  const auto candidates = library_candidates("/src/build/tools", "/usr/local/bin", "/usr/local/lib");

  EXPECT_EQ(candidates.back(), "/src/build/interpose/libsluice.so");
}

}  // namespace
}  // namespace sluice
