// get: as getcqe, but the receiver looks at the last byte instead of waiting for the adapter's completion (RV section 3.1). Two
// control messages. Only where the adapter places data in order, and where one read brings all up to the message's last byte.
//
// The completion comes all the same, and ends the transfer if it is seen first: a thread that sleeps cannot look at bytes. So a
// byte that never changes, because the sender's last byte was not what it announced, costs a notification and nothing else.

#include <atomic>

#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/rdma_way.hpp"

namespace sluice {
namespace {

class Get final : public RdmaProtocol {
 public:
  [[nodiscard]] Rendezvous kind() const override { return Rendezvous::get; }

  /// GR1': the last byte-slot gets a value that the message does not bring, before anything is read into it.
  void begin(RdmaWay& way, Request& receive) const override {
    *receive.rdma->local(receive.stop - 1) = ~std::byte{receive.rts_last_byte};
    way.sentinels().set(receive);
    way.read(receive, receive.rdma->adapter->largest_transfer(), unlimited_segments);
  }

  /// GR2': polling begins.
  void all_posted(RdmaWay& way, Request& receive) const override { way.watch_last_byte(receive); }

  /// The completion was first.
  void all_complete(RdmaWay& way, Request& receive) const override {
    way.forget_last_byte(receive);
    way.conclude_read(receive);
  }
};

}  // namespace

const RdmaProtocol& rdma_protocols::get() {
  static constexpr Get protocol;
  return protocol;
}

/// GR2'. What an adapter writes is no access of any thread's, hence the atomic load; the ones behind it may not be moved before.
/// A last page that is not looked at through its alias may have come under guard meanwhile, for a receive that shares it.
bool RdmaWay::poll_last_bytes() {
  bool moved = false;
  Request* next = nullptr;
  for (Request* receive = polled_.first(); receive; receive = next) {
    next = WorkList::next(receive);
    std::byte* const registered = receive->rdma->local(receive->stop - 1);
    std::byte* const last = receive->rdma->in_block ? registered : unguarded_address(registered, 1);
    if (!last || std::atomic_ref(*last).load(std::memory_order_acquire) == ~std::byte{receive->rts_last_byte}) continue;
    polled_.remove(receive);
    ++parts_.statistics.last_bytes_seen;
    conclude_read(*receive);
    moved = true;
  }
  return moved;
}

}  // namespace sluice
