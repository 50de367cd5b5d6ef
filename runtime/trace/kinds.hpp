// What a trace tells: the kinds of records, the members that each uses, and the words that numbers stand for.
//
// `kinds` and `words` are written into every trace (EntryType::kind, EntryType::word), so that a reader can print what it was not
// built for; numbers here are never given another meaning.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::trace {

enum class Kind : std::uint16_t {
  none,
  // calls
  call = 1,
  wait,
  waiting,
  // messages
  post_send = 10,
  post_receive,
  match,
  arrive,
  protocol,
  message_out,
  message_in,
  progress,
  complete,
  hold,
  let_go,
  set_aside,
  copy,
  // releases
  release = 30,
  not_released,
  open,
  release_end,
  fault,
  settle,
  // the rest
  fallback = 40,
  registration,
  migrate,
  helper,
  sleep,
  ring,
  frequent,
  frequent_terms,
  // collective calls
  collective = 60,
  collective_end,
  part,
};

enum class CallClass : std::uint16_t { carried, host };
enum class WaitEnd : std::uint16_t { complete, released, aside, incomplete };  // incomplete: of a wait for any of several
/// How a message's data travels.
enum class Protocol : std::uint16_t { eager, rput, rget, coop, stream, getcqe, get, rdrp, putnr, put, coop_hca };
/// Why that way.
enum class Reason : std::uint16_t {
  none,
  asked_for,
  small,
  brought_along,
  only_way,
  both_copy,
  receiver_waits,
  sender_copies,
  not_registered,
  one_read,
  many_chunks,
  refused,
  calls,
  load,
  is_short,
  exchange,
  posted_ahead,
};
/// What carries messages to a rank (EntryType::peers).
enum class Transporter : std::uint8_t { none, self, shmem, tcp, verbs };
enum class Outcome : std::uint16_t { success, truncated, cancelled };
enum class Held : std::uint16_t { send, transfer, acknowledgement };
enum class SettleCause : std::uint16_t { host_call, operation, allocator, output, count, fork, finalize };
enum class RegistrationEvent : std::uint16_t { hit, made, evicted, retried, refused, invalidated };
enum class RingEvent : std::uint16_t { opened, closed, moved };
enum class CollectiveKind : std::uint16_t {
  other,
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce_scatter,
  scan,
  exscan,
  neighbour_allgather,
  neighbour_alltoall,
};

// Sets of bits.
inline constexpr std::uint16_t post_synchronous = 1, post_buffered = 2, post_blocking = 4, post_gaps = 8, post_at_once = 16,
                               post_gathered = 32;
inline constexpr std::uint16_t match_rendezvous = 1, match_unexpected = 2, match_truncated = 4, match_released = 8,
                               match_put = 16;
/// In message_out, beside the kinds of runtime/transport/message.hpp: data written to a receive that was announced.
inline constexpr std::uint16_t message_put = 100;
inline constexpr std::uint16_t collective_lanes = 1, collective_nonblocking = 2, collective_failed = 4;
inline constexpr std::uint16_t part_send = 1;
inline constexpr std::uint16_t release_send = 1, release_unmatched = 2, release_touched = 4, release_at_once = 8;

struct Word {
  std::string_view list;
  std::uint32_t value;
  std::string_view word;
};

/// Those of `fallback` and `eligibility` belong to other rooms (engine/statistics.hpp, alias/arena.hpp), which the trace does not
/// know; who opens it adds them.
inline constexpr std::array words{
    Word{"call", 0, "carried"},
    Word{"call", 1, "host"},
    Word{"ended", 0, "complete"},
    Word{"ended", 1, "released"},
    Word{"ended", 2, "set aside"},
    Word{"ended", 3, "incomplete"},
    Word{"post", post_synchronous, "synchronous"},
    Word{"post", post_buffered, "buffered"},
    Word{"post", post_blocking, "blocking"},
    Word{"post", post_gaps, "gaps"},
    Word{"post", post_at_once, "at once"},
    Word{"post", post_gathered, "gathered"},
    Word{"match", match_rendezvous, "rendezvous"},
    Word{"match", match_unexpected, "unexpected"},
    Word{"match", match_truncated, "truncated"},
    Word{"match", match_released, "released"},
    Word{"match", match_put, "put"},
    Word{"message", 1, "eager"},
    Word{"message", 2, "rts"},
    Word{"message", 3, "cts"},
    Word{"message", 4, "refuse"},
    Word{"message", 5, "data"},
    Word{"message", 6, "fin"},
    Word{"message", 7, "ack"},
    Word{"message", 8, "rtr"},
    Word{"message", 9, "withdraw"},
    Word{"message", 10, "withdrawn"},
    Word{"message", message_put, "put"},
    Word{"protocol", 0, "eager"},
    Word{"protocol", 1, "rput"},
    Word{"protocol", 2, "rget"},
    Word{"protocol", 3, "coop"},
    Word{"protocol", 4, "stream"},
    Word{"protocol", 5, "getcqe"},
    Word{"protocol", 6, "get"},
    Word{"protocol", 7, "rdrp"},
    Word{"protocol", 8, "putnr"},
    Word{"protocol", 9, "put"},
    Word{"protocol", 10, "coop-hca"},
    Word{"reason", 0, "none"},
    Word{"reason", 1, "asked for"},
    Word{"reason", 2, "small"},
    Word{"reason", 3, "came with the announcement"},
    Word{"reason", 4, "only way"},
    Word{"reason", 5, "both sides can copy"},
    Word{"reason", 6, "receiver waits"},
    Word{"reason", 7, "sender can copy"},
    Word{"reason", 8, "sender's buffer not registered"},
    Word{"reason", 9, "one read is enough"},
    Word{"reason", 10, "many chunks"},
    Word{"reason", 11, "refused before"},
    Word{"reason", 12, "kinds of the calls"},
    Word{"reason", 13, "less to copy"},
    Word{"reason", 14, "message is short"},
    Word{"reason", 15, "each side has its own to copy"},
    Word{"reason", 16, "receive was posted ahead"},
    Word{"outcome", 0, "success"},
    Word{"outcome", 1, "truncated"},
    Word{"outcome", 2, "cancelled"},
    Word{"held", 0, "send"},
    Word{"held", 1, "transfer"},
    Word{"held", 2, "acknowledgement"},
    Word{"release", release_send, "send"},
    Word{"release", release_unmatched, "unmatched"},
    Word{"release", release_touched, "touched"},
    Word{"release", release_at_once, "at once"},
    Word{"access", 0, "read"},
    Word{"access", 1, "write"},
    Word{"settle", 0, "host call"},
    Word{"settle", 1, "operation"},
    Word{"settle", 2, "allocator"},
    Word{"settle", 3, "output"},
    Word{"settle", 4, "count"},
    Word{"settle", 5, "fork"},
    Word{"settle", 6, "finalize"},
    Word{"registration", 0, "hit"},
    Word{"registration", 1, "made"},
    Word{"registration", 2, "evicted"},
    Word{"registration", 3, "tried again"},
    Word{"registration", 4, "refused"},
    Word{"registration", 5, "invalidated"},
    Word{"ring", 0, "opened"},
    Word{"ring", 1, "closed"},
    Word{"ring", 2, "moved to another peer"},
    Word{"collective", 0, "other"},
    Word{"collective", 1, "barrier"},
    Word{"collective", 2, "bcast"},
    Word{"collective", 3, "reduce"},
    Word{"collective", 4, "allreduce"},
    Word{"collective", 5, "gather"},
    Word{"collective", 6, "scatter"},
    Word{"collective", 7, "allgather"},
    Word{"collective", 8, "alltoall"},
    Word{"collective", 9, "reduce_scatter"},
    Word{"collective", 10, "scan"},
    Word{"collective", 11, "exscan"},
    Word{"collective", 12, "neighbor_allgather"},
    Word{"collective", 13, "neighbor_alltoall"},
    Word{"carried", collective_lanes, "lanes"},
    Word{"carried", collective_nonblocking, "nonblocking"},
    Word{"carried", collective_failed, "failed"},
    Word{"part", part_send, "send"},
    Word{"transporter", 0, "none"},
    Word{"transporter", 1, "self"},
    Word{"transporter", 2, "shmem"},
    Word{"transporter", 3, "tcp"},
    Word{"transporter", 4, "verbs"},
};

/// The word of a protocol, which is its name in SLUICE_RNDV as well.
constexpr std::string_view name_of(Protocol protocol) {
  for (const Word& word : words) {
    if (word.list == "protocol" && word.value == static_cast<std::uint32_t>(protocol)) return word.word;
  }
  return {};
}

/// `members`: which members of a record the kind uses, beside time_ns, separated by blanks: operation, site, peer, tag, context,
/// duration under their own names, and detail, bytes, value, extra as member:name. A name is followed by =list when the number
/// stands for a word of that list, by |list when it is a set of bits of it, by @ when it is an address (hexadecimal).
struct KindText {
  Kind kind{};
  std::string_view name;
  std::string_view members;
  std::string_view meaning;
};

inline constexpr std::array kinds{
    KindText{Kind::call, "call", "site duration detail:by=call value:waited_ns extra:call",
             "A blocking call returned. waited_ns: of its time, what Sluice waited for operations. call: its number."},
    KindText{Kind::wait, "wait", "operation site duration detail:ended=ended extra:call",
             "A call waited for this operation, which was not complete when it came; one record for each such operation."},
    KindText{Kind::waiting, "waiting", "operation site duration extra:call",
             "A wait has lasted a millisecond and goes on: what a killed program was waiting for."},
    KindText{
        Kind::post_send, "post_send", "operation site peer tag context detail:how|post bytes:bytes value:address@ extra:message",
        "A send began. With `at once` it left as an eager message and was complete: no other record tells of it, but for "
        "its call, and message is its number (see message_out). With `gathered` an adapter reads it from the program's memory: "
        "the copy of an eager message is saved."},
    KindText{Kind::post_receive, "post_receive", "operation site peer tag context detail:how|post bytes:capacity value:address@",
             "A receive began; peer and tag as asked for."},
    KindText{Kind::match, "match", "operation peer tag context detail:how|match bytes:bytes value:message extra:part",
             "A message and a receive found each other; peer and tag are the message's. message: its number, see message_out. "
             "part: 1 where it is one of a collective call, and none of the program's own; else 0."},
    KindText{Kind::arrive, "arrive", "peer tag context detail:kind=message bytes:bytes value:message extra:part",
             "A message came for which no receive was posted yet. part: see match."},
    KindText{Kind::protocol, "protocol", "operation peer detail:protocol=protocol bytes:missing extra:why=reason",
             "How what is missing of the message is to travel, as its receiver decided."},
    KindText{Kind::message_out, "message_out",
             "operation peer tag context detail:kind=message bytes:payload value:message extra:part",
             "A message of Sluice's left for the peer, or for the queue of those that go before it. message: of an eager or rts, "
             "the how-many-th of these from this rank to that one, from 1; otherwise "
             "0. Of an rtr: its number among those to that rank, 16 bits; of a put: that of the rtr that it answers. part: see "
             "match."},
    KindText{Kind::message_in, "message_in", "operation peer detail:kind=message bytes:payload",
             "An answer came: cts, refuse, data, fin or ack. For eager and rts see match and arrive."},
    KindText{
        Kind::progress, "progress", "operation peer bytes:in_place value:of",
        "So many bytes are in place, or have left. The last ones are told by complete. Of a coop, each side tells when it has "
        "copied a chunk: the sender what it has written, the receiver what both have, as far as it knows."},
    KindText{Kind::copy, "copy", "operation peer duration bytes:bytes",
             "A processor copied these bytes of a large message between the memories of both sides. duration: of that alone."},
    KindText{Kind::complete, "complete", "operation site peer tag detail:outcome=outcome bytes:bytes", "The operation is over."},
    KindText{Kind::hold, "hold", "operation peer detail:what=held",
             "Something must not leave before the message of a released receive is known."},
    KindText{Kind::let_go, "let_go", "operation peer duration detail:what=held", "It may leave; it was held for so long."},
    KindText{Kind::set_aside, "set_aside", "operation peer bytes:bytes",
             "A blocked send need wait no longer, as the rest of its message was copied."},
    KindText{Kind::release, "release",
             "operation site peer tag duration detail:how|release bytes:bytes value:address@ extra:pages",
             "The buffer of an operation came under guard, and nobody need wait for it in a call any more. duration: of closing "
             "the pages."},
    KindText{Kind::not_released, "not_released", "operation site duration detail:why=fallback bytes:bytes",
             "A blocked operation could have been released and was not. duration: its call had waited for so long."},
    KindText{Kind::open, "open", "operation bytes:bytes value:address@", "These pages of a release opened, in one run."},
    KindText{Kind::release_end, "release_end",
             "operation site duration detail:how|release bytes:hidden_ns value:touched_after_ns extra:price_ns",
             "A release is over. duration: how long it lasted, for which its call would have gone on waiting. hidden: until the "
             "first touch, less what closing the pages took and what the program waited for other releases meanwhile. "
             "touched_after_ns: 0 when nobody touched it."},
    KindText{Kind::fault, "fault", "operation site duration detail:access=access value:address@",
             "A thread touched a page under guard and waited. site: the instruction that touched it."},
    KindText{Kind::settle, "settle", "operation site duration detail:cause=settle bytes:bytes value:address@",
             "A call waited until this release was over. site: the call that forced it."},
    KindText{Kind::fallback, "fallback", "operation peer detail:why=fallback", "A transfer could not go the way it had begun."},
    KindText{Kind::registration, "registration", "duration detail:what=registration bytes:bytes value:address@",
             "Memory and the adapter."},
    KindText{Kind::migrate, "migrate", "duration detail:result=eligibility bytes:bytes value:address@",
             "Memory was made an alias block, or could not be."},
    KindText{Kind::helper, "helper", "duration", "The helper thread was woken, worked for so long, and sleeps again."},
    KindText{Kind::sleep, "sleep", "duration", "A thread slept in a call."},
    KindText{Kind::ring, "ring", "peer detail:what=ring value:messages",
             "The ring into which the peer writes its small messages over verbs. messages: those that came by it since it was "
             "opened, when it is closed."},
    KindText{Kind::frequent, "frequent", "duration bytes:bytes value:address@ extra:uses",
             "A send buffer has become frequent, with so many uses, and its memory was registered. duration: of that."},
    KindText{Kind::frequent_terms, "frequent_terms", "duration bytes:copy_ps_per_kib value:use_ps extra:wait_use_ps",
             "What decides how many uses make a send buffer frequent, as far as it is known by now: what a copy takes that is "
             "saved; what a use of registered memory takes instead, and that of a call that waits for its send. duration: of "
             "registering a page."},
    KindText{Kind::collective, "collective",
             "operation site peer context detail:kind=collective bytes:bytes value:number extra:how|carried",
             "This rank entered a collective call that Sluice carries. peer: the root, where there is one. number: the same on "
             "all ranks of the call. Its upper half is the first rank of the communicator, its lower half counts the calls with "
             "`lanes`, or those without it. bytes: what this rank gives, or what it gets where that is more."},
    KindText{Kind::collective_end, "collective_end",
             "operation site peer duration detail:how|carried bytes:came_after_ns value:waited_ns extra:ranks",
             "It is over for this rank: the call returns, or what was begun by a nonblocking one is done. waited_ns: of the "
             "time in the call that began it, what it waited, and all of it where that call is nonblocking. peer: in lanes, whom "
             "it waited for last, and that one was seen to have come after "
             "came_after_ns. ranks: how many there are in the communicator."},
    KindText{Kind::part, "part", "operation site peer tag context detail:how|part bytes:bytes value:collective",
             "A send or receive that a collective call consists of began, in the place of post_send and post_receive. "
             "collective: the operation of that call."},
};

}  // namespace sluice::trace
