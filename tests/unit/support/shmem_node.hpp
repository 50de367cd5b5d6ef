// Processes of one node, for the tests of the shared-memory transport: either all inside the test's process, or forked.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shmem/transport.hpp"

namespace sluice {

using Clock = std::chrono::steady_clock;

inline Peer peer_of(std::size_t index) { return Peer{static_cast<std::int32_t>(index)}; }

inline ShmemBootstrap::Options node_options(std::size_t self, std::size_t size, int alias_file = -1) {
  ShmemBootstrap::Options options;
  options.self = peer_of(self);
  for (std::size_t i = 0; i < size; i++) options.local.push_back(peer_of(i));
  options.alias_file = alias_file;
  options.deadline = Clock::now() + std::chrono::seconds(30);
  return options;
}

/// Every process of a node inside this one: as many transports, each with its own mapping of everything.
class ShmemNode {
 public:
  static constexpr std::size_t processors = 2;

  explicit ShmemNode(std::size_t size, CopyMode mode = CopyMode::automatic, int alias_file = -1) {
    std::vector<std::unique_ptr<ShmemBootstrap>> bootstraps;
    std::vector<ShmemAddress> addresses;
    for (std::size_t i = 0; i < size; i++) {
      bootstraps.push_back(std::make_unique<ShmemBootstrap>(node_options(i, size, alias_file)));
      addresses.push_back(bootstraps.back()->address());
    }
    std::vector<std::exception_ptr> errors(size);
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < size; i++) {
        threads.emplace_back([&, i] {
          try {
            bootstraps[i]->connect(addresses);
          } catch (...) {
            errors[i] = std::current_exception();
          }
        });
      }
    }
    for (const auto& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    for (auto& bootstrap : bootstraps) {
      transports_.push_back(std::make_unique<ShmemTransport>(std::move(*bootstrap), mode, size > processors));
    }
  }

  ShmemTransport& operator[](std::size_t index) { return *transports_[index]; }

  /// The transport's process leaves properly.
  void end(std::size_t index) { transports_[index].reset(); }

 private:
  std::vector<std::unique_ptr<ShmemTransport>> transports_;
};

/// Memory that forked processes of a test share, apart from what they test.
struct Board {
  std::atomic<std::size_t> arrived;
  std::array<ShmemAddress, 8> addresses;
  std::array<std::atomic<std::uint64_t>, 8> words;  // for the test's own use

  static Board* make() {
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : new (memory) Board();
  }
};

/// What one forked process does; false fails the test.
using ForkedBody = std::function<bool(ShmemTransport&, Board&)>;

/// Introduces this process, one of `size`, to the others by the board.
inline std::unique_ptr<ShmemTransport> join_node(Board& board, std::size_t self, std::size_t size,
                                                 CopyMode mode = CopyMode::automatic, int alias_file = -1) {
  ShmemBootstrap bootstrap(node_options(self, size, alias_file));
  board.addresses[self] = bootstrap.address();
  board.arrived++;
  while (board.arrived != size) std::this_thread::yield();
  bootstrap.connect(std::span(board.addresses).first(size));
  return std::make_unique<ShmemTransport>(std::move(bootstrap), mode, size > ShmemNode::processors);
}

/// A forked process of a node; killed at the end of the test if it is still there.
class ForkedPeer {
 public:
  ForkedPeer(Board& board, std::size_t self, std::size_t size, const ForkedBody& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    bool good = false;
    try {
      const auto transport = join_node(board, self, size);
      good = body(*transport, board);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "forked peer %zu: %s\n", self, error.what());
    }
    ::_exit(good ? 0 : 1);
  }
  ~ForkedPeer() {
    if (pid_ > 0) kill_and_wait();
  }
  ForkedPeer(const ForkedPeer&) = delete;
  ForkedPeer& operator=(const ForkedPeer&) = delete;

  void kill_and_wait() {
    ::kill(pid_, SIGKILL);
    wait();
  }

  /// Waits for its end; true when its body returned true.
  bool wait() {
    int status = -1;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status == 0;
  }

 private:
  pid_t pid_;
};

}  // namespace sluice
