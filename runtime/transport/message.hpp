// What travels between two processes: one header per message, the same for every transport.
//
// `subject` is the context for messages that take part in matching (eager, rts) and otherwise the name (RequestId) of
// the request *at the process that receives the message*, which it handed out earlier in the exchange.
//
//   eager   sender → receiver   matching   payload: the message
//   rts     sender → receiver   matching   payload: ReadyToSend, then the first bytes of the message where the transport streams
//   cts     receiver → sender   request    payload: ClearToSend; how and where the sender is to deliver
//   refuse  sender → receiver   request    payload: Refusal; that way is not possible, choose another
//   data    sender → receiver   request    payload: the next bytes in order (copy-in/copy-out stream)
//   fin     either direction    request    no payload; what its sender copied of the message is where it belongs.
//                                          Of putnr and put (sender → receiver): PutEnd
//   ack     receiver → sender   request    no payload; a synchronous eager message was matched
//   rtr     receiver → sender   context    payload: ReadyToReceive; a posted receive, which the sender may write to at once.
//                                          `tag` is the wanted one, `source` the receiver's rank (receiver_initiated.hpp)
//   withdraw   receiver → sender           subject: request of the receiver, as in its rtr, or 0: all of them;
//                                          not to be written to
//   withdrawn  sender → receiver           the same subject; nothing will be written there but what came before this
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/base/types.hpp"

namespace sluice {

enum class MessageKind : std::uint8_t { eager = 1, rts, cts, refuse, data, fin, ack, rtr, withdraw, withdrawn };
inline constexpr std::size_t message_kinds = 11;  // of values, 0 included

struct WireHeader {
  MessageKind kind{};
  std::uint8_t flags = 0;
  std::uint16_t rtrs = 0;  // eager, rts: how many rtr of the receiver had come to the sender before, modulo 2^16
  std::uint32_t payload_bytes = 0;
  std::uint64_t subject = 0;
  Rank source{};  // rank of the sender in the context (matching messages)
  Tag tag{};
};
static_assert(sizeof(WireHeader) == 24 && std::is_trivially_copyable_v<WireHeader>);

/// eager: the payload ends with the name of the sender's request, to be answered with an ack once it is matched.
inline constexpr std::uint8_t flag_synchronous = 1;
/// rts: the sender can store into its receiver's memory at large, by its address.
inline constexpr std::uint8_t flag_writes_at = 1;
/// rts: the sender is blocked in the send call, so that its processor is free to copy (CO, table II).
inline constexpr std::uint8_t flag_sender_waits = 2;
/// rts: the payload in the sender's memory is one contiguous range, so that the receiver may read it.
inline constexpr std::uint8_t flag_contiguous = 4;

/// fin: of a `write` delivery. Its sender's chunks are in place; what the other side has to do is not said.
inline constexpr std::uint8_t flag_of_chunks = 8;
/// rts: since that range was sent last, a message has come into it.
inline constexpr std::uint8_t flag_overwritten = 8;

/// fin of a receiver: what it has read of the sender's memory is in no cache of its own any more (source_history.hpp).
inline constexpr std::uint8_t flag_handed_back = 1;
/// fin of a receiver that has read over RDMA: it may announce receives from now on, and take them back.
inline constexpr std::uint8_t flag_announces = 2;

/// cts: of a `write` delivery that the receiver makes alone unless the sender comes into a call meanwhile: wakes nobody who
/// computes.
inline constexpr std::uint8_t flag_if_idle = 1;

/// rts: that range lies in the sender's alias blocks, so that it may be read in its memory file as well, at the same number.
inline constexpr std::uint8_t flag_block = 16;

/// rts: the message is one contiguous range in the sender's memory, which can store it in the receiver's by RDMA writes.
inline constexpr std::uint8_t flag_rdma = 32;
/// rts: that range is registered with sender_key for RDMA reads. With flag_rdma at sender_address; with flag_block, for the
/// adapter beside the processors (COOP-hca), at registered_address.
inline constexpr std::uint8_t flag_registered = 64;

/// rts: the send is buffered: its call returned when the message had been copied, and nobody will wait for it.
inline constexpr std::uint8_t flag_buffered = 128;

struct ReadyToSend {
  std::uint64_t message_bytes = 0;
  std::uint64_t sender_request = 0;
  std::uint64_t sender_address = 0;  // valid with flag_contiguous, or flag_rdma and flag_registered
  std::uint32_t sender_key = 0;      // valid with flag_registered
  std::uint8_t last_byte = 0;        // of the message; valid with flag_rdma and flag_registered
  std::uint8_t unused[3] = {};
  std::uint64_t registered_address = 0;  // valid with flag_block and flag_registered
};
static_assert(sizeof(ReadyToSend) == 40);

enum class Delivery : std::uint32_t {
  write,       // the sender stores into the receiver's memory file
  stream,      // the sender sends `data` messages
  rdma_write,  // the sender's adapter stores into the receiver's memory
  write_at,    // as write, but by address into the receiver's memory at large: no page of it is a block, or becomes one meanwhile
};

struct ClearToSend {
  std::uint64_t receiver_request = 0;
  // write: application address = offset in the receiver's memory file; write_at, rdma_write: where byte 0 of the message belongs
  std::uint64_t remote_address = 0;
  std::uint64_t offset = 0;  // first byte of the message that is still missing
  std::uint64_t limit = 0;   // bytes beyond this one are not wanted (truncated message)
  Delivery delivery{};
  // write, write_at: where the sender reports how far it is and claims its chunks (ChunkClaims), and how long a chunk is
  std::uint32_t progress_slot = 0;
  std::uint32_t generation = 0;
  std::uint32_t chunk_bytes = 0;
  std::uint32_t remote_key = 0;  // rdma_write
  std::uint32_t outer = 0;       // write: not 0 where the receiver may read it from a cache that both processors share
};
static_assert(sizeof(ClearToSend) == 56);

struct Refusal {
  std::uint64_t offset = 0;  // first byte that did not arrive
};

struct ReadyToReceive {
  std::uint64_t receiver_request = 0;
  std::uint64_t address = 0;   // of the receive buffer, registered with `key`
  std::uint64_t capacity = 0;  // its size
  std::uint64_t seen = 0;      // eager and rts messages of this sender's that had come when the receive was announced
  std::uint32_t key = 0;
  std::uint8_t last_byte = 0;  // that is in the buffer's last byte now
  std::uint8_t polled = 0;     // 1: the receiver looks at that byte; 0: it waits to be told
  std::uint16_t unused = 0;
};
static_assert(sizeof(ReadyToReceive) == 40);

/// The message is in place, and the receiver could not see that by itself.
struct PutEnd {
  std::uint64_t message_bytes = 0;
};

}  // namespace sluice
