// A live endpoint, engine and all, among callers who send random bytes, or nothing: they change nothing and are counted.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/support/attacked_job.hpp"

namespace sluice {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr int random_streams = 1000;
#else
constexpr int random_streams = 10000;
#endif

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// What such a caller might send: anything, sometimes after the beginning of a hello, or after a whole one that claims to be the
/// other rank.
Bytes stream_of_bytes(std::mt19937& random) {
  const auto hello = Handshake::initiate(secret, other, self, Nonce{std::byte{1}});
  Bytes bytes(hello.output().begin(), hello.output().end());
  bytes.resize(random() % 3 == 0 ? bytes.size() : random() % (bytes.size() - sizeof(Nonce)));
  const Bytes rest = random_bytes(random, Handshake::proof_bytes + random() % 200);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

class Unauthenticated : public testing::Test {
 protected:
  Unauthenticated() {
    Listener first = loopback_listener();
    Listener second = loopback_listener();
    endpoints_ = {first.endpoint(), second.endpoint()};
    attacked_.emplace(self, std::move(first), endpoints_);
    peer_.emplace(other, std::move(second), endpoints_);
  }

  /// Messages to and fro, each checked, as long as `go_on`.
  void exchange(const std::atomic<bool>& go_on) {
    std::thread partner([this] {
      for (bool last = false; !last;) {
        Bytes buffer(max_bytes);
        buffer.resize(peer_->receive(Rank{0}, Tag{1}, buffer).bytes);
        peer_->send(Rank{0}, Tag{2}, buffer);
        last = buffer.empty();
      }
      peer_->engine->drain();
    });
    std::mt19937 random(1);
    for (bool last = false; !last;) {
      last = !go_on.load();
      const Bytes sent = random_bytes(random, last ? 0 : 1 + random() % max_bytes);
      Bytes echo(sent.size());
      attacked_->send(Rank{1}, Tag{1}, sent);
      attacked_->receive(Rank{1}, Tag{2}, echo);
      if (echo != sent) ADD_FAILURE() << sent.size() << " bytes came back changed";
      if (!last) std::this_thread::sleep_for(1ms);
    }
    attacked_->engine->drain();
    partner.join();
  }

  static constexpr std::size_t max_bytes = 100'000;
  std::vector<TcpEndpoint> endpoints_;
  std::optional<Process> attacked_;
  std::optional<Process> peer_;
};

TEST_F(Unauthenticated, random_bytes_change_nothing_and_are_counted) {
  std::atomic<bool> go_on{true};
  std::thread attacker([&] {
    std::mt19937 random(2);
    for (int count = 0; count < random_streams; ++count) {
      const Descriptor socket = connect_to(endpoints_[0]);
      send_all(socket, stream_of_bytes(random));
      leave(socket);
    }
    go_on = false;
  });
  exchange(go_on);
  attacker.join();

  EXPECT_EQ(attacked_->count_rejected(random_streams), static_cast<std::uint64_t>(random_streams));
  EXPECT_EQ(attacked_->transport.vanished(), Peer{-1});
}

TEST_F(Unauthenticated, those_who_say_nothing_take_a_bounded_number_of_places_and_keep_nobody_out) {
  constexpr std::size_t silent = 3 * Connector::max_unauthenticated;
  std::vector<Descriptor> callers;
  const std::size_t before = open_descriptors();
  for (std::size_t count = 0; count < silent; ++count) callers.push_back(connect_to(endpoints_[0]));
  std::this_thread::sleep_for(200ms);
  EXPECT_LE(open_descriptors(), before + silent + Connector::max_unauthenticated);

  exchange(false);
  EXPECT_GE(attacked_->count_rejected(silent - Connector::max_unauthenticated), silent - Connector::max_unauthenticated);
}

}  // namespace
}  // namespace sluice
