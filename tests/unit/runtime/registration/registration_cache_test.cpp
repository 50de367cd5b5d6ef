#include "runtime/registration/registration_cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "tests/unit/support/traced.hpp"

namespace sluice {
namespace {

constexpr std::size_t plenty = std::size_t{1} << 40;
constexpr std::uintptr_t somewhere = 0x10000000;

/// Pages `first` to `first + pages` of an address space in which nothing needs to exist.
ByteRange pages(std::uintptr_t first, std::size_t pages = 1) {
  return {somewhere + first * page_bytes, somewhere + (first + pages) * page_bytes};
}

/// Remembers what is registered, and refuses what it is told to.
class CountingAdapter final : public Rdma {
 public:
  bool register_memory(ByteRange bytes, Registration& registration) override {
    ++asked;
    std::size_t held = 0;
    for (const ByteRange other : registered) held += other.size();
    if (refusal != 0 || held + bytes.size() > capacity) {
      errno = refusal != 0 ? refusal : ENOMEM;
      return false;
    }
    registered.push_back(bytes);
    registration = {bytes, ++last_key, last_key + 1000, nullptr};
    return true;
  }
  void deregister(const Registration& registration) override {
    std::erase_if(registered, [&](ByteRange other) {
      return other.begin == registration.bytes.begin && other.end == registration.bytes.end;
    });
  }
  bool write(Peer, std::span<const std::byte>, std::uint32_t, RemoteMemory, std::uint64_t) override { return false; }
  bool read(Peer, std::span<std::byte>, std::uint32_t, RemoteMemory, std::uint64_t) override { return false; }
  [[nodiscard]] bool places_in_order() const override { return true; }
  [[nodiscard]] std::size_t largest_transfer() const override { return plenty; }

  [[nodiscard]] bool has(ByteRange bytes) const {
    return std::any_of(registered.begin(), registered.end(),
                       [&](ByteRange other) { return other.begin == bytes.begin && other.end == bytes.end; });
  }

  std::vector<ByteRange> registered;
  std::size_t capacity = plenty;
  int refusal = 0;
  int asked = 0;
  std::uint32_t last_key = 0;
};

class RegistrationCacheTest : public testing::Test {
 protected:
  RegisteredMemory acquire(ByteRange bytes) { return cache_.acquire(bytes, Backing::alias); }
  /// Registers, and leaves idle.
  void use(ByteRange bytes) { ASSERT_TRUE(acquire(bytes)); }

  CountingAdapter adapter_;
  RegistrationCache cache_{adapter_, {plenty, plenty}};
};

class LimitedCacheTest : public testing::Test {
 protected:
  static constexpr std::size_t entries = 8;
  static constexpr std::size_t bytes = 20 * page_bytes;

  CountingAdapter adapter_;
  RegistrationCache cache_{adapter_, {bytes, entries}};
};

// --- hits and misses --------------------------------------------------------------------------------------------------

TEST_F(RegistrationCacheTest, a_buffer_that_is_used_in_a_loop_is_registered_once) {
  for (int round = 0; round < 100; ++round) use(pages(0, 4));
  EXPECT_EQ(adapter_.asked, 1);
  EXPECT_EQ(cache_.statistics().misses, 1U);
  EXPECT_EQ(cache_.statistics().hits, 99U);
}

TEST_F(RegistrationCacheTest, whole_pages_are_registered) {
  const RegisteredMemory memory = acquire({somewhere + 100, somewhere + page_bytes + 1});
  EXPECT_TRUE(adapter_.has(pages(0, 2)));
}

TEST_F(RegistrationCacheTest, the_bytes_are_named_as_they_were_asked_for) {
  const ByteRange asked{somewhere + 100, somewhere + 200};
  const RegisteredMemory memory = acquire(asked);
  EXPECT_EQ(memory.bytes().begin, asked.begin);
  EXPECT_EQ(memory.bytes().end, asked.end);
  EXPECT_EQ(memory.remote().address, asked.begin);
  EXPECT_EQ(memory.local_key(), 1U);
  EXPECT_EQ(memory.remote().key, 1001U);
}

TEST_F(RegistrationCacheTest, a_range_inside_a_registration_is_a_hit) {
  use(pages(0, 10));
  const RegisteredMemory inside = acquire({somewhere + 3 * page_bytes + 17, somewhere + 10 * page_bytes});
  EXPECT_EQ(adapter_.asked, 1);
  EXPECT_EQ(inside.local_key(), 1U);
}

TEST_F(RegistrationCacheTest, one_that_reaches_beyond_it_is_a_miss) {
  use(pages(0, 10));
  use(pages(5, 6));
  EXPECT_EQ(adapter_.asked, 2);
  EXPECT_TRUE(adapter_.has(pages(0, 10)));
  EXPECT_TRUE(adapter_.has(pages(5, 6)));
}

TEST_F(RegistrationCacheTest, each_of_two_that_overlap_is_found_again) {
  use(pages(0, 10));
  use(pages(5, 10));
  use(pages(0, 10));
  use(pages(5, 10));
  use(pages(6, 3));
  EXPECT_EQ(cache_.statistics().hits, 3U);
  EXPECT_EQ(adapter_.asked, 2);
}

TEST_F(RegistrationCacheTest, a_larger_one_takes_the_place_of_those_that_it_contains) {
  use(pages(2, 2));
  use(pages(6, 2));
  use(pages(0, 10));
  EXPECT_EQ(adapter_.registered.size(), 1U);
  use(pages(6, 2));
  EXPECT_EQ(adapter_.asked, 3);
}

TEST_F(RegistrationCacheTest, one_that_is_contained_and_in_use_stays_until_its_last_use) {
  RegisteredMemory small = acquire(pages(2, 2));
  use(pages(0, 10));
  EXPECT_TRUE(adapter_.has(pages(2, 2)));
  small.reset();
  EXPECT_FALSE(adapter_.has(pages(2, 2)));
}

TEST_F(RegistrationCacheTest, neighbours_are_not_found_for_each_other) {
  use(pages(4, 4));
  use(pages(0, 4));
  use(pages(8, 4));
  EXPECT_EQ(adapter_.asked, 3);
  EXPECT_EQ(adapter_.registered.size(), 3U);
}

TEST_F(RegistrationCacheTest, everything_is_deregistered_at_the_end) {
  {
    RegistrationCache cache(adapter_, {plenty, plenty});
    cache.acquire(pages(0), Backing::alias);
    cache.acquire(pages(5), Backing::application);
  }
  EXPECT_TRUE(adapter_.registered.empty());
}

// --- eviction ---------------------------------------------------------------------------------------------------------

TEST_F(LimitedCacheTest, the_least_recently_used_is_evicted_first) {
  for (std::uintptr_t i = 0; i < entries; ++i) cache_.acquire(pages(2 * i), Backing::alias);
  cache_.acquire(pages(0), Backing::alias);
  cache_.acquire(pages(100), Backing::alias);
  EXPECT_TRUE(adapter_.has(pages(0)));
  EXPECT_FALSE(adapter_.has(pages(2)));
  EXPECT_TRUE(adapter_.has(pages(4)));
  EXPECT_EQ(cache_.statistics().evictions, 1U);
}

TEST_F(LimitedCacheTest, what_is_in_use_is_never_evicted) {
  const RegisteredMemory kept = cache_.acquire(pages(0), Backing::alias);
  for (std::uintptr_t i = 1; i < 100; ++i) EXPECT_TRUE(cache_.acquire(pages(2 * i), Backing::alias));
  EXPECT_TRUE(adapter_.has(pages(0)));
}

TEST_F(LimitedCacheTest, a_hundred_buffers_never_exceed_eight_entries) {
  for (int round = 0; round < 3; ++round) {
    for (std::uintptr_t i = 0; i < 100; ++i) {
      const RegisteredMemory memory = cache_.acquire(pages(2 * i), Backing::alias);
      ASSERT_TRUE(memory);
      ASSERT_TRUE(adapter_.has(pages(2 * i)));
      ASSERT_LE(adapter_.registered.size(), entries);
    }
  }
  EXPECT_EQ(cache_.statistics().evictions, 300U - entries);
  EXPECT_EQ(cache_.statistics().entries, entries);
}

TEST_F(LimitedCacheTest, a_hundred_buffers_at_once_are_refused_beyond_eight) {
  std::vector<RegisteredMemory> in_use;
  for (std::uintptr_t i = 0; i < 100; ++i) {
    RegisteredMemory memory = cache_.acquire(pages(2 * i), Backing::alias);
    EXPECT_EQ(static_cast<bool>(memory), i < entries);
    if (memory) in_use.push_back(std::move(memory));
  }
  EXPECT_EQ(cache_.statistics().refusals, 100U - entries);
  EXPECT_EQ(cache_.statistics().evictions, 0U);
  in_use.clear();
  EXPECT_TRUE(cache_.acquire(pages(500), Backing::alias));
}

TEST_F(LimitedCacheTest, the_limit_in_bytes_evicts_as_many_as_it_takes) {
  for (std::uintptr_t i = 0; i < 5; ++i) cache_.acquire(pages(10 * i, 4), Backing::alias);
  EXPECT_TRUE(cache_.acquire(pages(100, 7), Backing::alias));
  EXPECT_EQ(cache_.statistics().evictions, 2U);
  EXPECT_EQ(cache_.statistics().bytes, 19 * page_bytes);
  EXPECT_EQ(cache_.statistics().peak_bytes, bytes);
}

TEST_F(LimitedCacheTest, a_buffer_larger_than_the_limit_is_refused_and_evicts_nothing) {
  cache_.acquire(pages(0), Backing::alias);
  EXPECT_FALSE(cache_.acquire(pages(100, 21), Backing::alias));
  EXPECT_TRUE(adapter_.has(pages(0)));
}

TEST_F(LimitedCacheTest, retired_registrations_count_until_they_are_gone) {
  RegisteredMemory old = cache_.acquire(pages(0, 15), Backing::alias);
  cache_.note_freed(pages(0));
  EXPECT_FALSE(cache_.acquire(pages(100, 6), Backing::alias));
  old.reset();
  EXPECT_TRUE(cache_.acquire(pages(100, 6), Backing::alias));
}

// --- refusals ---------------------------------------------------------------------------------------------------------

TEST_F(RegistrationCacheTest, a_refused_registration_is_tried_again_after_evictions) {
  adapter_.capacity = 10 * page_bytes;
  for (std::uintptr_t i = 0; i < 5; ++i) use(pages(10 * i, 2));
  use(pages(100, 4));
  EXPECT_EQ(cache_.statistics().retries, 1U);
  EXPECT_EQ(cache_.statistics().evictions, 2U);
  EXPECT_EQ(cache_.statistics().refusals, 0U);
}

TEST_F(RegistrationCacheTest, a_refusal_with_nothing_left_to_evict_is_reported_once_with_the_command_that_helps) {
  rlimit before{};
  getrlimit(RLIMIT_MEMLOCK, &before);
  const rlimit low{64 << 10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &low), 0);
  adapter_.capacity = 0;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(acquire(pages(0, 2)));
  EXPECT_FALSE(acquire(pages(0, 2)));
  const std::string said = testing::internal::GetCapturedStderr();
  setrlimit(RLIMIT_MEMLOCK, &before);
  EXPECT_NE(said.find("8192 bytes"), std::string::npos) << said;
  EXPECT_NE(said.find("Cannot allocate memory"), std::string::npos) << said;
  EXPECT_NE(said.find("64 KB"), std::string::npos) << said;
  EXPECT_NE(said.find("ulimit -l unlimited"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(cache_.statistics().refusals, 2U);
}

TEST_F(RegistrationCacheTest, memory_that_cannot_be_registered_at_all_costs_no_other_its_place) {
  use(pages(0));
  adapter_.refusal = EFAULT;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(acquire(pages(100)));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(adapter_.has(pages(0)));
  EXPECT_EQ(cache_.statistics().evictions, 0U);
}

TEST_F(RegistrationCacheTest, a_refusal_leaves_nothing_behind) {
  adapter_.refusal = EFAULT;
  EXPECT_FALSE(acquire(pages(0)));
  adapter_.refusal = 0;
  EXPECT_TRUE(acquire(pages(0)));
  EXPECT_EQ(cache_.statistics().entries, 1U);
}

// --- invalidation -----------------------------------------------------------------------------------------------------

TEST_F(RegistrationCacheTest, freed_pages_are_deregistered_and_registered_anew) {
  use(pages(0, 4));
  use(pages(10, 4));
  cache_.note_freed(pages(3, 2));
  EXPECT_FALSE(adapter_.has(pages(0, 4)));
  EXPECT_TRUE(adapter_.has(pages(10, 4)));
  use(pages(0, 4));
  EXPECT_EQ(adapter_.asked, 3);
  EXPECT_EQ(cache_.statistics().invalidations, 1U);
}

TEST_F(RegistrationCacheTest, every_registration_that_shows_a_freed_page_goes) {
  use(pages(0, 10));
  use(pages(4, 10));
  use(pages(8, 10));
  use(pages(20, 2));
  cache_.note_freed(pages(9));
  EXPECT_EQ(adapter_.registered.size(), 1U);
  EXPECT_TRUE(adapter_.has(pages(20, 2)));
}

TEST_F(RegistrationCacheTest, neighbours_of_freed_pages_stay) {
  use(pages(0, 4));
  use(pages(6, 4));
  cache_.note_freed(pages(4, 2));
  EXPECT_EQ(adapter_.registered.size(), 2U);
}

TEST_F(RegistrationCacheTest, freed_pages_in_use_stay_registered_for_their_users_only) {
  RegisteredMemory old = acquire(pages(0, 4));
  cache_.note_freed(pages(0, 4));
  EXPECT_TRUE(adapter_.has(pages(0, 4)));
  const RegisteredMemory anew = acquire(pages(0, 4));
  EXPECT_NE(anew.local_key(), old.local_key());
}

// --- the application's own addresses ----------------------------------------------------------------------------------

TEST_F(RegistrationCacheTest, an_application_range_is_deregistered_after_its_use) {
  EXPECT_TRUE(cache_.acquire(pages(0), Backing::application));
  EXPECT_TRUE(adapter_.registered.empty());
}

TEST_F(RegistrationCacheTest, an_application_range_is_shared_while_its_first_user_has_it) {
  const RegisteredMemory first = cache_.acquire(pages(0, 4), Backing::application);
  const RegisteredMemory second = cache_.acquire(pages(1, 2), Backing::application);
  EXPECT_EQ(adapter_.asked, 1);
}

TEST_F(RegistrationCacheTest, an_application_range_is_not_shared_once_its_first_user_is_gone) {
  RegisteredMemory first = cache_.acquire(pages(0, 4), Backing::application);
  RegisteredMemory second = cache_.acquire(pages(1, 2), Backing::application);
  first.reset();  // pages 0 and 3 may be unmapped and others mapped there
  const RegisteredMemory third = cache_.acquire(pages(3), Backing::application);
  EXPECT_EQ(adapter_.asked, 2);
  EXPECT_TRUE(adapter_.has(pages(0, 4)));
  second.reset();
  EXPECT_FALSE(adapter_.has(pages(0, 4)));
}

TEST_F(RegistrationCacheTest, application_ranges_are_pinned_while_they_are_registered) {
  RegisteredMemory first = cache_.acquire({somewhere + page_bytes + 5, somewhere + page_bytes + 10}, Backing::application);
  EXPECT_TRUE(cache_.pins(PageRange::covering(pages(0, 4))));
  EXPECT_FALSE(cache_.pins(PageRange::covering(pages(2, 4))));
  first.reset();
  EXPECT_FALSE(cache_.pins(PageRange::covering(pages(0, 4))));
}

TEST_F(RegistrationCacheTest, a_use_can_be_moved) {
  RegisteredMemory first = cache_.acquire(pages(0), Backing::application);
  RegisteredMemory second = std::move(first);
  EXPECT_TRUE(adapter_.has(pages(0)));
  second = cache_.acquire(pages(5), Backing::application);
  EXPECT_FALSE(adapter_.has(pages(0)));
  EXPECT_TRUE(adapter_.has(pages(5)));
}

// --- the trace --------------------------------------------------------------------------------------------------------

TEST_F(LimitedCacheTest, everything_that_happens_to_a_registration_is_in_the_trace) {
  const Traced traced;
  cache_.acquire(pages(0, 4), Backing::alias).reset();
  cache_.acquire(pages(1, 2), Backing::alias).reset();
  cache_.acquire(pages(10, 16), Backing::alias).reset();
  cache_.acquire(pages(40, 3), Backing::alias).reset();
  adapter_.capacity = 4 * page_bytes;
  cache_.acquire(pages(50, 2), Backing::alias).reset();
  cache_.note_freed(pages(50, 1));
  adapter_.refusal = EFAULT;
  EXPECT_FALSE(cache_.acquire(pages(60, 1), Backing::alias));
  EXPECT_EQ(traced.of(trace::Kind::registration),
            (Lines{"registration made 16384", "registration hit 8192", "registration made 65536",
                   // no room for another
                   "registration evicted 16384", "registration made 12288",
                   // no room with the adapter
                   "registration evicted 65536", "registration evicted 12288", "registration tried again 8192",
                   "registration made 8192",
                   // its memory is not the block's any more
                   "registration invalidated 8192",
                   // memory that is not there
                   "registration refused 4096"}));
}

}  // namespace
}  // namespace sluice
