#include "runtime/engine/message_lines.hpp"

#include "runtime/guard/user_memory.hpp"
#include "runtime/policy/hybrid_choice.hpp"

namespace sluice {
namespace {

/// To ask the sender for its copy costs two messages. Near, 20 KB there and back: 5.4 µs where senders copy, and 4.3.
constexpr std::size_t least_left_near = std::size_t{32} << 10;
constexpr std::size_t least_left_far = std::size_t{16} << 10;
/// Of a sender that is in no call: its helper thread must be woken for it.
constexpr std::size_t least_left_to_busy_sender = std::size_t{64} << 10;
/// Of senders that wait for a processor as well.
constexpr std::size_t least_left_in_turns = std::size_t{64} << 10;

/// Of processes that send to each other. Two processors, faces of a stencil, far, µs where they are read and where senders copy:
/// 4 ranks 64 KB 59.7 and 58.9, 128 KB 151 and 100, 8 ranks 64 KB 187 and 172; of 256 KB reading is as fast or faster. Who
/// receives one after the other has the processor, and reads: 256 KB reduced by four, whose parts are added as they come, 94 and
/// 114.
constexpr std::size_t most_exchanged_by_senders = std::size_t{128} << 10;

bool is_from_block(const Request& receive) { return (receive.rts_flags & flag_block) != 0 && !receive.has_gaps(); }
/// Their sender has not written them by itself, or not since another's stores had taken them from their last reader.
bool is_overwritten(const Request& receive) { return (receive.rts_flags & flag_overwritten) != 0; }

bool may_be_left_in_turns(const Request& receive, MessageLines::Moment moment) {
  if (moment.is_exchange) return moment.one_of_several && receive.limit <= most_exchanged_by_senders;
  return moment.one_of_several || receive.limit < hybrid::least_shared_in_turns;
}

}  // namespace

/// Whether it matters if the sender writes them anew.
bool MessageLines::spares(const Request& receive) const {
  const bool may_be_left = terms_.calibration.far_ns != 0;
  if (terms_.oversubscribed) return may_be_left && receive.limit >= least_left_in_turns;
  return receive.limit >= terms_.calibration.copies.handing_back_bytes || (may_be_left && receive.limit >= least_left_far);
}

void MessageLines::on_match(Request& receive) {
  const bool from_block = is_from_block(receive);
  const bool spared = from_block && spares(receive);
  receive.lines = from_block ? buffers_.overwrite(receive.data, receive.limit) : TargetLines::unknown;
  receive.written_anew = spared ? sources_.written_anew(receive.peer, receive.remote_address, receive.limit) : WrittenAnew::no;
  receive.source_lines = lines_of_source(receive);
}

/// Streaming stores (shared_copy.cpp) hand nothing back. (Of outer lines a chunk is streamed now and then, and the sender is told
/// all the same that it was handed back: what it knows of its lines is no more than a guess at what copies cost.)
SourceLines MessageLines::lines_of_source(const Request& receive) const {
  const bool hands_back = !terms_.oversubscribed && receive.written_anew == WrittenAnew::just_now &&
                          receive.limit >= terms_.calibration.copies.handing_back_bytes && receive.lines != TargetLines::shared;
  return hands_back ? SourceLines::handed_back : SourceLines::kept;
}

bool MessageLines::are_left_to_sender(const Request& receive, Moment moment) {
  if (terms_.calibration.far_ns == 0 || receive.written_anew == WrittenAnew::no) return false;
  if (terms_.oversubscribed) return may_be_left_in_turns(receive, moment) && !is_overwritten(receive) && lie_far_away(receive);
  return are_far(receive, moment) && (receive.limit >= least_left_to_busy_sender || is_in_a_call_soon(receive, moment.waits));
}

/// Where processes share processors, the sender may announce on another one than it wrote on. Found by its address in a peer's
/// memory, a line takes 45 ns more.
bool MessageLines::lie_far_away(const Request& receive) {
  MessageDistance& distance = costs_of(receive.peer).of_messages;
  if (distance.is_due()) {
    distance.note(transport_->line_latency_before_ns(receive.peer, receive.remote_address + receive.stop) > most_near_line_ns);
  }
  return distance.is_far();
}

bool MessageLines::are_far(const Request& receive, Moment moment) {
  if (receive.limit < least_left_far) return false;
  PeerDistance& distance = costs_of(receive.peer).distance;
  if (distance.is_due()) distance.note(transport_->line_latency_ns(receive.peer), terms_.calibration.far_ns);
  // Windows that leave the sender's cache, far. If it writes a line in each page only, this processor's caches have the others
  // still (60 ns, 16 MB of 1 MB messages), and two halves hide more: GB/s 56 by both sides, 36 by senders. If it writes them
  // whole, each comes from its caches (165 ns): 4 MB passed on in pieces of 256 KB 387 µs by both sides, 334 by the sender.
  const bool in_windows = moment.one_of_several && !moment.is_exchange && receive.written_anew == WrittenAnew::long_ago;
  if (in_windows) return distance.shares_no_cache() && lie_far_away(receive);
  // Long faces of blocks: each has its own to copy. 1 MB, two ranks: 486 µs by the senders, 454 by the receivers; 512 KB 165,
  // 212.
  const bool is_long = leave_own_cache(receive.limit);
  if (moment.is_exchange && moment.one_of_several && is_long) return false;
  // Of several that come at once two halves hide more: 1 MB passed on in four pieces 61 µs, and 65 where the sender copies.
  const bool is_fresh =
      receive.written_anew == WrittenAnew::just_now || (receive.written_anew == WrittenAnew::lately && !moment.one_of_several);
  if (is_fresh && receive.limit >= least_left_near) return distance.is_far();
  const bool lines_are_lost = is_overwritten(receive) && is_long;
  return !lines_are_lost && distance.shares_no_cache();
}

/// The sender. After MPI_Isend it most often is, as where two processes exchange what each needs, and who waits in a call can
/// wait for it. Two pieces of 32 KB reduced by two ranks: 12.2 µs where they are read at once, and 11.3; far 20 and 16.
bool MessageLines::is_in_a_call_soon(const Request& receive, bool may_wait) {
  if (transport_->is_attentive(receive.peer)) return true;
  Patience& patience = costs_of(receive.peer).patience;
  if (!may_wait || !patience.is_worth_it()) return false;
  const bool came = transport_->is_attentive_soon(receive.peer);
  patience.note(came);
  return came;
}

void MessageLines::on_read(const Request& receive) {
  if (!is_from_block(receive) || receive.released || !spares(receive)) return;
  const std::byte* copy = unguarded_address(receive.data, receive.limit);
  if (copy) sources_.note_read(receive.peer, receive.remote_address, {copy, receive.limit});
}

void MessageLines::on_read_by_peer(const Request& send, bool handed_back) {
  handed_back ? buffers_.note_handed_back(send.data, send.bytes) : buffers_.note_read_by_peer(send.data, send.bytes);
}

}  // namespace sluice
