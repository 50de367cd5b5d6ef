// What an engine keeps for a peer to whom nothing is sent, as there are as many of them as the job is large.

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include "tests/unit/support/engine_process.hpp"

namespace {

std::atomic<std::size_t> heap_bytes{0};

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (!memory) throw std::bad_alloc();
  heap_bytes += malloc_usable_size(memory);
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory) heap_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace sluice {
namespace {

/// In a job of so many; its network is counted out.
std::size_t bytes_of_engine(std::size_t size) {
  LoopbackNetwork network(size);
  const std::size_t before = heap_bytes;
  const auto process = std::make_unique<Process>(network, Peer{0}, size);
  return heap_bytes - before;
}

TEST(EngineMemoryTest, an_idle_peer_takes_some_hundred_bytes) {
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
