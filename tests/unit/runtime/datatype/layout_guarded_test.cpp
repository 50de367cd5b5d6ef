// Page-guard rules 5 and 7: what shares pages with a guarded receive is packed and unpacked through the alias, without a fault.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

#include "runtime/alias/arena.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/guard/user_memory.hpp"
#include "tests/unit/support/layouts.hpp"

namespace sluice {
namespace {

constexpr std::size_t map_budget = 1000;
constexpr std::size_t pages = 6;

/// Nobody completes the guarded pages: a fault would never end, so it ends the test.
class NobodyComes final : public FaultWaiter {
 public:
  void wait_a_little(unsigned /*attempt*/) override { std::abort(); }
};

/// Six pages of memory, the second and third of them under guard.
class LayoutGuarded : public testing::Test {
 protected:
  void SetUp() override {
    if (!arena_.usable()) GTEST_SKIP() << arena_.refusal();
    memory_ =
        static_cast<std::byte*>(mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::ranges::copy(contents_, memory_);
    ASSERT_EQ(arena_.migrate(ByteRange::of(memory_, pages * page_bytes)), Ineligible::none);
    register_user_memory(&guard_, &arena_);
    guarded_ = guard_.protect(ByteRange::of(memory_ + page_bytes, 2 * page_bytes), 0);
    ASSERT_NE(guarded_, nullptr);
  }
  void TearDown() override {
    open_all();
    register_user_memory(nullptr, nullptr);
    if (memory_) munmap(memory_, pages * page_bytes);
  }
  void open_all() {
    if (guarded_) guard_.finish(guarded_);
    guarded_ = nullptr;
  }

  const Runs runs_{{5, 24, 40, 400}, {20000, 3000, 3500, 1}};
  const Bytes contents_ = numbered(pages * page_bytes);
  std::byte* memory_ = nullptr;

 private:
  AliasArena arena_{map_budget};
  NobodyComes waiter_;
  PageGuard guard_{waiter_, &arena_};
  Guarded* guarded_ = nullptr;
};

TEST_F(LayoutGuarded, PacksAcrossGuardedPages) {
  const UserBuffer buffer{memory_, 1, make(runs_, 24000)};

  const Bytes packed = pack_all(buffer);

  EXPECT_EQ(packed, expected_pack(contents_.data(), byte_offsets(runs_, 24000, 1)));
}

TEST_F(LayoutGuarded, UnpacksAcrossGuardedPages) {
  const UserBuffer buffer{memory_, 1, make(runs_, 24000)};
  Bytes source = numbered(buffer.bytes());
  std::ranges::reverse(source);

  EXPECT_EQ(LayoutCursor(buffer).unpack(source), source.size());

  open_all();
  EXPECT_EQ(expected_pack(memory_, byte_offsets(runs_, 24000, 1)), source);
}

TEST_F(LayoutGuarded, BuffersBesideTheGuardedPagesAreNotConcerned) {
  const UserBuffer buffer{memory_ + 3 * page_bytes, 100, make({{0, 8}}, 16)};

  EXPECT_TRUE(user_memory_is_guarded());
  EXPECT_FALSE(user_memory_is_guarded(buffer.span()));
  EXPECT_EQ(pack_all(buffer), expected_pack(contents_.data() + 3 * page_bytes, byte_offsets({{0, 8}}, 16, 100)));
}

}  // namespace
}  // namespace sluice
