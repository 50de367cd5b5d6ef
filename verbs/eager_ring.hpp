// The fast path for small messages: the sender writes them by RDMA into a ring in the receiver's memory, which polls it (FB,
// "RDMA fast path"; Liu et al., ICS'03, for the ring and the way back to send/receive). It costs the receiver neither a receive
// buffer of its queue nor a completion entry. The other path is send/receive (buffers.hpp, credits.hpp), which is always there.
//
// What goes by it: eager messages that need no answer. All others have to wake somebody, which a write does not.
//
// A slot of the ring has the size of a send slot. A message ends where its slot ends, so that the word that tells of it lies at
// the same place whatever the length:
//
//        unused | prefix, header, payload (buffers.hpp) | up to 7 bytes | bytes 4, sequence 4
//                                                                         `-- the last word of the slot
//
// Arrival. The receiver looks at the last word of the next slot, which is 0 until the message is there: it sets it to 0 again
// when it has consumed the message, before it grants the slot anew. The adapter places the bytes of a write in the order of their
// addresses, and one write after the other (SLUICE_VERBS_ORDERED), so who sees the last word sees the message. A word at the head
// would add nothing. Adapters that do not promise this are not polled: with SLUICE_VERBS_ORDERED=0 on either side there is no
// ring.
//
// Order. Messages of both paths are counted together, and each carries its number. A message is taken from the ring when its
// number is the next; otherwise one that was sent comes before it, whose entry is on its way. A message that was sent comes
// behind all writes that were posted before it (one queue pair), so when its entry is seen, what is missing in front of it is in
// the ring, and is taken first. Number for number, that is the order of the calls.
//
// Room. The sender counts free slots as it counts receive buffers (Credits); they come back in front of messages in the other
// direction, or by a credit message. No free slot: the message is sent.
//
// Who has a ring. A process has a few (SLUICE_VERBS_RINGS), and gives them to those peers that send it small messages: to a peer
// after `first_use` of them, and from one that has been silent for `silence` messages of others to the next. So polling stays
// cheap and memory bounded, however large the job.
//
// Sleeping. Nobody is woken by a write. So before a process sleeps in a way that a small message must end, it closes its rings:
// with WakeMask `everything` and `sleeper` all of them; with less those of peers that owe it room for messages which
// wait for that, as small messages bring it. Each connection has a line of words on either side (RingWords), which the peer's
// adapter writes and reads without the peer's doing anything:
//
//     receiver                                          sender
//     write open = 0 into the sender's words            begun = number of this message + 1
//     read the sender's `begun`                         full fence
//       (one queue: after the write)                    look at `open`: 1: write the message into the ring, 0: send it
//     sleep, if all up to `begun` is here
//
// One of the two sees the other (Dekker): a message that is not counted in the `begun` that was read finds the ring closed. So
// when all messages below `begun` are there, by whichever path, nothing can come by the ring any more. The read's completion
// wakes the sleeper if it sleeps already.
//
//     state     event                                            next
//     none      `first_use` small messages were sent, memory     open: its address, key and open = 1 are written
//     open      somebody is going to sleep, or the ring is       closing: open = 0 is written, `begun` is read
//               wanted for another peer
//     closing   the read is complete: all below `begun` here     closed
//               some are still missing                           draining
//     draining  the last of them has come                        closed
//     closed    enough small messages were sent meanwhile        open
//               wanted for another peer                          none
//
// While a ring is draining, or could not be closed as the queue is full, whoever sleeps looks at it from time to time: its
// messages were posted already and come within the time of the network.
//
// Words shared with the peer, each aligned and written as a whole:
//
//     word             written by                      read by                ordering
//     theirs.open      the receiver's adapter, after   the sender, before     as above; `address` and `key` change only
//                      `address` and `key`             each message           while it is 0, and lie in the same write
//     begun            the sender                      the receiver's         as above
//                                                      adapter
//     last of a slot   the sender's adapter; 0 by      the receiver           acquire; cleared before the slot is granted
//                      the receiver
//
// Threading: engine lock. No adapter in here: `transport_ring.cpp` posts what this says.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/transport/rdma.hpp"
#include "verbs/buffers.hpp"

namespace sluice {

/// What two ends of a connection tell each other of their rings, on either side; registered for writes and reads of the peer's.
struct alignas(64) RingWords {
  struct Offer {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
    std::uint32_t open = 0;
  };
  Offer theirs;             // the ring into which this process may write
  std::uint32_t begun = 0;  // one behind the number of the last message that may have gone by it
  std::uint32_t unused = 0;
  Offer ours;               // what is written to the peer's `theirs`
  std::uint32_t heard = 0;  // what was read of the peer's `begun`
};
static_assert(sizeof(RingWords) == 64);

namespace eager_ring {

inline constexpr std::uint32_t slots = 16;
inline constexpr std::size_t bytes = slots * verbs_slot::bytes;
inline constexpr std::size_t trailer_bytes = sizeof(std::uint64_t);
/// Small messages that a peer sends before it gets a ring, and before one that was closed for a sleep is opened again: twice as
/// many each time that it was closed before it had paid for its opening and closing.
inline constexpr std::uint32_t first_use = 16;
inline constexpr std::uint32_t next_use = 4;
inline constexpr std::uint32_t max_next_use = 256;
inline constexpr std::uint32_t uses_that_pay = 32;
/// Small messages of others after which a ring that has had none may go to somebody else.
inline constexpr std::uint64_t silence = 1024;
/// More messages than a peer can have on the way, by either path.
inline constexpr std::uint32_t max_under_way = 4096;
static_assert(slots <= 0xff, "grants are counted in 8 bits in front of each message");

/// What a message of so many bytes, prefix and header included, takes of its slot.
constexpr std::size_t taken(std::size_t message_bytes) {
  return (message_bytes + trailer_bytes - 1) / trailer_bytes * trailer_bytes + trailer_bytes;
}

}  // namespace eager_ring

/// The sending side.
class RingSender {
 public:
  RingSender() = default;
  /// `slots`: of the peer's ring; 0: it never has one.
  RingSender(RingWords& words, std::uint32_t slots) : words_(&words), slots_(slots) {}

  /// Whether message `number`, which is sent next, may go by the ring. True: it must.
  [[nodiscard]] bool admits(std::uint32_t number) const {
    if (slots_ == 0) return false;
    const std::atomic_ref open(words_->theirs.open);
    if (open.load(std::memory_order_relaxed) == 0) return false;
    std::atomic_ref(words_->begun).store(number + 1, std::memory_order_seq_cst);
    return open.load(std::memory_order_seq_cst) != 0;
  }

  /// Writes what tells of the message, from `behind` on: up to 7 bytes without meaning and the last word. Says where the message
  /// with these belongs: so many bytes.
  struct Write {
    std::uint32_t bytes = 0;
    RemoteMemory remote;
  };
  [[nodiscard]] Write next(std::byte* behind, std::uint32_t message_bytes, std::uint32_t number);

 private:
  RingWords* words_ = nullptr;
  std::uint32_t slots_ = 0;
  std::uint32_t next_ = 0;
};

/// The receiving side.
class RingReceiver {
 public:
  enum class State : std::uint8_t { none, open, closing, draining, closed };

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool may_open() const { return state_ == State::none || state_ == State::closed; }
  /// A message may come, of which nobody is told.
  [[nodiscard]] bool is_restless() const { return state_ == State::open || state_ == State::draining; }

  /// `memory`: `eager_ring::bytes`, all 0 in the words that tell of messages.
  void open(std::byte* memory) {
    memory_ = memory;
    state_ = State::open;
  }
  void close() { state_ = State::closing; }
  /// The sender's `begun` was read while so many messages had been taken.
  void note_begun(std::uint32_t begun, std::uint32_t received) {
    begun_ = begun;
    // Behind `received`, or long ago: nothing by the ring since.
    state_ = begun - received - 1 < eager_ring::max_under_way ? State::draining : State::closed;
  }
  void note_received(std::uint32_t received) {
    if (state_ == State::draining && received == begun_) state_ = State::closed;
  }
  /// Closed: its memory goes to somebody else.
  void give_up() {
    memory_ = nullptr;
    state_ = State::none;
  }

  /// The next message, prefix and header included, if it is there and has this number. `good` false: what is there is no message,
  /// as its `word` says.
  struct Found {
    bool good = true;
    std::uint64_t word = 0;
    std::span<const std::byte> message;
  };
  [[nodiscard]] Found find(std::uint32_t number) const;
  [[nodiscard]] static std::string explain(std::uint64_t word, std::uint32_t number);
  /// It was taken: its slot may be granted again.
  void consume();

 private:
  [[nodiscard]] std::byte* end_of_slot() const { return memory_ + (next_ % eager_ring::slots + 1) * verbs_slot::bytes; }
  [[nodiscard]] std::atomic_ref<std::uint64_t> last_word() const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(end_of_slot() - eager_ring::trailer_bytes));
  }

  State state_ = State::none;
  std::byte* memory_ = nullptr;
  std::uint32_t next_ = 0;  // goes on where it was when the ring moves: so does the sender's
  std::uint32_t begun_ = 0;
};

}  // namespace sluice
