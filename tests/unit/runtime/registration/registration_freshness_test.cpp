// What an adapter sees of memory that the program frees and allocates again at the same address: arena and cache together. The
// adapter here holds on to physical pages as a real one does, since vmsplice puts references to them into a pipe.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "runtime/base/posix.hpp"
#include "runtime/registration/registration_cache.hpp"
#include "tests/unit/support/patterned_memory.hpp"

namespace sluice {
namespace {

constexpr std::size_t plenty_of_mappings = 10000;
constexpr std::size_t plenty = std::size_t{1} << 40;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  Descriptor out;
  Descriptor in;
};

/// Pins the first page of what is registered, and can tell what that page begins with.
class PinningAdapter final : public Rdma {
 public:
  bool register_memory(ByteRange bytes, Registration& registration) override {
    // Adapters pin for writing, so that a page of zeros that several addresses share gives way to an own one.
    if (madvise(reinterpret_cast<void*>(bytes.begin), page_bytes, MADV_POPULATE_WRITE) != 0) return false;
    Pipe pinned;
    const iovec page{reinterpret_cast<void*>(bytes.begin), page_bytes};
    if (vmsplice(pinned.in.get(), &page, 1, 0) != static_cast<ssize_t>(page_bytes)) return false;
    registration = {bytes, ++last_key_, 0, nullptr};
    pinned_.emplace(last_key_, std::move(pinned));
    return true;
  }
  void deregister(const Registration& registration) override { pinned_.erase(registration.local_key); }
  bool write(Peer, std::span<const std::byte>, std::uint32_t, RemoteMemory, std::uint64_t) override { return false; }
  bool read(Peer, std::span<std::byte>, std::uint32_t, RemoteMemory, std::uint64_t) override { return false; }
  [[nodiscard]] bool places_in_order() const override { return true; }
  [[nodiscard]] std::size_t largest_transfer() const override { return plenty; }

  /// What the adapter would read there now.
  int first_number(std::uint32_t key) {
    const Pipe copy;
    int number = -1;
    EXPECT_EQ(::tee(pinned_.at(key).out.get(), copy.in.get(), sizeof number, 0), static_cast<ssize_t>(sizeof number));
    EXPECT_EQ(::read(copy.out.get(), &number, sizeof number), static_cast<ssize_t>(sizeof number));
    return number;
  }

 private:
  std::map<std::uint32_t, Pipe> pinned_;
  std::uint32_t last_key_ = 0;
};

class RegistrationFreshnessTest : public testing::Test {
 protected:
  RegistrationFreshnessTest() { arena_.watch_registrations(&cache_); }
  ~RegistrationFreshnessTest() override { arena_.watch_registrations(nullptr); }

  RegisteredMemory acquire(ByteRange bytes) {
    if (!arena_.is_live(bytes)) return cache_.acquire(bytes, Backing::application);
    return cache_.acquire(ByteRange::of(arena_.alias(bytes.begin), bytes.size()), Backing::alias);
  }
  /// What the adapter sees of a number that is stored after the registration, as a receive would, or an MPI_Send of new data.
  int seen(void* buffer, std::size_t bytes, int number) {
    const RegisteredMemory memory = acquire(ByteRange::of(buffer, bytes));
    if (!memory) return -1;
    *static_cast<volatile int*>(buffer) = number;
    return adapter_.first_number(memory.local_key());
  }

  AliasArena arena_{plenty_of_mappings};
  PinningAdapter adapter_;
  RegistrationCache cache_{adapter_, {plenty, plenty}};
};

void* map_at(void* address, std::size_t bytes) {
  return mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED_NOREPLACE : 0), -1, 0);
}

TEST_F(RegistrationFreshnessTest, a_block_is_registered_once) {
  const Memory memory(8);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  for (int round = 0; round < 20; ++round) EXPECT_EQ(seen(memory.start(), memory.size(), round), round);
  EXPECT_EQ(cache_.statistics().misses, 1U);
}

TEST_F(RegistrationFreshnessTest, private_memory_mapped_again_at_its_address_is_registered_again) {
  constexpr std::size_t bytes = 8 * page_bytes;
  void* buffer = map_at(nullptr, bytes);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(seen(buffer, bytes, round), round);
    munmap(buffer, bytes);
    ASSERT_EQ(map_at(buffer, bytes), buffer);
  }
  munmap(buffer, bytes);
  EXPECT_EQ(cache_.statistics().hits, 0U);
}

TEST_F(RegistrationFreshnessTest, a_block_mapped_again_at_its_address_keeps_its_registration_while_the_file_keeps_its_pages) {
  constexpr std::size_t bytes = 8 * page_bytes;
  void* buffer = map_at(nullptr, bytes);
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(arena_.migrate(ByteRange::of(buffer, bytes), AliasArena::Purpose::filled), Ineligible::none);
    EXPECT_EQ(seen(buffer, bytes, round), round);
    munmap(buffer, bytes);
    ASSERT_EQ(map_at(buffer, bytes), buffer);
  }
  munmap(buffer, bytes);
  EXPECT_EQ(cache_.statistics().misses, 1U);
}

TEST_F(RegistrationFreshnessTest, freed_inside_the_c_library_and_allocated_again_nothing_stale_is_seen) {
  if (!allocator_is_glibc) GTEST_SKIP() << "the sanitizer brings its own malloc";
  constexpr std::size_t bytes = std::size_t{4} << 20;  // malloc maps and unmaps this, unseen
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  std::map<void*, int> used;
  for (int round = 0; round < 100; ++round) {
    void* buffer = std::aligned_alloc(page_bytes, bytes);
    std::memset(buffer, 0x77, bytes);
    if (round % 3 != 0) {
      ASSERT_EQ(arena_.migrate(ByteRange::of(buffer, bytes)), Ineligible::none);
    }
    ASSERT_EQ(seen(buffer, bytes, round), round);
    ASSERT_EQ(seen(buffer, bytes, -round), -round);
    ++used[buffer];
    std::free(buffer);
  }
  EXPECT_LT(used.size(), 10U) << "the C library was expected to use its addresses again";
  EXPECT_GT(cache_.statistics().invalidations, 0U) << "the arena was expected to free pages of dead blocks meanwhile";
}

TEST_F(RegistrationFreshnessTest, pages_that_the_program_discards_are_registered_again) {
  const Memory memory(8);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_EQ(seen(memory.start(), memory.size(), 1), 1);
  arena_.discard(memory.range());
  EXPECT_EQ(*reinterpret_cast<int*>(memory.start()), 0);
  EXPECT_EQ(seen(memory.start(), memory.size(), 2), 2);
  EXPECT_EQ(cache_.statistics().invalidations, 1U);
}

TEST_F(RegistrationFreshnessTest, a_block_that_became_private_again_is_seen_at_its_own_address) {
  const Memory memory(8);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_EQ(seen(memory.start(), memory.size(), 1), 1);
  ASSERT_TRUE(arena_.privatize(memory.range()));
  EXPECT_EQ(seen(memory.start(), memory.size(), 2), 2);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_EQ(seen(memory.start(), memory.size(), 3), 3);
}

TEST_F(RegistrationFreshnessTest, large_pages_are_not_made_of_pages_that_an_adapter_uses) {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  const Memory memory(bytes / page_bytes);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_EQ(seen(memory.start(), bytes, 1), 1);
  for (int release = 0; release < 10; ++release) arena_.note_release(memory.range());
  EXPECT_EQ(seen(memory.start(), bytes, 2), 2);
}

TEST_F(RegistrationFreshnessTest, memory_in_use_at_the_application_address_does_not_become_a_block) {
  const Memory memory(8);
  RegisteredMemory first = acquire({memory.range().begin + 10, memory.range().begin + 20});
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::registered);
  EXPECT_TRUE(memory.intact());
  first.reset();
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::none);
}

}  // namespace
}  // namespace sluice
