// What the engine needs of a transport. shmem, tcp and verbs implement it; so does the loop-back transport of the
// unit tests. One transport object serves every peer that it reaches.
//
// Threading: every function except `poke` and those marked [any thread] is called with the engine lock held, so an
// implementation has one producer and one consumer at a time and needs no lock of its own.
//
// Order: messages committed to one peer are delivered to it in that order. There is no order between peers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/types.hpp"
#include "runtime/copy/shared_copy.hpp"
#include "runtime/transport/copy_load.hpp"
#include "runtime/transport/message.hpp"
#include "runtime/transport/rdma.hpp"

namespace sluice {

/// Receives what `Transport::poll` finds. The payload is only valid during the call.
class MessageSink {
 public:
  virtual void on_message(Peer from, const MessageHeader& header, std::span<const std::byte> payload) = 0;
  /// For transports that can put the bytes of a `data` message straight where they belong: the place of the next ones, at most
  /// `most`, valid until the sink or its owner is called again. Empty when there is no such place: then these bytes are to go
  /// through on_message, in as many messages as the transport likes.
  virtual std::span<std::byte> place(Peer /*from*/, const MessageHeader& /*header*/, std::size_t /*most*/) { return {}; }
  /// The header of an eager message or an announcement and the first bytes of its payload (`head`) are there, the rest is still
  /// to come. When the sink wants the rest as if it were `data`: under this subject, and from this byte of the payload on.
  /// Otherwise (subject 0) all is to be handed over whole, by on_message; the sink may be asked again when there is more.
  struct Begun {
    std::uint64_t subject = 0;
    std::size_t data_at = 0;
  };
  virtual Begun begin(Peer /*from*/, const MessageHeader& /*header*/, std::span<const std::byte> /*head*/) { return {}; }
  /// The first `bytes` of the last `place` are there.
  virtual void on_placed(Peer /*from*/, const MessageHeader& /*header*/, std::size_t /*bytes*/) {}
  /// The RDMA write or read that was posted with this token is complete.
  virtual void on_transferred(std::uint64_t /*token*/) {}
  /// A read that was posted by `loopback` will not be completed: nothing of it is being placed any more, and what is there of it
  /// is not known.
  virtual void on_transfer_failed(std::uint64_t /*token*/) {}
  /// A peer that asked for room (a failed reserve) can try again.
  virtual void on_room(Peer peer) = 0;

  /// After a message: whether the poll shall hand over the next one of that peer, too, if it is there.
  [[nodiscard]] virtual bool takes_another() const { return false; }

 protected:
  ~MessageSink() = default;
};

/// What arrived, as far as it matters whom it must wake. Values may be joined.
enum class News : std::uint32_t {
  none = 0,
  eager = 1,     // a message that needs no answer
  end = 2,       // fin, ack: the other side has done its part; or does all of it unless this side comes
  match = 4,     // rts, or a small message whose sender waits for its match
  request = 8,   // any other message: it has this side do something
  room = 16,     // no message: a peer finds no room for its next one, or gives room
  waiting = 32,  // no message: a peer has nothing to do but wait for what this side has left undone
};

[[nodiscard]] constexpr News operator|(News a, News b) {
  return static_cast<News>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

[[nodiscard]] constexpr News news_of(const MessageHeader& header) {
  switch (header.kind) {
    case MessageKind::eager:
      return (header.flags & flag_synchronous) != 0 ? News::match : News::eager;
    case MessageKind::fin:
    case MessageKind::ack:
      return News::end;
    case MessageKind::rts:
      return News::match;
    case MessageKind::cts:
      return (header.flags & flag_if_idle) != 0 ? News::end : News::request;
    default:
      return News::request;
  }
}

/// Of what arrives while nobody polls, somebody must be told: a set of news, and whom.
enum class Attention : std::uint32_t {
  none = 0,  // somebody polls, or nothing that could arrive is worth waking anybody for
  // Wake the helper thread:
  room = static_cast<std::uint32_t>(News::room),
  sends = static_cast<std::uint32_t>(News::room | News::request),                   // that are under way
  receives = static_cast<std::uint32_t>(News::room | News::request | News::match),  // ... and sends
  rendezvous = static_cast<std::uint32_t>(News::room | News::request | News::match | News::end),
  everything = static_cast<std::uint32_t>(News::room | News::request | News::match | News::end | News::eager),
  // An application thread sleeps in `sleep`: wake that, for everything.
  sleeper = everything | 64,
};

/// ... and for that, too.
[[nodiscard]] constexpr Attention operator|(Attention attention, News news) {
  return static_cast<Attention>(static_cast<std::uint32_t>(attention) | static_cast<std::uint32_t>(news));
}

/// Whether somebody is to be woken for one of these.
[[nodiscard]] constexpr bool asks_for(Attention attention, News news) {
  return (static_cast<std::uint32_t>(attention) & static_cast<std::uint32_t>(news)) != 0;
}

/// Whether that is the helper thread.
[[nodiscard]] constexpr bool asks_helper_for(Attention attention, News news) {
  return attention != Attention::sleeper && asks_for(attention, news);
}

class Transport {
 public:
  virtual ~Transport() = default;

  /// Largest payload of one message to this peer, in bytes.
  [[nodiscard]] virtual std::size_t max_payload(Peer peer) const = 0;

  /// Room for a payload, to be filled before `commit`; nullptr when there is no room now (on_room follows).
  /// A reserve that succeeded is always followed by exactly one commit before any other call.
  virtual std::byte* reserve(Peer to, std::size_t payload_bytes) = 0;
  virtual void commit(Peer to, const MessageHeader& header) = 0;

  /// Whether `data` messages go to the peer by `stream`, straight out of the sender's memory, and what is announced brings its
  /// first bytes along.
  [[nodiscard]] virtual bool streams_directly(Peer /*peer*/) const { return false; }
  /// Sends the next bytes of what the peer knows as `subject`, as many as there is room for, and returns how many; they may be
  /// changed afterwards. When that is not all, on_room follows. Calls for one subject go on until it is through.
  virtual std::size_t stream(Peer /*to*/, std::uint64_t /*subject*/, std::span<const std::byte> /*next*/) { return 0; }
  /// A whole message without a copy in between: payload is `prefix`, then `bytes`. False when there is no room at once; nothing
  /// was done then.
  virtual bool send(Peer /*to*/, const MessageHeader& /*header*/, std::span<const std::byte> /*prefix*/,
                    std::span<const std::byte> /*bytes*/) {
    return false;
  }
  /// Something that was committed has not left this process yet: somebody must poll on. [engine lock]
  [[nodiscard]] bool holds_output() const { return holds_output_; }
  /// Messages up to this size need no asking with this peer, whatever the general limit is. 0: the general limit holds.
  [[nodiscard]] virtual std::size_t eager_limit(Peer /*peer*/) const { return 0; }

  /// Delivers what has arrived, a bounded number of messages per call. Returns how many.
  virtual int poll(MessageSink& sink) = 0;
  /// Between two polls nothing has to be done but to look whether something came, and `is_silent` tells of all that may come.
  [[nodiscard]] virtual bool is_at_rest() const { return false; }
  /// [any thread, lock not held] When `is_at_rest` was true after the last poll: a poll now would find nothing. What comes at
  /// this moment is seen by the next look.
  [[nodiscard]] virtual bool is_silent() const { return false; }
  /// True when a poll now would deliver something.
  [[nodiscard]] virtual bool pending() const = 0;

  /// Whether this process can write to and read from the peer's memory file, and read the peer's memory at large.
  [[nodiscard]] virtual bool can_write(Peer peer) const = 0;
  [[nodiscard]] virtual bool can_read_blocks(Peer peer) const = 0;
  [[nodiscard]] virtual bool can_read(Peer peer) const = 0;
  /// [any thread] Copies into the peer's memory file; false when that is impossible (nothing is lost, the transfer goes
  /// another way) and can_write answers false from then on. `lines`: of the target, for the choice of stores.
  virtual bool write(Peer peer, std::uint64_t file_offset, std::span<const std::byte> source, TargetLines lines) = 0;
  /// [any thread] Copies from the peer's memory file; false as for `write`; `lines` likewise.
  virtual bool read_block(Peer peer, std::uint64_t file_offset, std::span<std::byte> target, TargetLines lines,
                          SourceLines source) = 0;
  /// What it takes to read a line that the peer wrote when it announced its last large message to anybody, in ns
  /// (peer_distance.hpp). 0: it has written none since the last look, so that they are in this processor's cache. Where blocks
  /// can be read.
  [[nodiscard]] virtual std::uint32_t ns_of_a_line(Peer /*peer*/) { return 0; }
  /// Writes such lines.
  virtual void mark_lines() {}
  /// The same of the message's own lines before `end` in the peer's memory file, 3 KB or more.
  [[nodiscard]] virtual std::uint32_t ns_of_a_line_before(Peer /*peer*/, std::uint64_t /*end*/) { return 0; }
  /// [any thread] Copies from an address of the peer. Returns the bytes copied, fewer than asked for when it failed.
  virtual std::size_t read(Peer peer, std::uint64_t peer_address, std::span<std::byte> target) = 0;

  /// Direct access to the peer's memory; nullptr when there is none.
  [[nodiscard]] virtual Rdma* rdma(Peer /*peer*/) { return nullptr; }

  /// The adapter beside the processors, for parts of messages that memory shared with this peer carries (COOP-hca). nullptr where
  /// there is none, or it has failed for this peer. Of its transfers only reads may be posted, when `may_read` says so.
  [[nodiscard]] virtual Rdma* loopback(Peer /*peer*/) { return nullptr; }

  /// Progress words: the receiver owns a slot, the sender of a `write` delivery reports the prefix that has arrived.
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  virtual std::uint32_t open_progress_slot() = 0;  // no_slot when all are in use
  virtual void close_progress_slot(std::uint32_t slot) = 0;
  [[nodiscard]] virtual std::uint64_t progress(std::uint32_t slot) const = 0;          // [any thread], acquire
  virtual void report_progress(Peer to, std::uint32_t slot, std::uint64_t bytes) = 0;  // [any thread], release
  /// Beside each progress word: who copies which chunk (ChunkClaims). nullptr when the peer has no such slot.
  virtual std::atomic<std::uint64_t>& claims(std::uint32_t slot) = 0;                // [any thread]
  virtual std::atomic<std::uint64_t>* claims_at(Peer peer, std::uint32_t slot) = 0;  // [any thread]

  /// Who has how much to copy on this node (COOP-load, CO section II-B2). Hints, for a choice between equals.
  /// Of this process or a peer on its node, as they stand now.
  [[nodiscard]] virtual CopyLoad copy_load(Peer /*peer*/) const { return {}; }
  /// This process expects so many more bytes (fewer, if negative) of copies by `by`, which may be itself. What it expects of one
  /// process never falls below 0.
  virtual void expect_copy(Peer /*by*/, std::int64_t /*bytes*/) {}
  /// So many bytes were copied by this process.
  virtual void copied(std::size_t /*bytes*/) {}
  /// Transfers of large messages that the adapters of this node's processes have under way, as they stand now; a hint.
  [[nodiscard]] virtual std::size_t adapter_work() const { return 0; }
  /// So many more (fewer, if negative) are this process's own.
  virtual void note_adapter_work(int /*transfers*/) {}
  /// A thread of the peer is in a call, or has been woken, so that what is sent to it is seen at once. A hint.
  [[nodiscard]] virtual bool is_attentive(Peer /*peer*/) const { return false; }
  /// The same after a moment between two calls, for which this waits, a few µs at most.
  [[nodiscard]] virtual bool is_attentive_soon(Peer peer) const { return is_attentive(peer); }
  /// A thread of the peer sleeps in a call. Sequentially consistent, as is `tell_of_waiting`'s look: of one that raises its
  /// attention with `waiting` and then asks this, and one that goes to sleep and then tells, one sees the other.
  [[nodiscard]] virtual bool is_asleep(Peer /*peer*/) const { return false; }

  /// This process has nothing to do but wait. Peers whose attention asks for `waiting` are told.
  virtual void tell_of_waiting() {}
  /// Peers that were not told at once of what was sent to them are told now. For whoever goes to sleep.
  virtual void flush_alerts() = 0;
  /// ... or in time, by the helper thread. For an application thread that stops polling, most often for a moment.
  virtual void leave_alerts() { flush_alerts(); }

  /// Sets what arriving messages do while nobody polls. After raising it the caller must look at `pending` once more.
  virtual void set_attention(Attention level) = 0;  // [any thread], sequentially consistent
  /// [any thread, lock not held] Sleeps until attention, set to `sleeper` before, is taken by an arriving message or `poke`.
  virtual void sleep(std::chrono::microseconds limit) = 0;
  /// [any thread] Ends a `sleep` of this process.
  virtual void poke() = 0;
  /// No thread is in or on its way to `sleep`: pokes that came before concern nobody any more.
  virtual void forget_pokes() {}

  /// [helper thread, lock not held] Sleeps until attention that is not of a sleeper was taken, a peer vanished,
  /// or `wake_helper` was called.
  virtual void sleep_helper() = 0;
  virtual void wake_helper() = 0;  // [any thread]
  /// The helper thread has been woken: whatever only it looks after (new connections, supervision of old ones).
  virtual void attend() {}

  /// This process ends the job. Peers are told, where that takes no waiting, so that they do not take it for vanished.
  virtual void say_goodbye() {}

  /// Unmaps what is mapped of peers' memory, as address space has become scarce here. No copy is being made.
  virtual void leave_address_space() {}

  /// First peer found to have gone without leaving the job properly; -1 when there is none. [any thread]
  [[nodiscard]] virtual Peer vanished() const = 0;
  /// Why that peer counts as gone. [any thread, once `vanished` has named one]
  [[nodiscard]] virtual const char* cause() const { return "its process ended without MPI_Finalize"; }

 protected:
  bool holds_output_ = false;
};

}  // namespace sluice
