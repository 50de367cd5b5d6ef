#include "runtime/process/private_heap.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace sluice {
namespace {

struct Piece {
  unsigned char* start;
  std::size_t bytes;
};

/// Sizes around every border: classes, chunks and own mappings.
std::vector<std::size_t> interesting_sizes() {
  std::vector<std::size_t> sizes{0, 1, 15, 16, 17};
  for (std::size_t power = 32; power <= (std::size_t{4} << 20); power *= 2) {
    for (const std::size_t size : {power - 1, power, power + 1, power + power / 4}) sizes.push_back(size);
  }
  return sizes;
}

Piece allocate_filled(std::size_t bytes, unsigned char value) {
  auto* const start = static_cast<unsigned char*>(private_allocate(bytes));
  std::memset(start, value, bytes);
  return {start, bytes};
}

bool holds_only(const Piece& piece, unsigned char value) {
  return std::all_of(piece.start, piece.start + piece.bytes, [value](unsigned char byte) { return byte == value; });
}

TEST(private_heap, pieces_of_every_size_are_aligned_and_do_not_overlap) {
  std::vector<Piece> pieces;
  unsigned char value = 0;
  for (const std::size_t size : interesting_sizes()) pieces.push_back(allocate_filled(size, ++value));

  value = 0;
  for (const Piece& piece : pieces) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.start) % 16, 0U) << piece.bytes;
    EXPECT_TRUE(holds_only(piece, ++value)) << piece.bytes;
  }
  for (const Piece& piece : pieces) private_free(piece.start);
}

TEST(private_heap, freed_piece_is_used_again_for_its_size_class) {
  void* const first = private_allocate(100);
  private_free(first);

  void* const second = private_allocate(105);

  EXPECT_EQ(second, first);
  private_free(second);
}

TEST(private_heap, freeing_nothing_does_nothing) { private_free(nullptr); }

TEST(private_heap, size_that_no_address_space_holds_gives_nullptr) {
  EXPECT_EQ(private_allocate(std::numeric_limits<std::size_t>::max()), nullptr);
  EXPECT_EQ(private_allocate(std::numeric_limits<std::size_t>::max() / 2), nullptr);
}

TEST(private_heap, large_piece_is_given_back_to_the_system) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  std::vector<std::uintptr_t> addresses;

  for (int round = 0; round < 10; ++round) {
    void* const piece = private_allocate(bytes);
    addresses.push_back(reinterpret_cast<std::uintptr_t>(piece));
    private_free(piece);
  }

  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  EXPECT_LT(addresses.size(), 10U);
}

/// Frees what another thread allocated and the other way round, with contents that say whose it is.
void exchange_pieces(std::atomic<unsigned char*>& place, unsigned seed, int rounds, std::atomic<int>& damaged) {
  constexpr std::size_t header = sizeof(std::uint32_t);
  for (int round = 0; round < rounds; ++round) {
    seed = seed * 1664525U + 1013904223U;
    const std::uint32_t bytes = header + (seed >> 16) % 300;
    auto* const mine = static_cast<unsigned char*>(private_allocate(bytes));
    std::memcpy(mine, &bytes, header);
    std::memset(mine + header, static_cast<int>(bytes & 0xffU), bytes - header);

    unsigned char* const other = place.exchange(mine);
    if (!other) continue;
    std::uint32_t found = 0;
    std::memcpy(&found, other, header);
    if (!holds_only({other + header, found - header}, static_cast<unsigned char>(found & 0xffU))) ++damaged;
    private_free(other);
  }
}

TEST(private_heap, threads_never_share_a_piece) {
  constexpr int threads = 4;
  constexpr int rounds = 20000;
  std::atomic<unsigned char*> place{nullptr};
  std::atomic<int> damaged{0};
  std::vector<std::thread> workers;

  for (unsigned seed = 1; seed <= threads; ++seed) {
    workers.emplace_back([&, seed] { exchange_pieces(place, seed, rounds, damaged); });
  }
  for (std::thread& worker : workers) worker.join();

  EXPECT_EQ(damaged, 0);
  private_free(place.load());
}

/// In the child: exits with 0 when the heap works there.
[[noreturn]] void allocate_and_exit() {
  for (int round = 0; round < 1000; ++round) {
    const Piece piece = allocate_filled(200, 7);
    if (!holds_only(piece, 7)) ::_exit(1);
  }
  ::_exit(0);
}

TEST(private_heap, child_allocates_after_a_fork_in_the_middle_of_other_threads_allocations) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop.load()) private_free(private_allocate(200));
  });

  int failures = 0;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) allocate_and_exit();
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) ++failures;
  }
  stop = true;
  busy.join();

  EXPECT_EQ(failures, 0);
}

/// In the child: exits with 0 when the heap says that there is no memory instead of crashing.
[[noreturn]] void exhaust_and_exit() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_AS, &none);
  for (int blocks = 0; blocks < 100000; ++blocks) {
    if (!private_allocate(60000)) ::_exit(private_allocate(std::size_t{1} << 20) == nullptr ? 0 : 2);
  }
  ::_exit(1);
}

TEST(private_heap, exhausted_system_gives_nullptr) {
  const pid_t child = ::fork();
  if (child == 0) exhaust_and_exit();
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sluice
