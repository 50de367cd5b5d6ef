// The inbox: the memory of one process into which the others on the node send. A memory file without a name, mapped by every
// peer.
//
//   identity     who this is; written once before anybody else maps it
//   wake_mask    futex word: who must be told when a message arrives (see wake_word.hpp)
//   finalized    set before the process closes its sockets on purpose
//   contacts     one bit per sender, set with its first message, so that the owner polls only rings that were ever used
//   slots        progress word and chunk claims, one line each; the owner gives them out, a sender writes them
//   copied       how many bytes the owner has copied; beside it, the work of its adapter: transfers of large messages under way
//   marks        lines that the owner writes with each announcement of a large message, so that peers can see how far it is
//   loads        one word per process: how many bytes of copies that process expects of the owner
//   controls     RingControl per sender
//   buffers      ring buffer per sender; pages come into being when used
//   lanes        what collective calls of this process publish, likewise
//
// Every word lives in the inbox of its owner. "Lock": the engine lock of the process that does it; two processes never exclude
// each other. Writer / reader / ordering, and why it is enough:
//
//   control word     of a record: sender, lock (zero to arm, then length and sort) / owner, lock / seq_cst or release: ring.hpp
//   record           sender before publication / owner after it / by the control word; unchanged until `head` has passed it
//   head             owner, lock / sender, lock / release, acquire: done with all before it; seq_cst beside want_room
//   want_room        sender sets, owner clears (exchange) / both / seq_cst, Dekker with `head`; clearing in vain costs one try
//   wake_mask        owner raises and lowers, senders take (exchange) / senders, the kernel (futex) / seq_cst: wake_word.hpp.
//                    Peers also read it as a hint, relaxed (is_attentive)
//   contacts         sender sets its bit after its first record (fetch_or), owner empties / owner, lock / seq_cst before the
//                    sender reads the wake mask; acquire on taking. A bit seen late only delays the first poll of that ring
//   progress slot    owner zeroes it when it opens it, then only the sender that was given it, until its FIN or refusal / owner,
//                    any thread / release, acquire: bytes before the report. The message that names the slot orders the zero,
//                    the message that ends the transfer the last report
//   finalized        owner, once, before its sockets close / peers' helper threads after they saw that / release, acquire; the
//                    kernel orders the close before its notice
//   identity         owner before the file is sent to anybody / peers / by the socket
//   claims           both sides of a `write` delivery, compare-and-swap / both, any thread / acquire, release, but it guards no
//                    data. The receiver changes its generation before the slot is given out again: a late sender fails
//   load             the process that expects, lock; the owner when that has died (stores 0) / all, lock / relaxed: a hint. One
//                    writer at a time, and the dead write no more
//   copied           owner, lock / all, lock / relaxed, as load
//   adapter_work     owner, lock; peers' helper threads when it has died (store 0) / all, lock / relaxed: a hint, and all others
//                    write the same
//   marks            owner, lock, before each announcement of a block / receivers of such messages, lock / relaxed: only the
//                    time in which their lines come is of interest
//   pages of the alias file   sender of a `write` delivery, owner through its alias / owner, receiver of a message out of an
//                    offered block / by progress slot or FIN, for a reader by the rts. The sender's buffer is not the
//                    program's before the reader's FIN. The owner names only blocks that it has just found live
//   lanes        runtime/collective/lane.hpp has the table
//   helper bell      (eventfd) whoever takes a wake mask that is neither none nor sleeper / owner's helper thread / the kernel's
//
// Words that threads of one process share: ShmemTransport::sleepers_ (seq_cst, so that `poke` wakes also when the level was
// lowered in between), reminded_ (relaxed: set under the lock, cleared by the helper thread before it takes that), vanished_
// (once, release, acquire); PeerMemory's regions and extents (release, acquire, made under a lock) and use counts (relaxed);
// `usable_` of both copies (relaxed: a late reader fails itself).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/posix.hpp"
#include "runtime/transport/lane_memory.hpp"
#include "runtime/transport/wake_mask.hpp"
#include "shmem/ring.hpp"

namespace sluice {

/// 128 random bits.
using Token = std::array<std::uint64_t, 2>;

struct InboxIdentity {
  std::uint64_t layout = 0;  // layout_fingerprint() of the owner
  Token token{};
};

/// Where the parts of an inbox lie, which follows from the number of processes on the node.
class InboxLayout {
 public:
  static constexpr std::uint32_t slots = 1024;
  static constexpr std::size_t max_processes = 4096;
  static constexpr std::size_t marks = 3;

  explicit InboxLayout(std::size_t processes);

  [[nodiscard]] std::size_t ring_capacity() const { return ring_capacity_; }
  [[nodiscard]] std::size_t contact_words() const { return contact_words_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  friend class Inbox;
  static constexpr std::size_t mark_stride = 4 * cache_line;
  std::size_t ring_capacity_;
  std::size_t contact_words_;
  std::size_t slots_at_;
  std::size_t loads_at_;
  std::size_t marks_at_;
  std::size_t controls_at_;
  std::size_t buffers_at_;
  std::size_t lanes_at_;
  std::size_t bytes_;
};

/// Differs between builds whose shared structures differ.
std::uint64_t layout_fingerprint();

/// One mapping of an inbox, the owner's or a peer's.
class Inbox {
 public:
  /// Creates this process's own inbox; `file` is what peers need to map it.
  static Inbox create(std::size_t processes, const Token& token, Descriptor& file);
  /// Maps a peer's inbox; throws when it is not what the peer announced.
  static Inbox open(const Descriptor& file, std::size_t processes, const Token& token);

  Inbox() : layout_(1) {}

  [[nodiscard]] const InboxLayout& layout() const { return layout_; }
  [[nodiscard]] const InboxIdentity& identity() const { return *at<InboxIdentity>(0); }
  [[nodiscard]] std::atomic<WakeMask>& wake_mask() const { return *at<std::atomic<WakeMask>>(cache_line); }
  [[nodiscard]] std::atomic<std::uint32_t>& finalized() const { return *at<std::atomic<std::uint32_t>>(2 * cache_line); }
  [[nodiscard]] std::atomic<std::uint64_t>& contacts(std::size_t word) const {
    return at<std::atomic<std::uint64_t>>(3 * cache_line)[word];
  }
  [[nodiscard]] std::atomic<std::uint64_t>& slot(std::uint32_t slot) const {
    return *at<std::atomic<std::uint64_t>>(layout_.slots_at_ + slot * cache_line);
  }
  /// In the line of the progress word.
  [[nodiscard]] std::atomic<std::uint64_t>& claims(std::uint32_t slot) const { return (&this->slot(slot))[1]; }
  [[nodiscard]] std::atomic<std::uint64_t>& copied() const { return *at<std::atomic<std::uint64_t>>(layout_.loads_at_); }
  /// In the line of `copied`.
  [[nodiscard]] std::atomic<std::uint64_t>& adapter_work() const { return (&copied())[1]; }
  /// By who expects the copies. Together in few lines, as they are read together.
  [[nodiscard]] std::atomic<std::uint64_t>& load(std::size_t expecting) const {
    return at<std::atomic<std::uint64_t>>(layout_.loads_at_ + cache_line)[expecting];
  }
  /// Apart from each other, so that none is fetched with another.
  [[nodiscard]] std::atomic<std::uint64_t>& mark(std::size_t index) const {
    return *at<std::atomic<std::uint64_t>>(layout_.marks_at_ + index * InboxLayout::mark_stride);
  }
  [[nodiscard]] RingControl* ring_control(std::size_t sender) const { return at<RingControl>(layout_.controls_at_) + sender; }
  [[nodiscard]] std::byte* ring_buffer(std::size_t sender) const {
    return at<std::byte>(layout_.buffers_at_) + sender * layout_.ring_capacity_;
  }
  [[nodiscard]] std::byte* lane(std::uint32_t lane) const {
    return at<std::byte>(layout_.lanes_at_) + lane * LaneMemory::lane_bytes;
  }

 private:
  Inbox(Mapping memory, const InboxLayout& layout) : memory_(std::move(memory)), layout_(layout) {}

  template <typename T>
  [[nodiscard]] T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(memory_.start() + offset);
  }

  Mapping memory_;
  InboxLayout layout_;
};

}  // namespace sluice
