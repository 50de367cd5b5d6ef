// One operation in progress, and the pool that names requests on the wire.
//
// All fields belong to the engine lock, except `complete` (written under the lock with release, read by the waiting thread
// with acquire) and what a copy in progress needs (see `copying`).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/call_site.hpp"
#include "runtime/base/intrusive_list.hpp"
#include "runtime/copy/shared_copy.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/engine/outcome.hpp"
#include "runtime/policy/source_history.hpp"
#include "runtime/transport/message.hpp"
#include "runtime/transport/transport.hpp"

namespace sluice {

class Context;
struct Guarded;
struct RdmaTransfer;
struct ReleasingCall;

/// Names a request in messages: index in the pool and a generation, so that a stale or damaged name is noticed.
enum class RequestId : std::uint64_t {};

/// Ends a transfer, which this room does not know (rendezvous/rdma_transfer.cpp).
struct EndRdmaTransfer {
  EndRdmaTransfer() = default;
  EndRdmaTransfer(std::default_delete<RdmaTransfer> /*made_by_make_unique*/) {}
  void operator()(RdmaTransfer* transfer) const;
};

class alignas(cache_line) Request {
 public:
  enum class Kind : std::uint8_t {
    send,
    receive,
    collective,  // a whole call that goes by messages of its own (collective_calls.hpp); it moves nothing itself
  };
  /// How a large message travels; the receiver decides, in this order of preference.
  enum class Way : std::uint8_t { undecided, write, read, stream, rdma };

  /// send: what the other side may answer to what it has been sent.
  enum class Expects : std::uint8_t { nothing, clearance, acknowledgement };

  // --- what any message needs: the first four lines of cache, each on its own so that windows of many small messages do not have
  // to bring more of each request; and what is asked of one that is complete: the first line

  std::atomic<bool> complete{false};
  Kind kind{};
  Way way{};
  SendMode mode{};
  Expects expects{};
  bool matched = false;    // receive: the message is known
  bool truncated = false;  // receive: the message is longer than the buffer
  bool detached = false;   // nobody will take the outcome
  bool released = false;   // under guard, the call has returned
  bool copying = false;    // a thread copies a chunk outside the lock; offset and way are not to be changed
  bool counted_large = false;
  bool counted_shared = false;
  bool unknown = false;     // receive: released, and its message has not come yet
  bool call_waits = false;  // its call returns when it is done, or released
  bool gaps = false;        // layout_buffer says where the bytes are, not data
  bool cancelled = false;
  Failure failure = Failure::none;
  bool single_copy = false;    // send: announced, although it is within the eager limit
  bool offered = false;        // send: announced as an alias block, so that its data is read in the memory file only
  bool offers_rdma = false;    // send: announced with flag_rdma
  bool in_trial = false;       // receive: of two halves (policy/plain_halves.hpp), which hears of its end
  bool offers_write = false;   // send: announced with flag_writes_at
  bool rtr_open = false;       // receive: the sender may write to it (receiver_initiated.hpp, like the next three)
  bool cancel_wanted = false;  // receive: announced, and to be cancelled when the sender says that it will not
  bool tells_end = false;      // send: the receiver cannot see by itself that the message is there
  std::uint8_t rtrs_sent = 0;  // receive: how often
  bool post_traced = false;    // its post is in the trace
  bool awaited = false;        // by a call that the trace is told of
  bool detached_copy = false;  // send: a copy of one that is over for the program; a collective call as a whole
  std::uint8_t rts_flags = 0;
  Rank rank{};  // send: destination; receive: wanted source, then the true one
  Tag tag{};    // likewise
  RequestId id{};
  std::size_t limit = 0;  // bytes that are wanted
  Context* context = nullptr;

  ListLink<Request> match_link;  // posted receives
  std::uint64_t sequence = 0;    // order of posting; of a part of a collective call, and of the whole, the call's
  std::byte* data = nullptr;     // contiguous buffers
  std::size_t bytes = 0;         // send: message size; receive: capacity
  Peer peer{};                   // the other side, once it is known
  std::uint32_t progress_slot = Transport::no_slot;
  std::uint32_t traced = 0;       // its number in the trace
  std::uint32_t traced_site = 0;  // that of its call site
  std::uint32_t frequent = 0;     // send: of that buffer (BufferUseTable), which the adapter may take the message out of

  std::size_t message_bytes = 0;       // receive: what the sender sends
  std::size_t stop = 0;                // receive: those from here to limit are in place already
  std::size_t offset = 0;              // bytes that are in place
  std::size_t brought = 0;             // send: so much of it was streamed with its announcement
  std::size_t bounced = 0;             // send: the call has returned; so many bytes of memory hold what has not left yet
  std::byte* alias = nullptr;          // send: released, its data is to be read here, wherever the program's memory has gone
  std::unique_ptr<std::byte[]> owned;  // copy of a buffered or held message; data points into it
  std::unique_ptr<RdmaTransfer, EndRdmaTransfer> rdma;  // memory is registered; moves once way is rdma, or it is announced
  std::uint64_t lazy_token = 0;                         // receive: released before its message was known

  CallSite site;
  std::uint64_t remote_request = 0;
  std::uint64_t remote_address = 0;
  std::uint64_t queued_at = 0;    // send: when it began to wait in the queue, ns
  std::uint64_t rts_left_at = 0;  // send: when its announcement has left, ns; 0: that is answered, or has brought nothing
  Guarded* guarded = nullptr;

  // --- what large, released and unusual ones need besides

  UserBuffer layout_buffer;              // buffers with gaps
  TargetLines lines{};                   // of the receive buffer when the transfer began, as far as this side knows
  WrittenAnew written_anew{};            // receive: the sender's memory before each message, as far as is known
  SourceLines source_lines{};            // receive: what becomes of them where this side reads
  std::int64_t expected_of_peer = 0;     // receive: bytes of its copy that the other side is expected to make (COOP-load)
  std::int64_t expected_of_self = 0;     // ... and this process
  std::uint64_t sends_before = 0;        // receive: `large_sends` of the engine when its message was matched
  bool sends_too = false;                // receive: some of them were under way then
  std::uint8_t rts_last_byte = 0;        // receive: with flag_registered
  std::uint32_t rts_key = 0;             // likewise
  std::uint64_t registered_address = 0;  // receive: with flag_registered and flag_block

  /// putnr and put (receiver_initiated.hpp).
  std::byte last_byte_before{};  // receive: of the buffer, before ...
  std::byte last_byte_preset{};  // ... this was put there
  std::uint16_t rtr_number = 0;  // receive: its number among those to this sender
  ListLink<Request> rtr_link;    // receive: announced, or to be announced again

  /// A `write` delivery, which both sides may take part in. Set when the delivery begins.
  struct Shared {
    std::uint32_t generation = 0;
    std::uint32_t chunk_bytes = 0;
    std::uint32_t chunks = 0;
    std::uint32_t back = 0;      // receive: chunks that this side has claimed
    std::uint32_t own = 0;       // receive: of these, for itself, not for the adapter
    std::size_t start = 0;       // of the first chunk
    bool by_address = false;     // into the receiver's memory at large, not its memory file
    bool own_part_done = false;  // this side has nothing to copy (any more)
    bool peer_done = false;      // the other side's FIN is there
    bool refused = false;        // receive: the sender cannot write (any more)
    bool offloads = false;       // receive: the adapter takes part
    bool if_idle = false;        // receive: nobody wakes the sender, so that this side must stay until all is copied
    bool unreadable = false;     // receive: this process could not read (any more)
    std::size_t hole_begin = 0;  // receive: of this side's chunks, some bytes between these two are missing
    std::size_t hole_end = 0;

    [[nodiscard]] std::size_t chunk_at(std::uint32_t chunk) const { return start + std::size_t{chunk} * chunk_bytes; }
    [[nodiscard]] bool has_hole() const { return hole_end != 0; }
    void add_hole(std::size_t begin, std::size_t end) {
      hole_begin = has_hole() ? std::min(hole_begin, begin) : begin;
      hole_end = std::max(hole_end, end);
    }
  } shared;

  ReleasingCall* released_by = nullptr;
  std::uint64_t released_at = 0;
  std::uint64_t taken_before = 0;  // taken_by_helper then
  std::uint64_t release_mark = 0;  // operations numbered above began after the release

  ListLink<Request> work_link;     // copies, streams, waiting for room, held
  ListLink<Request> release_link;  // released receives and sends

  /// A call that waits for it need wait no longer.
  [[nodiscard]] bool may_return() const {
    return released || bounced != 0 || has_left() || complete.load(std::memory_order_relaxed);
  }
  /// send: of standard mode, and no longer needed by the transport, although nothing is known of its receive.
  [[nodiscard]] bool has_left() const { return brought != 0 && brought == bytes && mode == SendMode::standard; }
  [[nodiscard]] bool is_send() const { return kind == Kind::send; }
  [[nodiscard]] std::byte* source() const { return alias ? alias : data; }
  /// receive: the adapter has chunks of a `write` delivery under way (rendezvous/rdma_transfer.cpp).
  [[nodiscard]] bool is_read_by_adapter() const;
  [[nodiscard]] bool has_gaps() const { return gaps; }
  /// Where the program's bytes are.
  void describe(const UserBuffer& buffer) {
    gaps = !buffer.is_contiguous();
    if (gaps) {
      layout_buffer = buffer;
    } else {
      data = buffer.data();
    }
    bytes = buffer.bytes();
  }
  /// All memory that the operation may touch, gaps included.
  [[nodiscard]] ByteRange range() const { return has_gaps() ? layout_buffer.span() : ByteRange::of(data, bytes); }
};

/// Of one that is complete, or released with the engine lock held.
[[nodiscard]] inline Outcome outcome_of(const Request& request) {
  Outcome outcome;
  outcome.source = request.rank;
  outcome.tag = request.tag;
  outcome.failure = request.failure;
  outcome.cancelled = request.cancelled;
  outcome.bytes = request.failure == Failure::truncated ? request.message_bytes : request.limit;
  outcome.lazy_token = request.unknown ? request.lazy_token : 0;
  return outcome;
}

/// Requests are never returned to the system; an entry's generation changes with each use. It is made as new when it is taken, as
/// its lines are written then anyway.
///
/// Belongs to the engine lock; but chains are given back by whoever is in a call, without it where only one thread is
/// (`returned_`, from which calls take, also belongs to that thread).
class RequestPool {
 public:
  /// By a call of the application's.
  Request* take();
  void give_back(Request* request);
  /// Complete ones, `retired` by the thread to which they belong, and chained to each other by `next_of`.
  void give_back(Request* first, Request* last) {
    next_of(*last) = returned_;
    returned_ = first;
  }
  /// Nobody finds it any more, and it holds nothing.
  static void retire(Request& request) {
    if (request.gaps) [[unlikely]]
      request.layout_buffer = {};
    if (request.is_send() && request.owned) request.owned.reset();
    request.id = static_cast<RequestId>(((raw(request.id) & ~in_use) + one_generation) & ~in_use);
  }
  static Request*& next_of(Request& request) { return request.match_link.next; }
  /// nullptr when no request in use has that name.
  [[nodiscard]] Request* find(RequestId id) const;
  template <typename Visit>
  void for_each_in_use(Visit&& visit) const {
    for (const auto& chunk : chunks_) {
      for (std::size_t entry = 0; entry < chunk_entries; ++entry) {
        if ((raw(chunk[entry].id) & in_use) != 0) visit(chunk[entry]);
      }
    }
  }

 private:
  static constexpr std::size_t chunk_entries = 256;
  static constexpr std::uint64_t one_generation = std::uint64_t{1} << 32;
  static constexpr std::uint64_t in_use = std::uint64_t{1} << 63;

  static std::uint64_t raw(RequestId id) { return static_cast<std::uint64_t>(id); }
  void grow();
  static void reset(Request& request);

  std::vector<std::unique_ptr<Request[]>> chunks_;
  std::vector<Request*> free_;
  Request* returned_ = nullptr;
};

}  // namespace sluice
