#include "runtime/rendezvous/copy_choice.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/engine/lock.hpp"

namespace sluice {
namespace {

/// Of processes that send to each other, each has its own copies to make, and the processors are equally busy without sharing
/// one. A message each way, µs where receivers read and where both copy: 256 KB 24 and 23, 1 MB 58 and 62, 4 MB 238 and 240; 1 MB
/// of which a byte of each page is read 21 and 28. Not so for a message that is so many times longer than what this process
/// sends.
constexpr std::size_t least_uneven = 2;

/// Where many processes share each processor, two halves pay from so many times as long a message on as where few do: both wait
/// for their turns. Eight ranks on two processors (Emerald Rapids), auto with two halves over the better one of rput, rget and
/// coop, and where the receiver reads: 256 KB scattered 1.06 and 1.00, pieces of 128 KB reduced 1.05 and 0.99; but 1 MB scattered
/// 1.01 and 1.10. Not where the receive does not block: a pipeline of 256 KB at a time, 1 MB 1.06 and 1.15, 4 MB 1.03 and 1.09.
constexpr std::size_t crowded_part = 4;

SendCall call_of(std::uint8_t rts_flags) {
  if ((rts_flags & flag_sender_waits) != 0) return SendCall::blocking;
  return (rts_flags & flag_buffered) != 0 ? SendCall::buffered : SendCall::nonblocking;
}

}  // namespace

Rendezvous CopierChoice::wanted(const Request& receive) const {
  return receive.context->rendezvous.value_or(inside_a_node(job_.config.rendezvous));
}

CopyChoice CopierChoice::choose(const Request& receive) {
  switch (wanted(receive)) {
    case Rendezvous::rput:
      return {Copier::sender, trace::Reason::asked_for};
    case Rendezvous::rget:
      return {Copier::receiver, trace::Reason::asked_for};
    case Rendezvous::coop:
      return {Copier::both, trace::Reason::asked_for};
    case Rendezvous::coop_hca:
      return {Copier::both, trace::Reason::both_copy};
    case Rendezvous::coop_coll:
      return {copier_by_calls(call_of(receive.rts_flags), receive.call_waits && !receive.released), trace::Reason::calls};
    case Rendezvous::coop_load:
      return {choose_by_load(receive), trace::Reason::load};
    default:
      return choose_automatically(receive);
  }
}

/// Where processes share processors, what a period takes says which of them had its turn.
bool CopierChoice::writes_at(Request& receive, const CopyChoice& choice) {
  if (wanted(receive) != Rendezvous::automatic) return true;
  if (choice.copier != Copier::both || job_.oversubscribed) return false;
  receive.in_trial = true;
  return halves_.begin(receive.stop - receive.offset, now_ns());
}

void CopierChoice::end_trial(Request& receive) {
  receive.in_trial = false;
  halves_.end(now_ns());
}

/// Of many messages most are in memory again before they are read.
bool CopierChoice::may_stay_in_outer_cache(const Request& receive) const {
  return !application_.awaits_many && application_.inside != 0 && !receive.released && receive.lines != TargetLines::own;
}

CopyChoice CopierChoice::choose_automatically(const Request& receive) {
  const CopySituation now = situation_of(receive);
  const MessageLines::Moment moment{
      .one_of_several = is_one_of_several(), .is_exchange = now.is_exchange, .waits = is_waited_for(receive)};
  if (lines_.are_left_to_sender(receive, moment)) return {Copier::sender, trace::Reason::sender_copies};
  return choose_hybrid(now, least_shared_bytes(receive), [&] { return job_.transport->is_attentive(receive.peer); });
}

Copier CopierChoice::choose_by_load(const Request& receive) const {
  return copier_by_load(job_.transport->copy_load(receive.peer), job_.transport->copy_load(job_.self),
                        receive.stop - receive.offset);
}

bool CopierChoice::is_waited_for(const Request& receive) const {
  return !receive.released && (receive.call_waits || application_.waiting != 0);
}

/// The message that is matched now: other long receives are open, whose messages come at the same time, as far as can be known.
bool CopierChoice::is_one_of_several() const { return requests_.counts().large_receives > 1; }

/// From where on two halves are worth their messages.
std::size_t CopierChoice::least_shared_bytes(const Request& receive) const {
  const bool own = receive.lines == TargetLines::own;
  if (is_one_of_several()) return own ? job_.calibration.coop_own_bytes_at_once() : job_.calibration.coop_bytes_at_once();
  return own ? job_.calibration.coop_own_bytes : job_.calibration.coop_bytes;
}

CopySituation CopierChoice::situation_of(const Request& receive) const {
  const std::size_t bytes = receive.stop - receive.offset;
  const SendCall send = call_of(receive.rts_flags);
  // Who blocks in a send has nothing else to copy, unless in MPI_Sendrecv: then this process is in it, too.
  const bool both_send = receive.sends_too || (requests_.counts().exchanges && send != SendCall::blocking);
  const bool is_even = bytes < least_uneven * requests_.counts().last_large_send;
  const bool is_long = bytes >= job_.calibration.gathered_bytes;
  return {
      .bytes = bytes,
      .send = send,
      .receive_blocks = receive.call_waits,
      .receiver_waits = application_.inside != 0 && !receive.released,
      .found_in_a_call = detail::engine_depth != 0,
      .is_exchange = both_send && is_even,
      .one_of_several = is_one_of_several(),
      .into_own_cache = receive.lines == TargetLines::own,
      .pays_in_turns = (job_.crowded && receive.call_waits ? bytes / crowded_part : bytes) >= job_.calibration.coop_turns_bytes,
      .is_gathered = job_.crowded && is_long,
      .oversubscribed = job_.oversubscribed};
}

void CopierChoice::expect(Request& receive, Copier copier) {
  if (wanted(receive) != Rendezvous::coop_load) return;
  const auto bytes = static_cast<std::int64_t>(receive.stop - receive.offset);
  if (copier != Copier::receiver) receive.expected_of_peer = copier == Copier::both ? bytes / 2 : bytes;
  if (copier != Copier::sender) receive.expected_of_self = copier == Copier::both ? bytes / 2 : bytes;
  if (receive.expected_of_peer != 0) job_.transport->expect_copy(receive.peer, receive.expected_of_peer);
  if (receive.expected_of_self != 0) job_.transport->expect_copy(job_.self, receive.expected_of_self);
}

void CopierChoice::withdraw_expected(Request& receive) {
  if (receive.expected_of_peer != 0) job_.transport->expect_copy(receive.peer, -receive.expected_of_peer);
  if (receive.expected_of_self != 0) job_.transport->expect_copy(job_.self, -receive.expected_of_self);
  receive.expected_of_peer = receive.expected_of_self = 0;
}

}  // namespace sluice
