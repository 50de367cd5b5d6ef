// What a process has of one peer.
//
//   state      event                           next
//   none       a message for the peer          calling: the connector of net/ finds the peer and proves both sides
//   none,      they are introduced             greeted:  queue pair made (INIT), receive buffers posted, hello sent on the socket
//   calling
//   greeted    the peer's hello                proving: queue pair to RTR and RTS, ready sent
//   proving    the peer's ready                open
//   any        the socket ends, an error of    failed: the peer counts as vanished, unless this process leaves, or the peer
//              the queue pair, no way to it            has said goodbye
//
// Nothing is sent before the peer's ready, so what is sent meets a queue pair that can take it. What a peer sends may arrive
// while its ready still lies in the socket, and is taken.
//
// A peer that shared memory reaches (`shares_memory`) has a connection for reads beside that (COOP-hca): no message is ever sent
// on it, so it has no receive buffers and no ring. It begins with the first wish to read. When it has failed nothing is vanished:
// the queue pair is ended, so that its adapter touches no memory any more, whoever had reads under way is told, and shared memory
// goes on.
//
// The socket stays: nothing but a goodbye is said on it any more, but its end tells at once that the peer has gone, which the
// adapter only finds out when it has something to send.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "runtime/base/posix.hpp"
#include "runtime/base/types.hpp"
#include "verbs/address.hpp"
#include "verbs/credits.hpp"
#include "verbs/eager_ring.hpp"
#include "verbs/queue_pair.hpp"
#include "verbs/send_queue.hpp"

namespace sluice {

struct VerbsEndpoint {
  enum class State : std::uint8_t { none, calling, greeted, proving, open, failed };
  /// What somebody was refused and has to be told of: on_room.
  enum Want : std::uint8_t { nothing = 0, message_room = 1, write_room = 2, read_room = 4 };

  VerbsEndpoint(Peer number, bool on_node) : peer(number), shares_memory(on_node) {}

  [[nodiscard]] bool may_send() const { return state == State::open && credits.may_send() && sends.has_room(); }
  [[nodiscard]] bool may_write() const { return state == State::open && sends.has_room(); }
  [[nodiscard]] bool may_read() const { return may_write() && reads < queue_pair->max_reads(); }

  const Peer peer;
  const bool shares_memory;
  State state = State::none;
  std::optional<QueuePair> queue_pair;
  SendQueue sends;
  Credits credits;
  std::uint32_t sent = 0;  // messages of either kind, modulo 2^32
  std::uint32_t received = 0;
  std::uint32_t reads = 0;  // under way
  std::uint8_t wants = nothing;
  bool to_flush = false;  // in the transport's list
  bool to_grant = false;  // in the transport's list

  // The fast path (verbs/eager_ring.hpp).
  RingWords* words = nullptr;
  RemoteMemory peer_words;  // address 0: the peer, or this process, has no rings
  RingSender to_ring;
  RingReceiver ring;
  VerbsMemory* ring_memory = nullptr;
  Credits ring_credits;
  std::uint32_t small_sent = 0;  // messages by the other path that might have gone by the ring, since it was closed
  std::uint32_t next_use = eager_ring::next_use;
  std::uint32_t ring_uses = 0;  // since it was opened
  std::uint64_t last_use = 0;   // of the ring: number of the small message

  Descriptor socket;
  bool heard_goodbye = false;
  std::array<std::byte, VerbsHello::wire_bytes> heard{};
  std::size_t heard_bytes = 0;
};

}  // namespace sluice
