#include "shmem/cross_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

/// Reads this process itself, which no policy forbids.
struct CrossMemoryTest : testing::Test {
  const Token token{1, 2};
  CrossMemory memory{::getpid()};
};

TEST_F(CrossMemoryTest, IsNotUsableBeforeItWasProbed) {
  std::byte target{};
  EXPECT_FALSE(memory.usable());
  EXPECT_EQ(memory.read(address_of(&token), {&target, 1}), 0u);
}

TEST_F(CrossMemoryTest, IsUsableWhenTheTokenIsWhereThePeerSays) {
  memory.probe(address_of(&token), token);
  EXPECT_TRUE(memory.usable());
  EXPECT_EQ(memory.refusal(), "");
}

TEST_F(CrossMemoryTest, AnotherTokenMeansAnotherProcess) {
  const Token other{1, 3};
  memory.probe(address_of(&other), token);
  EXPECT_FALSE(memory.usable());
  EXPECT_NE(memory.refusal(), "");
}

TEST_F(CrossMemoryTest, AnAddressThatCannotBeReadIsRefusedWithTheCause) {
  memory.probe(8, token);
  EXPECT_FALSE(memory.usable());
  EXPECT_NE(memory.refusal().find("process_vm_readv"), std::string::npos);
}

TEST_F(CrossMemoryTest, ReadsWhatIsThere) {
  std::vector<unsigned> source(50000);
  std::iota(source.begin(), source.end(), 1u);
  std::vector<unsigned> target(source.size());
  memory.probe(address_of(&token), token);
  const auto bytes = std::as_writable_bytes(std::span(target));
  EXPECT_EQ(memory.read(address_of(source.data()), bytes), bytes.size());
  EXPECT_EQ(source, target);
}

TEST_F(CrossMemoryTest, StopsAtAPageThatCannotBeReadAndGoesOnBeingUsed) {
  auto* pages = static_cast<std::byte*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(::mprotect(pages + 4096, 4096, PROT_NONE), 0);
  std::vector<std::byte> target(8192);
  memory.probe(address_of(&token), token);
  EXPECT_EQ(memory.read(address_of(pages), target), 4096u);
  EXPECT_TRUE(memory.usable());
  EXPECT_EQ(memory.read(address_of(pages), std::span(target).first(4096)), 4096u);
  ::munmap(pages, 8192);
}

TEST_F(CrossMemoryTest, WritesWhatIsHere) {
  std::vector<unsigned> source(50001);
  std::iota(source.begin(), source.end(), 1u);
  std::vector<unsigned> target(source.size());
  memory.probe(address_of(&token), token);
  ASSERT_TRUE(memory.may_write());
  const auto bytes = std::as_bytes(std::span(source));
  EXPECT_EQ(memory.write(address_of(target.data()), bytes), bytes.size());
  EXPECT_EQ(source, target);
}

TEST_F(CrossMemoryTest, AWriteStopsAtAPageThatIsClosedAndOthersGoOn) {
  auto* pages = static_cast<std::byte*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(::mprotect(pages + 4096, 4096, PROT_READ), 0);
  const std::vector<std::byte> source(8192, std::byte{7});
  memory.probe(address_of(&token), token);
  EXPECT_EQ(memory.write(address_of(pages), source), 4096u);
  EXPECT_EQ(pages[4095], std::byte{7});
  EXPECT_TRUE(memory.may_write());
  ::munmap(pages, 8192);
}

TEST(CrossMemory, AProcessThatIsGoneIsNotWrittenToAgain) {
  const Token token{1, 2};
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  CrossMemory memory(child);
  memory.probe(address_of(&token), token);
  ASSERT_TRUE(memory.may_write());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::byte source{1};
  EXPECT_EQ(memory.write(address_of(&token), {&source, 1}), 0u);
  EXPECT_FALSE(memory.may_write());
  EXPECT_NE(memory.write_refusal().find("process_vm_writev: "), std::string::npos);
}

std::vector<iovec> every_second_of(std::vector<unsigned>& numbers) {
  std::vector<iovec> places;
  for (std::size_t i = 0; i < numbers.size(); i += 2) places.push_back({&numbers[i], sizeof(unsigned)});
  return places;
}

TEST_F(CrossMemoryTest, ReadsAndWritesManyPlaces) {
  constexpr std::size_t count = 500;  // more than one call takes
  std::vector<unsigned> there(count);
  std::iota(there.begin(), there.end(), 0u);
  std::vector<unsigned> here(count / 2);
  memory.probe(address_of(&token), token);
  const auto places = every_second_of(there);
  ASSERT_TRUE(memory.read_places(places, reinterpret_cast<std::byte*>(here.data())));
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_EQ(here[i], 2 * i);
  for (unsigned& number : here) number += 1000;
  ASSERT_TRUE(memory.write_places(places, reinterpret_cast<const std::byte*>(here.data())));
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(there[i], i % 2 == 0 ? i + 1000 : i);
}

TEST_F(CrossMemoryTest, PlacesWithoutBytesAreNone) {
  unsigned there = 7;
  unsigned here = 0;
  memory.probe(address_of(&token), token);
  const iovec places[] = {{nullptr, 0}, {&there, sizeof there}, {nullptr, 0}};
  ASSERT_TRUE(memory.read_places(places, reinterpret_cast<std::byte*>(&here)));
  EXPECT_EQ(here, 7u);
  EXPECT_TRUE(memory.read_places({}, nullptr));
}

TEST_F(CrossMemoryTest, APlaceThatCannotBeReachedFailsAndOthersGoOn) {
  unsigned here = 0;
  memory.probe(address_of(&token), token);
  const iovec nowhere{reinterpret_cast<void*>(8), sizeof here};
  EXPECT_FALSE(memory.read_places({&nowhere, 1}, reinterpret_cast<std::byte*>(&here)));
  EXPECT_FALSE(memory.write_places({&nowhere, 1}, reinterpret_cast<const std::byte*>(&here)));
  EXPECT_TRUE(memory.usable());
}

}  // namespace
}  // namespace sluice
