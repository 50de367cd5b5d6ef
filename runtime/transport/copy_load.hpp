// Copies of messages that processes of a node have given each other.
#pragma once

#include <cstdint>

namespace sluice {

/// What one process has to copy, as all processes of the node see it.
struct CopyLoad {
  std::uint64_t expected = 0;  // bytes of copies that it has been given and not ended
  std::uint64_t made = 0;      // bytes that it has copied so far
};

}  // namespace sluice
