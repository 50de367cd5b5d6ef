// A job of two processes over loopback whose rank 0 is attacked: what the tests of unauthenticated callers and of a hostile peer
// share.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "runtime/engine.hpp"
#include "tcp/transport.hpp"

namespace sluice {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::byte>;

inline constexpr CallSite here{1};
inline constexpr Peer self{0};
inline constexpr Peer other{1};
inline constexpr std::size_t job_size = 2;
inline constexpr ContextId world_id{1};
inline const JobSecret secret{std::byte{7}, std::byte{8}, std::byte{9}};

inline Listener loopback_listener() {
  const Address loopback = parse_address("127.0.0.1").value();
  return Listener({&loopback, 1});
}

inline TcpTransport::Options options_of(Peer rank) {
  TcpTransport::Options options;
  options.self = rank;
  options.secret = secret;
  options.timeout_seconds = 20;
  return options;
}

/// One process of the job: transport, engine, world.
struct Process {
  Process(Peer rank, Listener listener, const std::vector<TcpEndpoint>& endpoints)
      : transport(options_of(rank), std::move(listener), endpoints, std::vector<bool>(endpoints.size(), true)),
        engine(std::in_place,
               Engine::Parts{.self = rank, .job_size = job_size, .transport = &transport, .host = {}, .config = {}}),
        world(engine->contexts().adopt(world_id, {self, other}, static_cast<Rank>(rank))) {}

  void send(Rank to, Tag tag, const Bytes& data) {
    engine->send(*world, to, tag, data.data(), data.size(), SendMode::standard, here);
  }
  Outcome receive(Rank from, Tag tag, Bytes& data) { return engine->receive(*world, from, tag, data.data(), data.size(), here); }
  /// Ends the engine, since what is counted belongs to its lock, and goes on until so many were counted.
  std::uint64_t count_rejected(std::uint64_t expected) {
    engine.reset();
    const auto limit = Clock::now() + 20s;
    while (transport.statistics().rejected < expected && Clock::now() < limit) {
      transport.take_helper_events();
      transport.attend();
    }
    return transport.statistics().rejected;
  }

  TcpTransport transport;
  std::optional<Engine> engine;
  Context* world;
};

inline Descriptor connect_to(const TcpEndpoint& endpoint) {
  const SocketAddress address = to_sockaddr(endpoint.addresses[0], endpoint.ports[0]);
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), address.get(), address.bytes) != 0) ADD_FAILURE() << "connect: " << std::strerror(errno);
  return socket;
}

inline void send_all(const Descriptor& socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;  // the other end had enough
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

/// False at the end of the stream.
inline bool receive_all(const Descriptor& socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t received = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

/// Nothing more comes from here; what the other side says is heard to its end.
inline void leave(const Descriptor& socket) {
  ::shutdown(socket.get(), SHUT_WR);
  std::array<std::byte, 65536> sink{};
  while (::recv(socket.get(), sink.data(), sink.size(), 0) > 0) {
  }
}

inline Bytes random_bytes(std::mt19937& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace sluice
