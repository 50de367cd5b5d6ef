// A live endpoint, engine and all, and a peer that has proven itself and then sends damaged frames: they end the job with one
// clear line.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/support/attacked_job.hpp"

namespace sluice {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr int mutated_frames = 100;
#else
constexpr int mutated_frames = 1000;
#endif

constexpr std::size_t large = 200'000;
constexpr std::size_t max_eager = 60'000;
constexpr Tag tag_of_small{3};
constexpr Tag tag_of_medium{7};
constexpr Tag tag_of_large{4};
constexpr Tag tag_of_nothing{9};

/// The attacked process, in a process of its own: with every operation under way that a reply could name. Never returns.
[[noreturn]] void be_attacked(Listener listener, const std::vector<TcpEndpoint>& endpoints) {
  Process process(self, std::move(listener), endpoints);
  Bytes small(1000);
  Bytes medium(max_eager);
  Bytes received(large);
  Bytes received_next(large);
  Bytes sent(large);
  Bytes synchronous(100);
  const auto contiguous = [](Bytes& bytes) { return UserBuffer{bytes.data(), bytes.size(), Layout::contiguous(1)}; };
  Engine& engine = *process.engine;
  engine.start_receive(*process.world, Rank{1}, tag_of_small, contiguous(small), here);
  engine.start_receive(*process.world, Rank{1}, tag_of_medium, contiguous(medium), here);
  engine.start_receive(*process.world, Rank{1}, tag_of_large, contiguous(received), here);
  engine.start_receive(*process.world, Rank{1}, tag_of_large, contiguous(received_next), here);
  engine.start_send(*process.world, Rank{1}, Tag{5}, contiguous(sent), SendMode::standard, here);
  engine.start_send(*process.world, Rank{1}, Tag{6}, contiguous(synchronous), SendMode::synchronous, here);
  Bytes nothing(1);
  process.receive(Rank{1}, tag_of_nothing, nothing);  // until the end
  ::_exit(0);
}

/// The attacker's side of a proven connection.
class Attacker {
 public:
  Attacker(Descriptor socket, std::mt19937& random) : socket_(std::move(socket)), random_(random) {
    const timeval limit{10, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  bool answer_handshake() {
    auto handshake = Handshake::accept(secret, other, job_size, Nonce{std::byte{3}});
    while (handshake.state() == Handshake::State::going_on) {
      Bytes record(handshake.wanted());
      if (!receive_all(socket_, record)) return false;
      handshake.feed(record);
      say_output(handshake);
    }
    if (handshake.state() != Handshake::State::proven) return false;
    handshake.decide(true);
    say_output(handshake);
    return true;
  }

  /// The announcement of the large message and the synchronous one, and the clearance for a large one of ours.
  bool learn_names() {
    say(frame_of(MessageKind::rts, 0, ReadyToSend{large, 77, 0}, tag_of_large));
    while (rts_ == 0 || synchronous_ == 0 || cleared_ == 0) {
      if (!hear()) return false;
    }
    return true;
  }

  Bytes genuine() {
    switch (random_() % 9) {
      case 0:
        return frame_of(MessageKind::eager, world, random_bytes(random_, random_() % 1000), tag_of_small);
      case 1: {  // so long that its receive is found, and its bytes are placed, before it is complete
        const Bytes bytes = random_bytes(random_, random_() % max_eager);
        return frame_of(MessageKind::eager, world, bytes, tag_of_medium);
      }
      case 2: {
        const ReadyToSend rts{large, 78, 0};
        Bytes bytes = random_bytes(random_, sizeof rts + random_() % max_eager);
        std::memcpy(bytes.data(), &rts, sizeof rts);
        return frame_of(MessageKind::rts, world, bytes, random_() % 2 == 0 ? tag_of_small : tag_of_large);
      }
      case 3:
        return frame_of(MessageKind::cts, rts_,
                        ClearToSend{.receiver_request = 79, .limit = large, .delivery = Delivery::stream});
      case 4:
        return frame_of(MessageKind::fin, rts_, Bytes());
      case 5:
        return frame_of(MessageKind::ack, synchronous_, Bytes());
      case 6:
        return frame_of(MessageKind::refuse, cleared_, Refusal{1000});
      default:
        return frame_of(MessageKind::data, cleared_, random_bytes(random_, 1 + random_() % 2000));
    }
  }

  Bytes mutated() {
    Bytes bytes = genuine();
    for (auto changes = 1 + random_() % 4; changes > 0; --changes) mutate(bytes);
    return bytes;
  }

  void say(std::span<const std::byte> bytes) { send_all(socket_, bytes); }
  void leave() { sluice::leave(socket_); }

 private:
  static constexpr auto world = static_cast<std::uint64_t>(world_id);

  void say_output(Handshake& handshake) {
    const auto output = handshake.output();
    say(output);
    handshake.sent(output.size());
  }

  static Bytes frame_of(MessageKind kind, std::uint64_t subject, std::span<const std::byte> payload, Tag tag = {}) {
    WireHeader header;
    header.kind = kind;
    header.subject = kind == MessageKind::rts ? world : subject;
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    if (kind == MessageKind::eager || kind == MessageKind::rts) {
      header.source = Rank{1};
      header.tag = tag;
    }
    Bytes bytes(frame::header_bytes + payload.size());
    frame::encode(header, std::span(bytes).first<frame::header_bytes>());
    if (!payload.empty()) std::memcpy(bytes.data() + frame::header_bytes, payload.data(), payload.size());
    return bytes;
  }
  template <class Payload>
  requires(!std::is_same_v<Payload, Bytes>) static Bytes
      frame_of(MessageKind kind, std::uint64_t subject, const Payload& payload, Tag tag = {}) {
    return frame_of(kind, subject, std::as_bytes(std::span(&payload, 1)), tag);
  }

  bool hear() {
    frame::Header encoded;
    if (!receive_all(socket_, encoded)) return false;
    const frame::Decoded frame = frame::decode(encoded, Connection::max_payload);
    EXPECT_TRUE(frame.good()) << frame::explain(encoded, Connection::max_payload);
    Bytes payload(frame.header.payload_bytes);
    if (!frame.good() || !receive_all(socket_, payload)) return false;
    if (frame.header.kind == MessageKind::rts) rts_ = read_at<ReadyToSend>(payload, 0).sender_request;
    if (frame.header.kind == MessageKind::eager) synchronous_ = read_at<std::uint64_t>(payload, payload.size() - 8);
    if (frame.header.kind == MessageKind::cts) cleared_ = read_at<ClearToSend>(payload, 0).receiver_request;
    return true;
  }

  template <class Value>
  static Value read_at(const Bytes& bytes, std::size_t place) {
    Value value;
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
  }

  /// One change, more often in the header than elsewhere.
  void mutate(Bytes& bytes) {
    const std::size_t span = random_() % 4 != 0 ? std::min(bytes.size(), frame::header_bytes + 48) : bytes.size();
    if (span == 0) return;
    const std::size_t place = random_() % span;
    switch (random_() % 6) {
      case 0:
      case 1:
        bytes[place] ^= static_cast<std::byte>(1U << random_() % 8);
        return;
      case 2:
        bytes[place] = static_cast<std::byte>(random_());
        return;
      case 3: {  // a number that is small, or as large as can be
        const std::size_t first = place / 4 * 4;
        const std::uint32_t number = std::array{0U, 1U, 15U, 0x7fffffffU, 0x80000000U, 0xffffffffU}[random_() % 6];
        if (first + sizeof number <= bytes.size()) std::memcpy(bytes.data() + first, &number, sizeof number);
        return;
      }
      case 4:
        bytes.resize(place);
        return;
      default:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place), static_cast<std::byte>(random_()));
    }
  }

  Descriptor socket_;
  std::mt19937& random_;
  std::uint64_t rts_ = 0;
  std::uint64_t synchronous_ = 0;
  std::uint64_t cleared_ = 0;
};

struct Ending {
  int status = 0;
  std::string said;
};

/// Forks the attacked process, lets `attack` happen, and tells how it ended.
template <class Attack>
Ending end_of_attacked(std::mt19937& random, const Attack& attack) {
  Listener attacked = loopback_listener();
  Listener own = loopback_listener();
  const std::vector<TcpEndpoint> endpoints{attacked.endpoint(), own.endpoint()};
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  Descriptor errors(ends[0]);
  Descriptor errors_in(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(errors_in.get(), STDERR_FILENO);
    be_attacked(std::move(attacked), endpoints);
  }
  errors_in.reset();
  attacked = Listener();
  pollfd caller{own.sockets()[0].get(), POLLIN, 0};
  while (::poll(&caller, 1, 10'000) < 0) {
  }
  Attacker attacker(Descriptor(::accept4(caller.fd, nullptr, nullptr, SOCK_CLOEXEC)), random);
  EXPECT_TRUE(attacker.answer_handshake());
  EXPECT_TRUE(attacker.learn_names());
  attack(attacker);
  attacker.leave();
  Ending ending;
  std::array<char, 4096> segment{};
  pollfd said{errors.get(), POLLIN, 0};
  for (int found = 0; ending.said.find('\n') == std::string::npos && (found = ::poll(&said, 1, 20'000)) != 0;) {
    if (found < 0) continue;  // stopped and continued
    const ssize_t bytes = ::read(errors.get(), segment.data(), segment.size());
    if (bytes <= 0) break;
    ending.said.append(segment.data(), static_cast<std::size_t>(bytes));
  }
  ::kill(child, SIGKILL);  // it leaves the launcher some time to end the job
  ::waitpid(child, &ending.status, 0);
  return ending;
}

bool is_one_clear_line(const Ending& ending) {
  const bool one_line = std::count(ending.said.begin(), ending.said.end(), '\n') == 1;
  const bool by_itself = WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == EXIT_FAILURE;
  const bool waiting = WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGKILL;
  return (by_itself || waiting) && one_line && ending.said.starts_with("sluice: rank 0: ") &&
         ending.said.find("rank 1") != std::string::npos;
}

TEST(HostilePeer, mutated_frames_end_in_one_clear_line) {
  std::mt19937 random(3);
  for (int count = 0; count < mutated_frames && !HasFailure(); ++count) {
    Bytes frame;
    const Ending ending = end_of_attacked(random, [&](Attacker& attacker) {
      for (auto before = random() % 3; before > 0; --before) attacker.say(attacker.genuine());
      frame = attacker.mutated();
      attacker.say(frame);
    });
    EXPECT_TRUE(is_one_clear_line(ending)) << "frame " << count << ", status " << ending.status << ": " << ending.said;
  }
}

TEST(HostilePeer, error_names_peer_and_cause) {
  std::mt19937 random(4);
  const Ending ending = end_of_attacked(random, [&](Attacker& attacker) { attacker.say(random_bytes(random, 64)); });

  EXPECT_TRUE(is_one_clear_line(ending)) << ending.said;
  EXPECT_NE(ending.said.find("rank 1"), std::string::npos) << ending.said;
  EXPECT_NE(ending.said.find("a frame begins with"), std::string::npos) << ending.said;
}

}  // namespace
}  // namespace sluice
