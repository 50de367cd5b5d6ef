// Packing, unpacking and gathering are compared with a list of single byte addresses.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <random>

#include "runtime/datatype/layout.hpp"
#include "tests/unit/support/layouts.hpp"

namespace sluice {
namespace {

/// A buffer over a layout with 4-byte, 8-byte and 12-byte runs, backward strides and negative offsets, inside `memory`.
class MixedBuffer {
 public:
  static constexpr std::size_t count = 5;
  static constexpr std::ptrdiff_t extent = 200;

  Runs runs{{-64, 8, 16, 3}, {150, 4, -12, 6}, {7, 12, 0, 1}, {19, 5, 0, 1}, {160, 1, 3, 9}};
  Bytes memory = numbered(1400);
  std::vector<std::ptrdiff_t> offsets = byte_offsets(runs, extent, count);

  UserBuffer buffer() { return {memory.data() + 100, count, make(runs, extent)}; }
  Bytes expected() { return expected_pack(memory.data() + 100, offsets); }
};

TEST(LayoutCursor, PacksBlocksInOrder) {
  MixedBuffer mixed;

  EXPECT_EQ(pack_all(mixed.buffer()), mixed.expected());
}

TEST(LayoutCursor, UnpacksWhatWasPackedAndNothingElse) {
  MixedBuffer mixed;
  const Bytes before = mixed.memory;
  const Bytes packed = mixed.expected();
  Bytes wanted(before.size(), std::byte{0xEE});
  for (const std::ptrdiff_t offset : mixed.offsets) {
    const auto index = static_cast<std::size_t>(100 + offset);
    wanted[index] = before[index];
  }
  std::fill(mixed.memory.begin(), mixed.memory.end(), std::byte{0xEE});

  const std::size_t used = LayoutCursor(mixed.buffer()).unpack(packed);

  EXPECT_EQ(used, packed.size());
  EXPECT_EQ(mixed.memory, wanted);
}

/// Blocks a page apart and nearly so, either way, few and many: they are asked for early, and are no others for that.
TEST(LayoutCursor, BlocksFarApartArePackedAndUnpackedLikeOthers) {
  constexpr std::ptrdiff_t origin = 40 * 4096;
  for (const std::ptrdiff_t stride : {511, 512, 1000, 4096, -511, -512, -1000, -4096}) {
    for (const std::size_t bytes : {1u, 8u, 20u, 100u}) {
      for (const std::size_t blocks : {15u, 16u, 17u, 40u}) {
        SCOPED_TRACE(testing::Message() << blocks << " blocks of " << bytes << ", " << stride << " apart");
        const Runs runs{{0, bytes, stride, blocks}};
        const std::vector<std::ptrdiff_t> offsets = byte_offsets(runs, 0, 1);
        Bytes memory = numbered(2 * origin + 4096);
        const UserBuffer buffer{memory.data() + origin, 1, make(runs, 8)};
        const Bytes packed = pack_all(buffer);
        ASSERT_EQ(packed, expected_pack(memory.data() + origin, offsets));

        Bytes wanted(memory.size(), std::byte{0xEE});
        for (const std::ptrdiff_t offset : offsets)
          wanted[static_cast<std::size_t>(origin + offset)] = memory[static_cast<std::size_t>(origin + offset)];
        std::fill(memory.begin(), memory.end(), std::byte{0xEE});
        ASSERT_EQ(LayoutCursor(buffer).unpack(packed), packed.size());
        ASSERT_TRUE(memory == wanted);
      }
    }
  }
}

TEST(LayoutCursor, PackingInPiecesGivesTheSameBytes) {
  MixedBuffer mixed;
  const UserBuffer buffer = mixed.buffer();
  std::mt19937 random(7);
  for (std::size_t largest : {1u, 3u, 8u, 17u, 64u, 500u}) {
    Bytes packed(buffer.bytes());
    LayoutCursor cursor(buffer);
    for (std::size_t done = 0; done < packed.size();) {
      const std::size_t piece = std::min(packed.size() - done, 1 + random() % largest);
      ASSERT_EQ(cursor.pack(std::span(packed).subspan(done, piece)), piece);
      done += piece;
      ASSERT_EQ(cursor.offset(), done);
    }
    EXPECT_EQ(packed, mixed.expected()) << "pieces of up to " << largest;
  }
}

TEST(LayoutCursor, UnpackingInPiecesGivesTheSameMemory) {
  MixedBuffer mixed;
  const Bytes packed = mixed.expected();
  const Bytes before = mixed.memory;
  std::fill(mixed.memory.begin(), mixed.memory.end(), std::byte{});
  LayoutCursor cursor(mixed.buffer());
  std::mt19937 random(11);

  for (std::size_t done = 0; done < packed.size();) {
    done += cursor.unpack(std::span(packed).subspan(done, std::min(packed.size() - done, 1 + random() % 30)));
  }

  for (const std::ptrdiff_t offset : mixed.offsets) {
    const auto index = static_cast<std::size_t>(100 + offset);
    ASSERT_EQ(mixed.memory[index], before[index]) << "offset " << offset;
  }
}

TEST(LayoutCursor, SeekContinuesInTheMiddleOfABlock) {
  MixedBuffer mixed;
  const UserBuffer buffer = mixed.buffer();
  const Bytes expected = mixed.expected();
  LayoutCursor cursor(buffer);

  for (std::size_t start = expected.size(); start-- > 0;) {
    cursor.seek(start);
    Bytes piece(std::min<std::size_t>(21, expected.size() - start));
    ASSERT_EQ(cursor.pack(piece), piece.size());
    ASSERT_TRUE(std::equal(piece.begin(), piece.end(), expected.begin() + static_cast<std::ptrdiff_t>(start))) << start;
  }
}

TEST(LayoutCursor, SeekBeyondTheEndMeansTheEnd) {
  MixedBuffer mixed;
  LayoutCursor cursor(mixed.buffer());
  Bytes piece(10);

  cursor.seek(1'000'000);

  EXPECT_EQ(cursor.offset(), mixed.offsets.size());
  EXPECT_EQ(cursor.pack(piece), 0u);
}

TEST(LayoutCursor, UnpackIgnoresWhatDoesNotFit) {
  Bytes memory(32);
  const Bytes source = numbered(100);
  LayoutCursor cursor({memory.data(), 2, make({{0, 8}}, 16)});

  EXPECT_EQ(cursor.unpack(source), 16u);
  EXPECT_EQ(cursor.unpack(source), 0u);
  EXPECT_EQ(memory[24], std::byte{});
}

TEST(LayoutCursor, GatherDescribesTheBytesOfPack) {
  MixedBuffer mixed;
  const UserBuffer buffer = mixed.buffer();
  const Bytes expected = mixed.expected();
  for (const std::size_t limit : {1u, 5u, 13u, 64u, 100'000u}) {
    LayoutCursor cursor(buffer);
    Bytes gathered;
    std::vector<iovec> vectors(3);
    while (cursor.offset() < expected.size()) {
      const std::size_t used = cursor.gather(vectors, limit);
      ASSERT_GT(used, 0u);
      for (const iovec& range : std::span(vectors).first(used)) {
        const auto* start = static_cast<const std::byte*>(range.iov_base);
        gathered.insert(gathered.end(), start, start + range.iov_len);
      }
      ASSERT_EQ(cursor.offset(), gathered.size());
    }
    EXPECT_EQ(gathered, expected) << "limit " << limit;
  }
}

TEST(LayoutCursor, GatherOfAContiguousBufferIsOneRange) {
  Bytes memory(1000);
  LayoutCursor cursor({memory.data(), 100, Layout::contiguous(10)});
  std::vector<iovec> vectors(4);

  ASSERT_EQ(cursor.gather(vectors, 999), 1u);

  EXPECT_EQ(vectors[0].iov_base, memory.data());
  EXPECT_EQ(vectors[0].iov_len, 999u);
}

TEST(LayoutCursor, ZeroSizedBuffersHaveNoBytes) {
  Bytes target(8);
  iovec vector{};
  LayoutCursor no_elements({nullptr, 0, Layout::contiguous(8)});
  LayoutCursor no_bytes({nullptr, 5, make({}, 64)});

  EXPECT_EQ(no_elements.pack(target), 0u);
  EXPECT_EQ(no_bytes.unpack(target), 0u);
  EXPECT_EQ(no_bytes.gather({&vector, 1}, 100), 0u);
}

TEST(LayoutCursor, AbsoluteOffsetsCountFromNullptr) {
  Bytes memory = numbered(64);
  const auto address = reinterpret_cast<std::ptrdiff_t>(memory.data());
  const Runs runs{{address + 40, 8}, {address, 4}};
  const UserBuffer buffer{nullptr, 1, make(runs, 8)};

  const Bytes packed = pack_all(buffer);

  EXPECT_EQ(packed, expected_pack(memory.data(), byte_offsets({{40, 8}, {0, 4}}, 8, 1)));
}

TEST(UserBuffer, SpanReachesFromTheFirstToTheLastByteOfAllElements) {
  auto* const base = reinterpret_cast<std::byte*>(0x10000);
  const UserBuffer upwards{base, 3, make({{-8, 4}, {20, 2}}, 100)};
  const UserBuffer downwards{base, 3, make({{-8, 4}, {20, 2}}, -100)};

  EXPECT_EQ(upwards.span().begin, 0x10000u - 8);
  EXPECT_EQ(upwards.span().end, 0x10000u + 222);
  EXPECT_EQ(downwards.span().begin, 0x10000u - 208);
  EXPECT_EQ(downwards.span().end, 0x10000u + 22);
}

TEST(LayoutCursor, OverlappingBlocksAreSentTwice) {
  Bytes memory = numbered(16);
  const UserBuffer buffer{memory.data(), 2, make({{0, 8, 0, 2}, {4, 8}}, 2)};

  EXPECT_EQ(pack_all(buffer), expected_pack(memory.data(), byte_offsets({{0, 8, 0, 2}, {4, 8}}, 2, 2)));
}

TEST(LayoutCursor, EveryBlockSizeIsCopiedExactly) {
  for (std::size_t bytes = 1; bytes <= 130; ++bytes) {
    const Runs runs{{3, bytes, 140, 5}};
    Bytes memory = numbered(800);
    const UserBuffer buffer{memory.data(), 1, make(runs, 700)};
    const Bytes expected = expected_pack(memory.data(), byte_offsets(runs, 700, 1));

    ASSERT_EQ(pack_all(buffer), expected) << bytes;
    Bytes copy(800, std::byte{0xEE});
    LayoutCursor({copy.data(), 1, buffer.layout}).unpack(expected);
    ASSERT_EQ(pack_all({copy.data(), 1, buffer.layout}), expected) << bytes;
    ASSERT_EQ(std::count(copy.begin() + 3 + static_cast<std::ptrdiff_t>(bytes), copy.begin() + 143, std::byte{0xEE}),
              140 - static_cast<std::ptrdiff_t>(bytes));
  }
}

TEST(LayoutCursor, ReachesBytesBeyondFourGibibytes) {
  constexpr std::size_t elements = std::size_t{5} << 20;  // of 1 KiB, at 4 KiB distances: 5 GiB packed, 20 GiB spanned
  constexpr std::size_t span = elements * 4096;
  void* mapping = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  auto* base = static_cast<std::byte*>(mapping);
  const UserBuffer buffer{base, elements, make({{0, 1024}}, 4096)};
  const Bytes source = numbered(2000);
  LayoutCursor cursor(buffer);

  cursor.seek(buffer.bytes() - 1500);
  const std::size_t used = cursor.unpack(source);

  EXPECT_EQ(buffer.bytes(), std::size_t{5} << 30);
  EXPECT_EQ(used, 1500u);
  EXPECT_EQ(base[(elements - 2) * 4096 + 1023], source[475]);
  EXPECT_EQ(base[(elements - 1) * 4096 + 1023], source[1499]);
  munmap(mapping, span);
}

/// A layout of random depth together with its byte offsets.
struct RandomLayout {
  std::shared_ptr<const Layout> layout;
  std::vector<std::ptrdiff_t> offsets;
};

RandomLayout random_layout(std::mt19937& random, unsigned depth) {
  const auto below = [&random](unsigned limit) { return static_cast<std::ptrdiff_t>(random() % limit); };
  if (depth == 0) {
    const auto bytes = static_cast<std::size_t>(below(20));
    RandomLayout leaf{make({{below(30), bytes}}, 40), {}};
    list_offsets(leaf.layout->runs(), 0, leaf.offsets);
    return leaf;
  }
  RandomLayout result;
  LayoutBuilder builder;
  for (std::ptrdiff_t part = below(4); part >= 0; --part) {
    const RandomLayout inner = random_layout(random, depth - 1);
    const std::ptrdiff_t offset = below(200) - 100;
    const std::ptrdiff_t stride = below(3) == 0 ? static_cast<std::ptrdiff_t>(inner.layout->size()) : below(300) - 150;
    const std::ptrdiff_t count = below(6) * (below(10) == 0 ? 20 : 1);
    builder.add(inner.layout, offset, stride, static_cast<std::size_t>(count));
    for (std::ptrdiff_t element = 0; element < count; ++element) {
      for (const std::ptrdiff_t byte : inner.offsets) result.offsets.push_back(offset + stride * element + byte);
    }
  }
  result.layout = builder.finish(below(500));
  return result;
}

TEST(LayoutCursor, RandomNestedLayoutsPackTheirBytes) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const RandomLayout made = random_layout(random, 1 + seed % 3);
    ASSERT_EQ(made.layout->size(), made.offsets.size()) << "seed " << seed;
    if (made.offsets.empty()) continue;
    const auto [lowest, highest] = std::minmax_element(made.offsets.begin(), made.offsets.end());
    ASSERT_EQ(made.layout->first_byte(), *lowest) << "seed " << seed;
    ASSERT_EQ(made.layout->last_byte(), *highest + 1) << "seed " << seed;
    Bytes memory = numbered(static_cast<std::size_t>(*highest + 1 - *lowest));
    std::byte* base = memory.data() - *lowest;
    const Bytes expected = expected_pack(base, made.offsets);

    ASSERT_EQ(pack_all({base, 1, made.layout}), expected) << "seed " << seed;
    LayoutCursor cursor({base, 1, made.layout});
    Bytes pieces(expected.size());
    for (std::size_t done = 0; done < pieces.size();) {
      done += cursor.pack(std::span(pieces).subspan(done, std::min<std::size_t>(pieces.size() - done, 1 + random() % 300)));
    }
    ASSERT_EQ(pieces, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice
