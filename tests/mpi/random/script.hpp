// The script of one lane: what a set of ranks does, the same on every rank, derived from a seed.
//
// A lane is one thread on every rank, with communicators (or tags) of its own. Its script is one list of events. Every rank
// performs the events that name it, in the order of the list; a nonblocking operation is waited for at a later event.
// That makes any script free of deadlock: of all ranks that wait, the one at the earliest event waits for operations of that
// event or an earlier one, which their ranks, being at later events, have already started.
//
// It also makes matching predictable: sends and receives between two ranks are started in the same order on both sides, so
// a receive from a named source matches its own message whatever its tag selector is. A receive from any source is given a tag
// that no other event uses. Only `wild` events match in an order that is not known beforehand; they are checked per source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective.hpp"
#include "layout_spec.hpp"

namespace random_program {

enum class SendCall : std::uint8_t {
  send,
  ssend,
  bsend,
  isend,
  issend,
  ibsend,
  send_init,
  ssend_init,
  bsend_init,
  isend_then_free,   // MPI_Request_free while active
  sendrecv_to_null,  // the receive half is from MPI_PROC_NULL
};

enum class ReceiveCall : std::uint8_t {
  recv,
  irecv,
  recv_init,
  probe_recv,
  iprobe_recv,
  probe_irecv,
  mprobe_mrecv,
  mprobe_imrecv,
  improbe_mrecv,
  improbe_imrecv,
  sendrecv_from_null,  // the send half is to MPI_PROC_NULL
};

/// One message. Ranks are those of MPI_COMM_WORLD; `communicator` is an index into the lane's list.
struct Transfer {
  int source = 0;
  int destination = 0;
  std::size_t communicator = 0;
  int tag = 0;
  Base base = Base::byte;
  std::size_t units = 0;           // sent
  std::size_t capacity_units = 0;  // at least `units`
  LayoutSpec send_layout;
  LayoutSpec receive_layout;
  SendCall send_call = SendCall::send;
  ReceiveCall receive_call = ReceiveCall::recv;
  bool any_source = false;
  bool any_tag = false;
  std::uint64_t key = 0;  // names the contents

  [[nodiscard]] std::size_t bytes() const { return units * packed_bytes(base); }
};

enum class EventKind : std::uint8_t {
  transfer,
  to_self,    // source and destination are one rank
  shift,      // a cycle of ranks, each sends to the next: Sendrecv, Sendrecv_replace and their equals
  chain,      // each hop passes on the buffer that it has just received, untouched
  overwrite,  // two receives, the second into the same bytes as the first, untouched in between
  ready,      // the receiver says that its receive is posted, the sender uses ready mode
  repeat,     // the same message several times: persistent on either side
  handed_on,  // a late message; its receiver passes the buffer on, or gives it back, before it looks at it
  wild,       // several sources, received in whatever order they come
  cancelled,  // a receive that nobody sends to
  barrier,
  broadcast,
  relay_broadcast,  // the root broadcasts the buffer that it has just received, untouched
  sum,
  start_barrier,  // nonblocking, waited for together with point-to-point requests
  start_broadcast,
  start_sum,
  call,     // a collective call of any kind, blocking or not
  quiesce,  // everything outstanding completes and is checked
};

struct Event {
  EventKind kind = EventKind::quiesce;
  std::size_t communicator = 0;
  std::vector<Transfer> transfers;
  Collective call;
  bool any_tag = false;          // wild: the tags differ; a barrier stands on either side
  unsigned sender_delay_us = 0;  // busy time before the operation, on either side
  unsigned receiver_delay_us = 0;
};

/// Which ranks of MPI_COMM_WORLD share a communicator, and their ranks inside it.
struct CommunicatorShape {
  enum class Kind : std::uint8_t { all, reversed, parity, pairs, shifted, grid, alone };  // shifted: pairs that overlap the pairs
  Kind kind = Kind::all;
  std::vector<int> color;
  std::vector<int> local;

  static CommunicatorShape make(Kind kind, int ranks);
  static int color_of(Kind kind, int rank);
  [[nodiscard]] std::vector<int> members(int world_rank) const;  // in the order of their local ranks
};

struct ScriptOptions {
  std::uint64_t seed = 0;
  int lane = 0;
  int ranks = 1;
  bool shared_communicator = false;  // with the other lanes; tags are disjoint, no collectives, no MPI_ANY_TAG
};

struct Script {
  std::vector<CommunicatorShape> communicators;
  std::vector<Event> events;
};

/// Limits that callers rely on: what one rank may have in buffered mode during one script.
inline constexpr std::size_t buffered_limit_bytes = std::size_t{1} << 20;
inline constexpr std::size_t buffered_limit_messages = 64;

Script make_script(const ScriptOptions& options);

const char* describe(EventKind kind);

}  // namespace random_program
