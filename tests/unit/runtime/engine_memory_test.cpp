// What an engine keeps for a peer to whom nothing is sent, as there are as many of them as the job is large.

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstddef>
#include <memory>

#include "tests/unit/support/engine_process.hpp"
#include "tests/unit/support/patterned_memory.hpp"

namespace sluice {
namespace {

std::size_t heap_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

/// In a job of so many; its network is counted out.
std::size_t bytes_of_engine(std::size_t size) {
  LoopbackNetwork network(size);
  const std::size_t before = heap_bytes();
  const auto process = std::make_unique<Process>(network, Peer{0}, size);
  return heap_bytes() - before;
}

TEST(EngineMemoryTest, an_idle_peer_takes_some_hundred_bytes) {
  if (!allocator_is_glibc) GTEST_SKIP() << "the sanitizer brings its own malloc";
  constexpr std::size_t few = 8;
  constexpr std::size_t many = 136;
  bytes_of_engine(few);  // makes what is made once
  const std::size_t of_few = bytes_of_engine(few);
  const std::size_t of_many = bytes_of_engine(many);
  const std::size_t of_a_peer = (of_many - of_few) / (many - few);
  RecordProperty("bytes_of_a_peer", static_cast<int>(of_a_peer));
  EXPECT_LE(of_a_peer, 512u);
}

}  // namespace
}  // namespace sluice
