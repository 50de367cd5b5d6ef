// An arena with room for everything, and what its file occupies.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>

#include "runtime/alias/arena.hpp"

namespace sluice {

inline constexpr std::size_t plenty_of_mappings = 10000;

/// Bytes of memory that the file occupies.
inline std::size_t occupied(const AliasArena& arena) {
  struct stat file {};
  fstat(arena.descriptor(), &file);
  return static_cast<std::size_t>(file.st_blocks) * 512;
}

class AliasArenaTest : public testing::Test {
 protected:
  AliasArena arena_{plenty_of_mappings};
};

}  // namespace sluice
