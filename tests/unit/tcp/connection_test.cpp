// One connection over a pair of sockets.

#include "tcp/connection.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <string>

#include "tests/unit/support/recording_sink.hpp"

namespace sluice {
namespace {

constexpr std::size_t staging_bytes = std::size_t{256} << 10;

/// Gives data of subject 7 a place, and begins eager messages early when told to.
class PlacingSink : public RecordingSink {
 public:
  std::span<std::byte> place(Peer, const WireHeader& header, std::size_t max_bytes) override {
    if (header.subject != 7) return {};
    return std::span(target).subspan(filled, std::min(max_bytes, target.size() - filled));
  }
  void on_placed(Peer, const WireHeader&, std::size_t bytes) override { filled += bytes; }
  Begun begin(Peer, const WireHeader&, std::span<const std::byte>) override { return {begins ? std::uint64_t{7} : 0, 0}; }

  std::vector<std::byte> target;
  std::size_t filled = 0;
  bool begins = false;
};

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> sockets{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets.data()), 0);
    near_socket = Descriptor(sockets[0]);
    far_socket = Descriptor(sockets[1]);
  }
  void open() {
    near.open(std::move(near_socket));
    far.open(std::move(far_socket));
  }
  static bool put(Connection& by, const std::string& text, MessageKind kind = MessageKind::eager) {
    std::byte* room = by.reserve(text.size());
    if (!room) return false;
    std::memcpy(room, text.data(), text.size());
    WireHeader header;
    header.kind = kind;
    header.payload_bytes = static_cast<std::uint32_t>(text.size());
    by.commit(header);
    return true;
  }
  void receive_all() {
    while (far.receive(sink) == Connection::Arrival::something) {
    }
  }
  /// Streams all of `data` under a subject while the other side reads.
  void stream(std::uint64_t subject, std::span<const std::byte> data) {
    for (std::size_t sent = 0; sent < data.size();) {
      sent += near.stream(subject, data.subspan(sent));
      receive_all();
      near.flush();
    }
  }
  static std::vector<std::byte> pattern(std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 7 + i / 251) & 0xff);
    return data;
  }

  Descriptor near_socket;
  Descriptor far_socket;
  Connection near{Peer{1}, staging_bytes};
  Connection far{Peer{0}, staging_bytes};
  PlacingSink sink;
};

TEST_F(ConnectionTest, messages_arrive_whole_and_in_order) {
  open();
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(put(near, std::string(static_cast<std::size_t>(i * 37), static_cast<char>('a' + i % 26))));
  while (near.holds_output()) {
    receive_all();
    near.flush();
  }
  receive_all();

  ASSERT_EQ(sink.messages.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(sink.messages[static_cast<std::size_t>(i)].payload,
              std::string(static_cast<std::size_t>(i * 37), static_cast<char>('a' + i % 26)));
  }
}

TEST_F(ConnectionTest, what_was_staged_before_the_connection_was_open_goes_out_then) {
  ASSERT_TRUE(put(near, "early"));
  EXPECT_TRUE(near.holds_output());
  open();
  near.flush();
  receive_all();

  EXPECT_FALSE(near.holds_output());
  ASSERT_EQ(sink.messages.size(), 1U);
  EXPECT_EQ(sink.messages[0].payload, "early");
}

TEST_F(ConnectionTest, slow_reader_costs_no_more_than_the_staging_buffer_and_room_is_told_later) {
  open();
  int accepted = 0;
  while (put(near, std::string(16000, 'x'))) ++accepted;
  EXPECT_TRUE(near.is_blocked());
  EXPECT_FALSE(near.owes_room());

  bool told = false;
  while (near.holds_output()) {
    told |= near.owes_room();
    receive_all();
    near.flush();
  }
  receive_all();
  EXPECT_TRUE(told || near.owes_room());
  EXPECT_EQ(sink.messages.size(), static_cast<std::size_t>(accepted));
}

TEST_F(ConnectionTest, streamed_bytes_go_straight_to_their_place) {
  open();
  const auto data = pattern(3'000'001);
  sink.target.resize(data.size());
  stream(7, data);
  receive_all();

  EXPECT_EQ(sink.filled, data.size());
  EXPECT_EQ(sink.target, data);
  EXPECT_TRUE(sink.messages.empty());
}

TEST_F(ConnectionTest, streamed_bytes_without_a_place_are_handed_over_in_segments) {
  open();
  const auto data = pattern(500'000);
  stream(8, data);
  receive_all();

  std::string got;
  for (const auto& message : sink.messages) {
    EXPECT_EQ(message.header.kind, MessageKind::data);
    EXPECT_EQ(message.header.payload_bytes, message.payload.size());
    got += message.payload;
  }
  EXPECT_EQ(got, std::string(reinterpret_cast<const char*>(data.data()), data.size()));
}

TEST_F(ConnectionTest, message_waits_for_the_end_of_a_frame_that_has_begun) {
  open();
  const auto data = pattern(Connection::frame_bytes);
  sink.target.resize(data.size());
  std::size_t sent = near.stream(7, std::span(data).first(data.size()));
  while (sent == data.size()) {  // until the socket is full in the middle of a frame
    sink.target.resize(sink.target.size() + data.size());
    sent = near.stream(7, data);
  }
  ASSERT_TRUE(put(near, "between"));
  for (int i = 0; sent < data.size() && i < 1000; ++i) {
    receive_all();
    EXPECT_TRUE(sink.messages.empty());
    near.flush();
    EXPECT_EQ(near.stream(9, data), 0U);  // another subject waits as well
    sent += near.stream(7, std::span(data).subspan(sent));
  }
  receive_all();

  ASSERT_EQ(sink.messages.size(), 1U);
  EXPECT_EQ(sink.messages[0].payload, "between");
  EXPECT_EQ(sink.filled, sink.target.size());
}

TEST_F(ConnectionTest, message_sent_without_staging_arrives_even_when_the_socket_takes_only_a_part) {
  open();
  const auto data = pattern(60'000);
  WireHeader header;
  header.kind = MessageKind::eager;
  header.payload_bytes = static_cast<std::uint32_t>(data.size());
  std::size_t accepted = 0;
  while (near.send(header, std::span(data).first(100), std::span(data).subspan(100))) ++accepted;
  EXPECT_TRUE(near.holds_output());
  while (near.holds_output()) {
    receive_all();
    near.flush();
  }
  receive_all();

  ASSERT_EQ(sink.messages.size(), accepted);
  const std::string expected(reinterpret_cast<const char*>(data.data()), data.size());
  for (const auto& message : sink.messages) EXPECT_EQ(message.payload, expected);
}

TEST_F(ConnectionTest, eager_message_whose_receive_is_there_goes_straight_to_it) {
  open();
  const auto data = pattern(60'000);
  sink.target.resize(data.size());
  sink.begins = true;
  put(near, std::string(reinterpret_cast<const char*>(data.data()), data.size()));
  receive_all();

  EXPECT_TRUE(sink.messages.empty());
  EXPECT_EQ(sink.target, data);
}

/// Over TCP: who sleeps is woken as the socket says.
class WakeWithinFrames : public ConnectionTest {
 protected:
  void SetUp() override {
    const Descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    socklen_t bytes = sizeof address;
    ASSERT_EQ(::bind(listener.get(), place, bytes), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    ASSERT_EQ(::getsockname(listener.get(), place, &bytes), 0);
    near_socket = Descriptor(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(near_socket.get(), place, bytes), 0);
    far_socket = Descriptor(::accept(listener.get(), nullptr, nullptr));
    ASSERT_TRUE(far_socket);
    far.open(std::move(far_socket));

    sink.target.resize(data.size());
    WireHeader header;
    header.kind = MessageKind::data;
    header.subject = 7;
    header.payload_bytes = static_cast<std::uint32_t>(data.size());
    frame::Header encoded{};
    frame::encode(header, encoded);
    write(encoded);
    write(std::span(data).first(begun));
    receive_until(begun);
  }
  void receive_until(std::size_t filled) {
    while (sink.filled < filled) {
      ASSERT_TRUE(is_readable(1000));
      receive_all();
    }
  }
  /// The first `few` bytes of what is left wake nobody, the next `more` do.
  void expect_to_wake_with_the_second_part(std::size_t few, std::size_t more) const {
    write(std::span(data).subspan(begun, few));
    EXPECT_FALSE(is_readable(20));
    write(std::span(data).subspan(begun + few, more));
    EXPECT_TRUE(is_readable(1000));
  }
  void write(std::span<const std::byte> bytes) const {
    ASSERT_EQ(::send(near_socket.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] bool is_readable(int within_ms) const {
    pollfd file{far.descriptor(), POLLIN, 0};
    return ::poll(&file, 1, within_ms) == 1;
  }

  static constexpr std::size_t begun = 1'000;
  const std::vector<std::byte> data = pattern(60'000);
};

TEST_F(WakeWithinFrames, by_so_many_bytes_and_no_fewer) {
  far.wake_within_frame_by(20'000);
  expect_to_wake_with_the_second_part(10'000, 10'000);
}

TEST_F(WakeWithinFrames, by_the_rest_of_the_frame) {
  far.wake_within_frame_by(1'000'000);
  expect_to_wake_with_the_second_part(50'000, data.size() - begun - 50'000);
  receive_until(data.size());
  EXPECT_EQ(sink.target, data);
}

TEST_F(WakeWithinFrames, by_anything_between_frames) {
  far.wake_within_frame_by(1'000'000);
  write(std::span(data).subspan(begun));
  receive_until(data.size());
  far.wake_within_frame_by(1'000'000);
  write(std::span(data).first(1));
  EXPECT_TRUE(is_readable(1000));
}

TEST_F(WakeWithinFrames, by_anything_again_and_by_the_end_of_the_connection) {
  far.wake_within_frame_by(20'000);
  write(std::span(data).subspan(begun, 1));
  EXPECT_FALSE(is_readable(20));
  far.wake_within_frame_by(1);
  EXPECT_TRUE(is_readable(1000));
  receive_all();
  far.wake_within_frame_by(20'000);
  EXPECT_FALSE(is_readable(20));
  near_socket.reset();
  EXPECT_TRUE(is_readable(1000));
}

TEST_F(ConnectionTest, bytes_that_are_no_message_are_noticed) {
  const std::string nonsense = "GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n";
  ASSERT_EQ(::send(near_socket.get(), nonsense.data(), nonsense.size(), 0), static_cast<ssize_t>(nonsense.size()));
  far.open(std::move(far_socket));

  EXPECT_EQ(far.receive(sink), Connection::Arrival::damaged);
  EXPECT_TRUE(sink.messages.empty());
}

TEST_F(ConnectionTest, end_in_the_middle_of_a_message_is_noticed) {
  open();
  put(near, std::string(1000, 'x'));
  near.close();

  EXPECT_EQ(far.receive(sink), Connection::Arrival::something);
  EXPECT_EQ(far.receive(sink), Connection::Arrival::end);
}

}  // namespace
}  // namespace sluice
