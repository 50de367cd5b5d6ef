#include "shmem/ring.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t lap = 4096;
constexpr std::size_t capacity = 4 * lap;
constexpr std::size_t largest = ring::largest_payload(capacity);

struct alignas(cache_line) Memory {
  RingControl control{};
  std::array<std::byte, capacity> buffer{};
};

struct Ring {
  explicit Ring(Memory& the_memory) : memory(the_memory) {}

  Memory& memory;
  RingWriter writer{&memory.control, memory.buffer.data(), capacity, lap, true};
  RingReader reader{&memory.control, memory.buffer.data(), capacity, lap};

  bool send(std::uint64_t number, std::size_t bytes) {
    std::byte* room = writer.reserve(bytes);
    if (!room) return false;
    std::memset(room, static_cast<int>(number & 0xff), bytes);
    WireHeader header;
    header.kind = MessageKind::eager;
    header.payload_bytes = static_cast<std::uint32_t>(bytes);
    header.subject = number;
    writer.publish(header, true);
    return true;
  }

  struct Received {
    std::uint64_t number = 0;
    std::size_t bytes = 0;
    bool intact = true;
  };

  std::optional<Received> receive() {
    Received received;
    const auto found = reader.take([&](const WireHeader& header, std::span<const std::byte> payload) {
      received = {header.subject, payload.size(), true};
      for (const std::byte byte : payload) received.intact = received.intact && byte == std::byte(header.subject & 0xff);
    });
    if (found != RingReader::Found::message) return std::nullopt;
    return received;
  }
};

struct RingTest : testing::Test {
  std::unique_ptr<Memory> memory = std::make_unique<Memory>();
  Ring ring{*memory};
};

/// The size of message `number` in a random sequence that both sides know.
std::size_t size_of(std::uint64_t number) {
  std::minstd_rand random(static_cast<unsigned>(number + 1));
  random.discard(2);
  return random() % 3 == 0 ? random() % (largest + 1) : random() % 100;
}

TEST_F(RingTest, IsEmptyAtTheStart) {
  EXPECT_FALSE(ring.reader.pending());
  EXPECT_FALSE(ring.receive());
}

TEST_F(RingTest, DeliversAPayloadOfEverySizeIntact) {
  for (std::size_t bytes = 0; bytes <= largest; bytes++) {
    ASSERT_TRUE(ring.send(bytes, bytes));
    const auto received = ring.receive();
    ASSERT_TRUE(received) << bytes;
    EXPECT_EQ(received->bytes, bytes);
    EXPECT_TRUE(received->intact) << bytes;
    ring.reader.publish_head();
  }
}

TEST_F(RingTest, KeepsTheOrderOfMessages) {
  for (std::uint64_t number = 0; number < 10; number++) ASSERT_TRUE(ring.send(number, 20));
  for (std::uint64_t number = 0; number < 10; number++) EXPECT_EQ(ring.receive()->number, number);
}

TEST_F(RingTest, ARecordThatWasReservedIsInvisibleUntilItIsPublished) {
  ASSERT_TRUE(ring.writer.reserve(10));
  EXPECT_FALSE(ring.reader.pending());
}

TEST_F(RingTest, StalePayloadIsNeverTakenForARecord) {
  // Laps of records full of ones, each ending where the lap before had payload.
  for (std::uint64_t number = 0; number < 1000; number++) {
    ASSERT_TRUE(ring.send(0xff, 64 * (1 + number % 7)));
    ASSERT_TRUE(ring.receive());
    ASSERT_FALSE(ring.reader.pending()) << number;
    ring.reader.publish_head();
  }
}

TEST_F(RingTest, RefusesWhenFullAndAcceptsWhenEmptiedAgain) {
  std::uint64_t sent = 0;
  while (ring.send(sent, 100)) sent++;
  EXPECT_GE(sent * 192 + 2 * cache_line + 192, capacity);
  while (ring.receive()) {
  }
  ring.reader.publish_head();
  EXPECT_TRUE(ring.send(sent, 100));
}

TEST_F(RingTest, AnEmptyRingHasRoomForTheLargestPayloadWhereverItStands) {
  for (std::size_t lines = 0; lines < capacity / cache_line; lines++) {
    ASSERT_TRUE(ring.send(0, 0));
    ASSERT_TRUE(ring.receive());
    ring.reader.publish_head();
    ASSERT_TRUE(ring.send(1, largest)) << lines;
    ASSERT_EQ(ring.receive()->bytes, largest);
    ring.reader.publish_head();
  }
}

TEST_F(RingTest, MakesRoomKnownByHalfALapWithoutBeingAsked) {
  bool known = false;
  for (std::size_t i = 0; i < lap / cache_line && !known; i++) {
    ring.send(0, 64);
    ring.receive();
    ring.reader.yield_room();
    known = memory->control.head.load() != 0;
  }
  EXPECT_EQ(memory->control.head.load(), lap / 2);
}

/// Bytes of the buffer, from its start, that were ever written.
std::size_t used(const Memory& memory) {
  const auto last =
      std::find_if(memory.buffer.rbegin(), memory.buffer.rend(), [](std::byte byte) { return byte != std::byte{}; });
  return static_cast<std::size_t>(memory.buffer.rend() - last);
}

TEST_F(RingTest, StaysInTheFirstLapWhenTheConsumerKeepsUp) {
  constexpr std::size_t bytes = 200;
  for (std::uint64_t number = 1; number < 1000; number++) {
    ASSERT_TRUE(ring.send(number, bytes));
    const auto received = ring.receive();
    ASSERT_TRUE(received && received->number == number && received->bytes == bytes && received->intact) << number;
    ring.reader.yield_room();
  }
  EXPECT_LE(used(*memory), lap + 2 * (bytes + 2 * cache_line));
}

TEST_F(RingTest, UsesTheWholeBufferWhenTheConsumerIsBehind) {
  constexpr std::size_t bytes = 200;
  std::uint64_t sent = 0;
  while (ring.send(sent + 1, bytes)) sent++;
  EXPECT_GE(used(*memory), capacity - 2 * (bytes + 2 * cache_line));
  for (std::uint64_t number = 1; number <= sent; number++) ASSERT_EQ(ring.receive()->number, number);
}

TEST_F(RingTest, TurnsBackAgainAfterTheConsumerHasCaughtUp) {
  constexpr std::size_t bytes = 200;
  std::uint64_t number = 1;
  while (ring.send(number, bytes)) number++;
  while (ring.receive()) {
  }
  ring.reader.publish_head();
  const auto offset = [&](std::uint64_t value) {
    std::byte* room = nullptr;
    EXPECT_NE(room = ring.writer.reserve(bytes), nullptr);
    WireHeader header;
    header.subject = value;
    header.payload_bytes = bytes;
    ring.writer.publish(header, true);
    EXPECT_EQ(ring.receive()->number, value);
    ring.reader.yield_room();
    return static_cast<std::size_t>(room - memory->buffer.data());
  };
  std::size_t furthest = 0;
  for (int i = 0; i < 100; i++, number++) {
    const std::size_t place = offset(number);
    if (i >= 50) furthest = std::max(furthest, place);
  }
  EXPECT_LE(furthest, lap + 2 * (bytes + 2 * cache_line));
}

TEST_F(RingTest, LapsGrowUntilWhatTheProducerSendsAtOnceFits) {
  constexpr std::size_t bytes = 100;
  constexpr std::uint64_t burst = capacity / 2 / 192;  // of twice as long laps
  unsigned refused = 0;
  const auto send_burst = [&] {
    std::uint64_t sent = 0;
    for (; sent < burst && ring.send(sent, bytes); sent++) {
    }
    if (sent != burst) refused++;
    for (; sent != 0; sent--) ASSERT_TRUE(ring.receive());
    if (ring.reader.owes_room()) ring.reader.publish_head();
    ring.reader.yield_room();
  };
  for (int i = 0; i < 100; i++) send_burst();
  EXPECT_GE(refused, 1U) << "the laps fit from the start";
  refused = 0;
  for (int i = 0; i < 100; i++) send_burst();
  EXPECT_EQ(refused, 0U);
}

TEST_F(RingTest, AFailedReserveLeavesAWishThatTheReaderFinds) {
  while (ring.send(0, 64)) {
  }
  EXPECT_TRUE(ring.writer.wish_stands());
  EXPECT_FALSE(ring.reader.owes_room());
  ring.receive();
  EXPECT_TRUE(ring.reader.owes_room());
  EXPECT_TRUE(ring.reader.publish_head());
  EXPECT_FALSE(ring.writer.wish_stands());
  EXPECT_FALSE(ring.reader.publish_head());
}

struct CorruptRing : RingTest, testing::WithParamInterface<std::uint64_t> {};

TEST_P(CorruptRing, AnImpossibleRecordIsReportedAndNotRead) {
  reinterpret_cast<std::uint64_t&>(memory->buffer[0]) = GetParam();
  const auto found = ring.reader.take([](const WireHeader&, std::span<const std::byte>) { ADD_FAILURE() << "delivered"; });
  EXPECT_EQ(found, RingReader::Found::corrupt);
}

INSTANTIATE_TEST_SUITE_P(ControlWords, CorruptRing,
                         testing::Values(ring::small,                    // no length
                                         64 | 17,                        // no such sort
                                         (capacity + 64) | ring::small,  // beyond the buffer
                                         64 | ring::large,               // no place for its payload
                                         (capacity + 64) | ring::skip, ~std::uint64_t{0}));

TEST_F(RingTest, APayloadLongerThanItsRecordIsCorrupt) {
  ring.send(0, 8);
  WireHeader header;
  header.payload_bytes = 33;
  std::memcpy(memory->buffer.data() + 8, &header, sizeof header);
  const auto found = ring.reader.take([](const WireHeader&, std::span<const std::byte>) { ADD_FAILURE() << "delivered"; });
  EXPECT_EQ(found, RingReader::Found::corrupt);
}

void produce(Ring& ring, std::uint64_t messages) {
  for (std::uint64_t number = 0; number < messages; number++) {
    while (!ring.send(number, size_of(number))) std::this_thread::yield();
  }
}

/// The number of messages that came as they should, in order.
std::uint64_t consume(Ring& ring, std::uint64_t messages) {
  for (std::uint64_t number = 0; number < messages;) {
    const auto received = ring.receive();
    if (!received) {
      if (ring.reader.owes_room()) ring.reader.publish_head();
      std::this_thread::yield();
      continue;
    }
    if (received->number != number || received->bytes != size_of(number) || !received->intact) return number;
    ring.reader.yield_room();
    number++;
  }
  return messages;
}

TEST_F(RingTest, CarriesRandomSizesBetweenThreads) {
  constexpr std::uint64_t messages = 6000;  // hundreds of times round
  std::thread producer([&] { produce(ring, messages); });
  EXPECT_EQ(consume(ring, messages), messages);
  producer.join();
}

TEST_F(RingTest, IsSilentUntilThereIsAMessageOrAWish) {
  EXPECT_TRUE(ring.reader.is_silent());
  for (std::uint64_t number = 0; number < 100; number++) {  // several times round
    ASSERT_TRUE(ring.send(number, 1000));
    EXPECT_FALSE(ring.reader.is_silent());
    ASSERT_TRUE(ring.receive());
    EXPECT_EQ(ring.reader.is_silent(), !ring.reader.pending());
    ring.reader.yield_room();
  }
  while (ring.send(0, 1000)) {
  }
  while (ring.receive()) {
  }
  EXPECT_FALSE(ring.reader.is_silent()) << "the producer waits for room";
  EXPECT_TRUE(ring.reader.publish_head());
  EXPECT_TRUE(ring.reader.is_silent());
}

TEST(RingProcesses, CarriesRandomSizesBetweenProcesses) {
  constexpr std::uint64_t messages = 6000;  // hundreds of times round
  void* shared = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Ring ring(*new (shared) Memory());
  const pid_t child = fork();
  if (child == 0) {
    produce(ring, messages);
    _exit(0);
  }
  EXPECT_EQ(consume(ring, messages), messages);
  waitpid(child, nullptr, 0);
  munmap(shared, sizeof(Memory));
}

TEST_F(RingTest, AProducerThatWaitsOnlyForItsWishIsNeverForgotten) {
  constexpr std::uint64_t messages = 6000;  // hundreds of times round
  std::thread producer([&] {
    for (std::uint64_t number = 0; number < messages; number++) {
      while (!ring.send(number, size_of(number))) {
        while (ring.writer.wish_stands()) std::this_thread::yield();
      }
    }
  });
  EXPECT_EQ(consume(ring, messages), messages);
  producer.join();
}

}  // namespace
}  // namespace sluice
