// Both sides of a single copy inside a node, in one process, whose memory they share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/rendezvous/chunk_claims.hpp"
#include "runtime/rendezvous/node_way.hpp"
#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/guarded_block.hpp"
#include "tests/unit/support/node_fakes.hpp"

namespace sluice {

inline constexpr std::size_t chunk = std::size_t{32} << 10;
inline constexpr std::size_t bytes = 4 * chunk;
inline constexpr Peer sender_peer{0};
inline constexpr Peer receiver_peer{1};
using Asked = std::vector<std::string>;

inline std::string fallback(Fallback reason) { return "fall back " + std::to_string(static_cast<int>(reason)); }

/// One process.
struct Side {
  Side(Peer self, FakeNodeMemory& memory, AliasArena* arena)
      : below(self, memory, in_chunks(), arena),
        way({below.job, below.outbox, below.requests, below.blocks, below.users, below.matches, below.lines, below.statistics,
             copiers, adapter, below.ways}) {}
  static Config in_chunks() {
    Config config;
    config.copy_chunk = chunk;
    return config;
  }

  void copy() {
    Lock lock(mutex);
    way.work(lock);
  }
  void help() {
    Lock lock(mutex);
    way.delivery().help(lock);
  }
  Asked news() { return below.news(); }

  EngineBelow below;
  ApplicationNow application{.inside = 1};
  CopierChoice copiers{below.job, below.requests, below.lines, application};
  FakeChunkReader adapter;
  EngineLock mutex;
  NodeWay way;
};

class NodeWayTest : public ::testing::Test {
 protected:
  explicit NodeWayTest(bool has_blocks = true) : receiver_(receiver_peer, memory_, has_blocks ? &arena_ : nullptr) {
    for (std::size_t i = 0; i < bytes; ++i) source_[i] = static_cast<std::byte>(i * 7 + i / 4099);
    receive_.limit = receive_.stop = bytes;
    receive_.remote_address = reinterpret_cast<std::uint64_t>(source_.data());
    receive_.rts_flags = flag_contiguous | flag_block;
  }

  /// The receiver's choice is made, and the sender has heard of it.
  void begin(Rendezvous how) {
    receiver_.below.world.rendezvous = how;
    ASSERT_TRUE(receiver_.way.begin(receive_, 0));
    if (receiver_.news() == Asked{"cts"}) sender_.way.cleared(send_, clear());
  }
  [[nodiscard]] ClearToSend clear() const { return receiver_.below.last<ClearToSend>(MessageKind::cts); }
  [[nodiscard]] Refusal refusal() const { return sender_.below.last<Refusal>(MessageKind::refuse); }
  [[nodiscard]] bool all_arrived() const { return std::equal(source_.begin(), source_.end(), receive_.data); }
  [[nodiscard]] std::span<std::byte> target() const { return {reinterpret_cast<std::byte*>(block_.range().begin), bytes}; }

  std::vector<std::byte> source_ = std::vector<std::byte>(bytes);
  AliasArena arena_{10000};
  Block block_{arena_, bytes / page_bytes};
  FakeNodeMemory memory_;
  Side sender_{sender_peer, memory_, nullptr};
  Side receiver_;
  Request& send_ = sender_.below.request(Request::Kind::send, receiver_peer, source_);
  Request& receive_ = receiver_.below.request(Request::Kind::receive, sender_peer, target());
};

class NodeWayWithoutBlocks : public NodeWayTest {
 protected:
  NodeWayWithoutBlocks() : NodeWayTest(false) {}
};

}  // namespace sluice
