#include "runtime/alias/arena.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/alias/held_pages.hpp"
#include "runtime/alias/huge_pages.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/process/process_maps.hpp"
#include "tests/unit/support/arena_fixture.hpp"
#include "tests/unit/support/patterned_memory.hpp"

namespace sluice {
namespace {

constexpr std::size_t large = std::size_t{64} << 20;

TEST_F(AliasArenaTest, migration_keeps_the_contents) {
  const Memory memory(40);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_TRUE(memory.intact());
  EXPECT_TRUE(arena_.is_live(memory.range()));
}

TEST_F(AliasArenaTest, what_is_written_through_the_alias_is_seen_at_the_application_address) {
  const Memory memory(4);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  std::memset(arena_.alias(memory.range().begin + 100), 0x5a, 2 * page_bytes);
  EXPECT_EQ(memory.start()[100], std::byte{0x5a});
  EXPECT_EQ(memory.start()[100 + 2 * page_bytes - 1], std::byte{0x5a});
}

TEST_F(AliasArenaTest, nothing_is_live_before_it_was_migrated) {
  const Memory memory(4);
  EXPECT_FALSE(arena_.is_live(memory.range()));
}

TEST_F(AliasArenaTest, a_range_that_is_partly_a_block_is_completed) {
  const Memory memory(30);
  const std::uintptr_t start = memory.range().begin;
  ASSERT_EQ(arena_.migrate({start + 10 * page_bytes, start + 20 * page_bytes}), Ineligible::none);
  memory.start()[15 * page_bytes] = std::byte{1};
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_TRUE(arena_.is_live(memory.range()));
  EXPECT_EQ(memory.start()[15 * page_bytes], std::byte{1});
  EXPECT_EQ(arena_.statistics().bytes_migrated, memory.size());
  EXPECT_EQ(arena_.statistics().live_blocks, 1u);
}

TEST_F(AliasArenaTest, static_and_heap_memory_migrate) {
  // On pages of their own: the test program's own statics must stay writable while these move.
  alignas(page_bytes) static std::array<std::byte, 4 * page_bytes> zeroes;
  alignas(page_bytes) static std::array<int, 4 * page_bytes> initialised{1, 2, 3};
  std::vector<std::byte> heap(16 * page_bytes, std::byte{9});
  EXPECT_EQ(arena_.migrate(ByteRange::of(zeroes.data(), zeroes.size())), Ineligible::none);
  EXPECT_EQ(arena_.migrate(ByteRange::of(initialised.data(), sizeof initialised)), Ineligible::none);
  EXPECT_EQ(arena_.migrate(ByteRange::of(heap.data() + page_bytes, heap.size() - 2 * page_bytes)), Ineligible::none);
  EXPECT_EQ(initialised[2], 3);
  EXPECT_EQ(heap.back(), std::byte{9});
}

/// Adds one to every page's counter. Not for thread sanitizers: they take the mmap of a migration for a write.
[[gnu::no_sanitize_thread]] void count_up(std::byte* start, std::size_t pages, std::size_t counter) {
  for (std::size_t page = 0; page < pages; ++page) {
    auto* counters = reinterpret_cast<volatile std::uint64_t*>(start + page * page_bytes);
    counters[counter] = counters[counter] + 1;
  }
}

TEST_F(AliasArenaTest, concurrent_writers_lose_nothing) {
  // The writers fault while their pages move and must be held up by the handler.
  struct Nobody final : FaultWaiter {
    void wait_a_little(unsigned) override {}
  } nobody;
  const PageGuard guard(nobody);
  constexpr std::size_t pages = 512;
  for (int round = 0; round < 10; ++round) {
    const Memory memory(pages);
    std::memset(memory.start(), 0, memory.size());
    std::atomic<bool> stop{false};
    std::array<std::atomic<std::uint64_t>, 2> rounds{};
    std::array<std::thread, 2> writers;
    for (std::size_t w = 0; w < writers.size(); ++w) {
      writers[w] = std::thread([&, w] {
        for (; !stop.load(std::memory_order_relaxed); ++rounds[w]) count_up(memory.start(), pages, w);
      });
    }
    while (rounds[0] == 0 || rounds[1] == 0) std::this_thread::yield();
    EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
    stop = true;
    for (auto& writer : writers) writer.join();

    for (std::size_t page = 0; page < pages; ++page) {
      const auto* counters = reinterpret_cast<const std::uint64_t*>(memory.start() + page * page_bytes);
      ASSERT_EQ(counters[0], rounds[0]) << "page " << page;
      ASSERT_EQ(counters[1], rounds[1]) << "page " << page;
    }
  }
}

TEST_F(AliasArenaTest, memory_freed_inside_the_c_library_is_no_longer_live) {
  if (!allocator_is_glibc) GTEST_SKIP() << "the sanitizer brings its own malloc";
  void* memory = std::calloc(1, large);
  const ByteRange range = ByteRange::of(memory, large);
  std::memset(memory, 1, large);
  ASSERT_EQ(arena_.migrate(range), Ineligible::none);
  std::free(memory);
  EXPECT_FALSE(arena_.is_live(range));
  EXPECT_EQ(arena_.statistics().dead_blocks, 1u);
}

TEST_F(AliasArenaTest, file_pages_of_dead_blocks_are_freed) {
  if (!allocator_is_glibc) GTEST_SKIP() << "the sanitizer brings its own malloc";
  void* memory = std::calloc(1, large);
  const ByteRange range = ByteRange::of(memory, large);
  std::memset(memory, 1, large);
  ASSERT_EQ(arena_.migrate(range), Ineligible::none);
  ASSERT_GE(occupied(arena_), large);
  std::free(memory);
  arena_.is_live(range);
  EXPECT_EQ(occupied(arena_), 0u);
}

TEST_F(AliasArenaTest, file_pages_of_a_pending_send_outlive_their_mapping) {
  const Memory other(large / page_bytes);
  ASSERT_EQ(arena_.migrate(other.range()), Ineligible::none);
  void* start = mmap(nullptr, 4 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const ByteRange sent = ByteRange::of(start, 4 * page_bytes);
  ASSERT_EQ(arena_.migrate(sent), Ineligible::none);
  std::memset(start, 7, sent.size());
  arena_.note_send(sent, true);
  arena_.note_send(sent, true);
  arena_.note_send(sent, false);
  munmap(start, sent.size());
  munmap(other.start(), other.size());
  EXPECT_FALSE(arena_.is_live(other.range()));  // and everything dead is freed
  EXPECT_EQ(*(arena_.alias(sent.end) - 1), std::byte{7});
  EXPECT_LE(occupied(arena_), sent.size() + page_bytes);
  arena_.note_send(sent, false);
}

TEST_F(AliasArenaTest, read_only_pages_are_blocks_while_a_send_makes_them_so) {
  const Memory memory(8);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  ASSERT_EQ(mprotect(memory.start(), memory.size(), PROT_READ), 0);
  EXPECT_FALSE(arena_.is_live(memory.range()));
  arena_.note_send(memory.range(), true);
  EXPECT_TRUE(arena_.is_live(memory.range()));
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  arena_.note_send(memory.range(), false);
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::not_private);
}

TEST_F(AliasArenaTest, new_memory_at_the_address_of_a_dead_block_is_not_live_and_migrates) {
  auto* memory = new Memory(64);
  const ByteRange range = memory->range();
  ASSERT_EQ(arena_.migrate(range), Ineligible::none);
  delete memory;
  auto* again = static_cast<std::byte*>(mmap(reinterpret_cast<void*>(range.begin), range.size(), PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  again[5] = std::byte{77};
  EXPECT_FALSE(arena_.is_live(range));
  ASSERT_EQ(arena_.migrate(range), Ineligible::none);
  EXPECT_EQ(again[5], std::byte{77});
  EXPECT_EQ(again[6], std::byte{0});
  munmap(again, range.size());
}

TEST_F(AliasArenaTest, a_range_with_a_dead_part_is_dead_and_the_rest_stays_a_block) {
  const Memory memory(12);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  munmap(memory.start() + 4 * page_bytes, 4 * page_bytes);
  EXPECT_FALSE(arena_.is_live(memory.range()));
  EXPECT_TRUE(arena_.is_live(ByteRange::of(memory.start(), 4 * page_bytes)));
  EXPECT_TRUE(arena_.is_live(ByteRange::of(memory.start() + 8 * page_bytes, 4 * page_bytes)));
}

TEST_F(AliasArenaTest, what_was_asked_after_an_operation_had_begun_is_not_asked_again_for_it) {
  const Memory memory(12);
  const ByteRange part = ByteRange::of(memory.start() + 4 * page_bytes, 4 * page_bytes);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  ASSERT_TRUE(arena_.is_live(memory.range(), {.begun = 1, .latest = 5}));
  munmap(memory.start() + 4 * page_bytes, 4 * page_bytes);
  EXPECT_TRUE(arena_.is_live(part, {.begun = 5, .latest = 7})) << "no program may do that to it";
  EXPECT_FALSE(arena_.is_live(memory.range(), {.begun = 6, .latest = 7}));
  EXPECT_FALSE(arena_.is_live(part, {.begun = 5, .latest = 8})) << "known to be dead";
}

TEST_F(AliasArenaTest, mremap_cannot_grow_a_block_into_its_neighbour) {
  // glibc's realloc does that with large allocations, and copies when it is refused.
  const Memory area(64);
  std::byte* front = area.start();
  std::byte* behind = area.start() + 32 * page_bytes;
  ASSERT_EQ(arena_.migrate(ByteRange::of(behind, 32 * page_bytes)), Ineligible::none);
  ASSERT_EQ(arena_.migrate(ByteRange::of(front, 32 * page_bytes)), Ineligible::none);
  EXPECT_EQ(mremap(front, 32 * page_bytes, 64 * page_bytes, MREMAP_MAYMOVE), MAP_FAILED);
  EXPECT_TRUE(area.intact());
}

TEST_F(AliasArenaTest, a_buffer_survives_realloc_inside_the_c_library) {
  if (!allocator_is_glibc) GTEST_SKIP() << "the sanitizer brings its own malloc";
  char* block = static_cast<char*>(std::malloc(large));
  block[large - 1] = 'x';
  ASSERT_EQ(arena_.migrate(ByteRange::of(block, large)), Ineligible::none);
  block = static_cast<char*>(std::realloc(block, 2 * large));
  EXPECT_EQ(block[large - 1], 'x');
  EXPECT_FALSE(arena_.is_live(ByteRange::of(block, large)));
  std::free(block);
}

TEST_F(AliasArenaTest, a_buffer_that_was_migrated_in_segments_has_one_seam) {
  const Memory memory(48);
  const std::uintptr_t start = memory.range().begin;
  for (std::size_t page = 0; page < 48; page += 16)
    ASSERT_EQ(arena_.migrate({start + page * page_bytes, start + (page + 16) * page_bytes}), Ineligible::none);
  EXPECT_EQ(arena_.first_mapping_in_place(memory.range()).size(), page_bytes);
  EXPECT_EQ(arena_.first_mapping_in_place({start + page_bytes, memory.range().end}).size(), 47 * page_bytes);
  EXPECT_TRUE(memory.intact());
}

TEST_F(AliasArenaTest, what_glibc_mapped_for_another_allocation_has_a_seam_of_its_own) {
  // As an allocation begins, and as one that was to be aligned does.
  for (const std::size_t place : {std::size_t{0}, std::size_t{48}}) {
    const Memory area(64);
    std::byte* behind = area.start() + 32 * page_bytes;
    constexpr std::size_t is_mapped = 2;
    const std::array<std::size_t, 2> header{place, (32 * page_bytes - place) | is_mapped};
    std::memcpy(behind + place, header.data(), sizeof header);
    ASSERT_EQ(arena_.migrate(ByteRange::of(area.start(), 32 * page_bytes)), Ineligible::none);
    ASSERT_EQ(arena_.migrate(ByteRange::of(behind, 32 * page_bytes)), Ineligible::none);
    EXPECT_EQ(mremap(behind, 32 * page_bytes, 64 * page_bytes, MREMAP_MAYMOVE), MAP_FAILED) << place;
  }
}

TEST_F(AliasArenaTest, buffers_that_were_migrated_in_segments_survive_realloc_inside_the_c_library) {
  if (!allocator_is_glibc) GTEST_SKIP() << "the sanitizer brings its own malloc";
  // Mapped for themselves, each just below the one before; longer ones the kernel aligns, and they have no neighbours.
  constexpr std::size_t bytes = std::size_t{1} << 20;
  mallopt(M_MMAP_THRESHOLD, bytes / 2);
  std::array<char*, 4> blocks{};
  for (std::size_t i = blocks.size(); i-- > 0;)
    blocks[i] = static_cast<char*>(i % 2 == 0 ? std::malloc(bytes) : std::aligned_alloc(64, bytes));
  for (char* block : blocks) {
    for (std::size_t at = 0; at < bytes; at += bytes / 4)
      ASSERT_EQ(arena_.migrate(ByteRange::of(block + at, bytes / 4)), Ineligible::none);
    std::memset(block, 'a', bytes);
  }
  for (std::size_t i : {1, 2}) {
    blocks[i] = static_cast<char*>(std::realloc(blocks[i], 2 * bytes));
    std::memset(blocks[i], 'b', 2 * bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool grown = i == 1 || i == 2;
    const std::size_t size = grown ? 2 * bytes : bytes;
    EXPECT_EQ(std::count(blocks[i], blocks[i] + size, grown ? 'b' : 'a'), static_cast<std::ptrdiff_t>(size)) << i;
    std::free(blocks[i]);
  }
}

TEST_F(AliasArenaTest, offsets_that_show_elsewhere_are_not_used_again) {
  const Memory memory(8);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  // Page by page past the seam, as only a move of the same size can do it.
  const std::size_t moved_bytes = 7 * page_bytes;
  std::byte* source = memory.start() + page_bytes;
  const Memory target(7);
  ASSERT_EQ(mremap(source, moved_bytes, moved_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target.start()), target.start());
  const ByteRange hole = ByteRange::of(source, moved_bytes);
  EXPECT_FALSE(arena_.is_live(hole));
  mmap(source, moved_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

  EXPECT_EQ(arena_.migrate(hole), Ineligible::moved);
  EXPECT_EQ(target.start()[0], Memory::pattern(page_bytes));
}

TEST_F(AliasArenaTest, a_moved_block_becomes_a_block_where_it_is_now) {
  const Memory memory(8);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  const std::size_t moved_bytes = 7 * page_bytes;
  std::byte* source = memory.start() + page_bytes;
  const Memory target(7);
  ASSERT_EQ(mremap(source, moved_bytes, moved_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target.start()), target.start());

  ASSERT_EQ(arena_.migrate(target.range()), Ineligible::none);
  EXPECT_TRUE(arena_.is_live(target.range()));
  EXPECT_EQ(target.start()[0], Memory::pattern(page_bytes));
  *arena_.alias(target.range().begin) = std::byte{3};
  EXPECT_EQ(target.start()[0], std::byte{3});
}

TEST(AliasArenaBudgetTest, migration_stops_at_the_map_budget) {
  AliasArena arena(10);
  const Memory memory(400);
  Ineligible last = Ineligible::none;
  std::size_t blocks = 0;
  for (; last == Ineligible::none && blocks < 100; ++blocks) {
    last = arena.migrate(ByteRange::of(memory.start() + blocks * 4 * page_bytes, 2 * page_bytes));
  }
  EXPECT_EQ(last, Ineligible::map_budget);
  EXPECT_GE(blocks, 2u);
  EXPECT_TRUE(memory.intact());
}

TEST(AliasArenaRefusalTest, a_machine_without_descriptors_is_told_of_and_migrates_nothing) {
  rlimit old{};
  getrlimit(RLIMIT_NOFILE, &old);
  const rlimit none{0, old.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  AliasArena arena(plenty_of_mappings);
  setrlimit(RLIMIT_NOFILE, &old);

  const Memory memory(4);
  EXPECT_FALSE(arena.usable());
  EXPECT_NE(arena.refusal().find("memfd_create"), std::string::npos) << arena.refusal();
  EXPECT_EQ(arena.migrate(memory.range()), Ineligible::no_memory_file);
  EXPECT_FALSE(arena.is_live(memory.range()));
}

TEST(AliasArenaRefusalTest, a_file_size_limit_is_respected_without_a_signal) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{rlim_t{1} << 30, old.rlim_max};
  AliasArena before(plenty_of_mappings);
  setrlimit(RLIMIT_FSIZE, &small);
  AliasArena after(plenty_of_mappings);
  const Memory memory(4);
  const Ineligible outcome = before.migrate(memory.range());
  setrlimit(RLIMIT_FSIZE, &old);

  EXPECT_FALSE(after.usable());
  EXPECT_EQ(outcome, Ineligible::failed);
  EXPECT_TRUE(memory.intact());
  memory.start()[0] = std::byte{1};  // writable again
}

TEST_F(AliasArenaTest, with_limited_address_space_blocks_become_private_and_no_new_ones_are_made) {
  const Memory memory(600);
  const Memory other(600);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_TRUE(arena_.leave_address_space());
  EXPECT_FALSE(arena_.is_live(memory.range()));
  EXPECT_TRUE(memory.intact());
  EXPECT_EQ(occupied(arena_), 0u);

  rlimit old{};
  getrlimit(RLIMIT_AS, &old);
  const rlimit limited{rlim_t{1} << 46, old.rlim_max};
  setrlimit(RLIMIT_AS, &limited);
  const Ineligible outcome = arena_.migrate(other.range());
  const AliasArena late(plenty_of_mappings);
  setrlimit(RLIMIT_AS, &old);
  EXPECT_EQ(outcome, Ineligible::address_limit);
  EXPECT_FALSE(late.usable());
  EXPECT_NE(late.refusal().find("ulimit -v"), std::string::npos) << late.refusal();
  EXPECT_TRUE(other.intact());

  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  *arena_.alias(memory.range().begin) = std::byte{99};
  EXPECT_EQ(memory.start()[0], std::byte{99});
}

TEST_F(AliasArenaTest, blocks_released_often_get_large_pages_and_keep_their_contents) {
  const Memory memory(600);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  const std::size_t before = occupied(arena_);
  for (int release = 0; release < 3; ++release) arena_.note_release(memory.range());
  if (occupied(arena_) == before) GTEST_SKIP() << "this kernel makes no large pages";
  EXPECT_TRUE(memory.intact());
  EXPECT_TRUE(arena_.is_live(memory.range()));
  *arena_.alias(memory.range().begin) = std::byte{99};
  EXPECT_EQ(memory.start()[0], std::byte{99});
}

TEST_F(AliasArenaTest, large_pages_of_dead_blocks_are_freed_as_a_whole) {
  auto memory = std::make_unique<Memory>(large / page_bytes);
  const ByteRange range = memory->range();
  ASSERT_EQ(arena_.migrate(range), Ineligible::none);
  for (int release = 0; release < 3; ++release) arena_.note_release(range);
  memory.reset();
  EXPECT_FALSE(arena_.is_live(range));
  EXPECT_EQ(occupied(arena_), 0u);
}

TEST_F(AliasArenaTest, discarded_pages_read_zeros_and_their_neighbours_keep_their_contents) {
  const Memory memory(6);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  arena_.discard(ByteRange::of(memory.start() + page_bytes + 1, 3 * page_bytes));
  EXPECT_EQ(memory.start()[page_bytes + 5], Memory::pattern(page_bytes + 5));
  EXPECT_EQ(memory.start()[2 * page_bytes + 5], std::byte{0});
  EXPECT_EQ(memory.start()[4 * page_bytes + 5], Memory::pattern(4 * page_bytes + 5));
}

TEST_F(AliasArenaTest, privatized_memory_keeps_its_contents_and_is_no_block) {
  const Memory memory(6);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  ASSERT_TRUE(arena_.privatize(memory.range()));
  EXPECT_TRUE(memory.intact());
  EXPECT_FALSE(arena_.is_live(memory.range()));
  *arena_.alias(memory.range().begin) = std::byte{99};
  EXPECT_EQ(memory.start()[0], Memory::pattern(0));
}

}  // namespace
}  // namespace sluice
