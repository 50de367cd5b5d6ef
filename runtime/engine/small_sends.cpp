#include "runtime/engine/small_sends.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/engine/eager.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// Below, one more copy costs less than a system call with several pieces.
constexpr std::size_t min_direct_bytes = 4096;

}  // namespace

bool SmallSends::is_for_one_copy(Peer to, const std::byte* data, std::size_t bytes) {
  if (bytes < single_copy_bytes_ || to == job_.self || !job_.transport->can_read_blocks(to)) return false;
  const std::byte* source = unguarded_address(const_cast<std::byte*>(data), bytes);
  return source && unchanged_.sends_again(data, {source, bytes});
}

SmallSends::AtOnce SmallSends::send(const Context& context, Rank to, Tag tag, const std::byte* data, std::size_t bytes,
                                    std::uint64_t* copy_ns) {
  const Peer peer = context.peer(to);
  const auto index = static_cast<std::size_t>(peer);
  if (bytes > eager_limits_[index] || causality_.unmatched() != 0 || !outbox_.is_free(peer)) return AtOnce::not_tried;
  if (!numbers_[index].plain()) return AtOnce::not_tried;
  if (is_for_one_copy(peer, data, bytes)) return AtOnce::is_for_one_copy;
  const WireHeader header = plain_eager_header(context, tag, numbers_[index].rtrs, static_cast<std::uint32_t>(bytes));
  if (bytes < min_direct_bytes || !outbox_.send_directly(peer, header, {}, data, bytes)) {
    std::byte* room = outbox_.reserve(peer, bytes);
    if (!room) return AtOnce::had_no_room;
    const std::uint64_t began = copy_ns ? now_ns() : 0;
    copy_from_user(room, data, bytes);
    if (copy_ns) *copy_ns = now_ns() - began;
    outbox_.commit(peer, header);
  }
  ++numbers_[index].sent;
  ++statistics_.eager_sends;
  statistics_.bytes_sent += bytes;
  if (trace::on()) [[unlikely]]
    trace::posted_at_once({peer, tag, context.id()}, {data, bytes}, outbox_.traced_number(peer, context));
  return AtOnce::has_left;
}

}  // namespace sluice
