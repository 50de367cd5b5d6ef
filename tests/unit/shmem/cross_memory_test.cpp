#include "shmem/cross_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

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

}  // namespace
}  // namespace sluice
