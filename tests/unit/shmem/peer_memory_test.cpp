#include "shmem/peer_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "runtime/process/process_maps.hpp"
#include "runtime/process/window_span.hpp"

namespace sluice {
namespace {

/// A sparse memory file as large as the address space, as AliasArena makes it, and a view of a part of it.
struct PeerMemoryTest : testing::Test {
  static constexpr std::uint64_t border = std::uint64_t{192} << 30;  // between two regions
  static constexpr std::size_t viewed = std::size_t{8} << 20;        // 4 MB on each side of the border
  static constexpr std::uint64_t file_bytes = std::uint64_t{1} << 47;

  static Descriptor sparse_file() {
    Descriptor made(checked(::memfd_create("peer", MFD_CLOEXEC), "memfd_create"));
    checked(::ftruncate(made.get(), static_cast<off_t>(file_bytes)), "ftruncate");
    return made;
  }

  [[nodiscard]] Mapping view_of_border() const {
    void* start =
        ::mmap(nullptr, viewed, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(border - viewed / 2));
    if (start == MAP_FAILED) throw_errno("mmap");
    return {start, viewed};
  }

  Descriptor file = sparse_file();
  Mapping view = view_of_border();
  PeerMemory memory{Descriptor(::dup(file.get()))};

  [[nodiscard]] const std::byte* seen_at(std::uint64_t offset) const { return view.start() + (offset - (border - viewed / 2)); }
};

std::vector<std::byte> random_bytes(std::size_t bytes, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<std::byte> data(bytes);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  return data;
}

TEST_F(PeerMemoryTest, EveryUseOfAPageWritesWhatWasAskedFor) {
  for (unsigned use = 0; use < PeerMemory::uses_before_mapping + 3u; use++) {
    const auto data = random_bytes(300000, use + 1);
    ASSERT_TRUE(memory.write(border + 12345, data)) << use;
    EXPECT_EQ(std::memcmp(seen_at(border + 12345), data.data(), data.size()), 0) << use;
  }
}

TEST_F(PeerMemoryTest, EveryUseOfAPageReadsWhatIsThere) {
  for (unsigned use = 0; use < PeerMemory::uses_before_mapping + 3u; use++) {
    const auto data = random_bytes(300000, use + 1);
    std::memcpy(view.start() + viewed / 2 - 100000, data.data(), data.size());
    std::vector<std::byte> target(data.size() + 1, std::byte{0x5a});
    ASSERT_TRUE(memory.read(border - 100000, std::span(target).first(data.size()))) << use;
    EXPECT_EQ(std::memcmp(target.data(), data.data(), data.size()), 0) << use;
    EXPECT_EQ(target.back(), std::byte{0x5a});
  }
}

TEST_F(PeerMemoryTest, RandomWritesLeaveTheBytesBesideThemAlone) {
  std::minstd_rand random(1);
  std::vector<std::byte> model(viewed);
  for (unsigned i = 0; i < 300; i++) {
    const std::size_t bytes = random() % (i % 10 == 0 ? 1000000 : 5000);
    const std::size_t at = random() % (viewed - bytes);
    const auto data = random_bytes(bytes, i);
    std::memcpy(model.data() + at, data.data(), bytes);
    ASSERT_TRUE(memory.write(border - viewed / 2 + at, data));
  }
  EXPECT_EQ(std::memcmp(view.start(), model.data(), viewed), 0);
}

TEST_F(PeerMemoryTest, AWriteAcrossAWindowBorderIsWhole) {
  for (unsigned use = 0; use < PeerMemory::uses_before_mapping + 3u; use++) {
    const auto data = random_bytes(200000, use + 1);
    ASSERT_TRUE(memory.write(border - 100000, data));
    EXPECT_EQ(std::memcmp(seen_at(border - 100000), data.data(), data.size()), 0) << use;
  }
}

TEST_F(PeerMemoryTest, PagesThatThePeerDroppedAreWrittenAnew) {
  const auto data = random_bytes(100000, 1);
  for (unsigned use = 0; use < PeerMemory::uses_before_mapping + 2u; use++) ASSERT_TRUE(memory.write(border, data));
  ASSERT_EQ(::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(border), 131072), 0);
  ASSERT_EQ(*seen_at(border), std::byte{0});
  ASSERT_TRUE(memory.write(border, data));
  EXPECT_EQ(std::memcmp(seen_at(border), data.data(), data.size()), 0);
}

/// Soft limit of this process, for the time of a test.
class Limited {
 public:
  Limited(__rlimit_resource resource, rlim_t max) : resource_(resource) {
    ::getrlimit(resource, &before_);
    const rlimit limits{max, before_.rlim_max};
    ::setrlimit(resource, &limits);
  }
  ~Limited() { ::setrlimit(resource_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

constexpr rlim_t max_addresses = (rlim_t{1} << 47) - page_bytes;  // a limit that keeps nobody from anything

std::size_t mapped_extents() {
  std::size_t bytes = 0;
  const ProcessMaps maps;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps, 0); walk.next(mapping);) {
    if (window_span::contains(mapping.bytes.begin)) bytes += mapping.bytes.size();
  }
  return bytes / window_span::extent_bytes;
}

TEST_F(PeerMemoryTest, OnlyWhatIsUsedOftenIsMapped) {
  const std::size_t before = mapped_extents();
  const auto data = random_bytes(300000, 1);
  for (unsigned use = 0; use < PeerMemory::uses_before_mapping; use++) ASSERT_TRUE(memory.write(border, data));
  EXPECT_EQ(mapped_extents(), before);
  for (unsigned use = 0; use < 3; use++) ASSERT_TRUE(memory.write(border, data));
  EXPECT_EQ(mapped_extents(), before + 1);
}

TEST_F(PeerMemoryTest, WithLittleAddressSpaceEverythingIsMovedByCalls) {
  const std::size_t before = mapped_extents();
  const auto data = random_bytes(300000, 1);
  for (unsigned use = 0; use < PeerMemory::uses_before_mapping + 2u; use++) ASSERT_TRUE(memory.write(border, data));
  {
    const Limited limited(RLIMIT_AS, max_addresses);
    memory.leave_address_space();
    EXPECT_EQ(mapped_extents(), before);
    const auto other = random_bytes(300000, 2);
    ASSERT_TRUE(memory.write(border, other));
    EXPECT_EQ(std::memcmp(seen_at(border), other.data(), other.size()), 0);
    EXPECT_EQ(mapped_extents(), before);
  }
  ASSERT_TRUE(memory.write(border, data));
  EXPECT_EQ(std::memcmp(seen_at(border), data.data(), data.size()), 0);
  EXPECT_EQ(mapped_extents(), before + 1);
}

TEST_F(PeerMemoryTest, AWriteBeyondTheFileSizeLimitIsAStore) {
  const Limited limited(RLIMIT_FSIZE, rlim_t{1} << 20);
  const auto data = random_bytes(300000, 1);
  ASSERT_TRUE(memory.write(border, data));
  EXPECT_EQ(std::memcmp(seen_at(border), data.data(), data.size()), 0);
}

TEST_F(PeerMemoryTest, WithoutFileSizeAndAddressSpaceAWriteIsRefusedAndNoSignalComes) {
  const Limited file_size(RLIMIT_FSIZE, rlim_t{1} << 20);
  const Limited address_space(RLIMIT_AS, max_addresses);
  EXPECT_FALSE(memory.write(border, random_bytes(100, 1)));
  EXPECT_FALSE(memory.refusal().empty());
}

TEST_F(PeerMemoryTest, SeveralThreadsWriteAtOnce) {
  {
    std::vector<std::jthread> threads;
    for (std::size_t n = 0; n < 4; n++) {
      threads.emplace_back([&, n] {
        const std::vector<std::byte> data(100000, std::byte(n + 1));
        for (int i = 0; i < 20; i++) memory.write(border - 200000 + n * 100000, data);
      });
    }
  }
  for (std::size_t n = 0; n < 4; n++) {
    EXPECT_EQ(*seen_at(border - 200000 + n * 100000), std::byte(n + 1));
    EXPECT_EQ(*seen_at(border - 200000 + n * 100000 + 99999), std::byte(n + 1));
  }
}

TEST_F(PeerMemoryTest, AWriteBeyondTheFileIsRefusedForGood) {
  const std::vector<std::byte> data(10);
  EXPECT_FALSE(memory.write(file_bytes - 5, data));
  EXPECT_FALSE(memory.usable());
  EXPECT_NE(memory.refusal().find("beyond"), std::string::npos) << memory.refusal();
  EXPECT_FALSE(memory.write(border, data));
}

TEST_F(PeerMemoryTest, AFileThatMayNotBeWrittenIsRefusedWithItsCause) {
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  PeerMemory read_only{Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))};
  EXPECT_FALSE(read_only.write(border, std::vector<std::byte>(10)));
  EXPECT_FALSE(read_only.usable());
  EXPECT_FALSE(read_only.refusal().empty());
}

TEST(PeerMemory, WithoutAFileIsNotUsable) {
  PeerMemory none;
  EXPECT_FALSE(none.usable());
  EXPECT_FALSE(none.write(0, std::vector<std::byte>(1)));
  EXPECT_FALSE(none.refusal().empty());
}

}  // namespace
}  // namespace sluice
