// Calls of windows that wait for others, and wake them. What they wait for lies in memory that the members share
// (window/shared_sync.hpp).
//
// While a thread waits it progresses everything, as every call does. No receive whose message is not known is released while such
// a window is open (host-calls.md), so nothing has to be settled before.

#include "runtime/engine_impl.hpp"

namespace sluice {
namespace {

/// Looks at the words before anything else is done, and for each look at messages, where nobody else waits for the processor.
constexpr unsigned first_looks = 100;
constexpr unsigned looks = 16;

/// What one thread of this process waits for, as others may see.
class Waiting {
 public:
  Waiting(WindowWaits& waits, WindowWait& wait, Lock& lock) : waits_(waits), wait_(wait), lock_(lock) { waits_.begin(wait_); }
  ~Waiting() {
    if (!lock_.owns_lock()) lock_.lock();
    waits_.end(wait_);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  WindowWaits& waits_;
  WindowWait& wait_;
  Lock& lock_;
};

}  // namespace

std::vector<WindowMember> Engine::Windows::members(const Context& context, std::size_t size) const {
  std::vector<WindowMember> members;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const Peer peer = context.peer(Rank{static_cast<int>(rank)});
    members.push_back({peer, impl_->job.transport ? impl_->job.transport->wake_mask_of(peer) : nullptr});
  }
  return members;
}

bool Engine::Windows::reaches(const WindowMember& member) const {
  const Lock lock(impl_->mutex);
  return member.peer == impl_->job.self || (impl_->job.transport && impl_->job.transport->can_read(member.peer));
}

void Engine::Windows::see_kept_memory() const { const Lock lock(impl_->mutex); }

bool Engine::Windows::read(const WindowMember& member, std::span<const iovec> places, std::byte* target) const {
  return impl_->job.transport->read_places(member.peer, places, target);
}

bool Engine::Windows::write(const WindowMember& member, std::span<const iovec> places, const std::byte* source) const {
  return impl_->job.transport->write_places(member.peer, places, source);
}

bool Engine::Windows::wait(WindowWait& wait, std::uint64_t limit_ns) {
  const auto is_there = [&](unsigned times) {
    for (unsigned look = impl_->job.oversubscribed ? times - 1 : 0; look < times; ++look) {
      if (wait.is_there()) return true;
    }
    return false;
  };
  if (is_there(first_looks)) return true;
  Lock lock(impl_->mutex);
  const Inside inside(impl_->progress, lock);
  const Waiting waiting(impl_->window_waits, wait, lock);
  Waiter waiter(impl_->progress, Waiter::Who::application);
  bool found = false;
  do {
    if (impl_->progress.round(lock)) continue;
    waiter.step(lock, limit_ns);
    waiter.let_cancellation_act(lock);
  } while (!(found = is_there(looks)) && waiter.waited_ns() < limit_ns);
  impl_->statistics.waited_ns += waiter.waited_ns();
  return found;
}

void Engine::Windows::wake_sleeper(const WindowMember& member) {
  const Lock lock(impl_->mutex);
  if (member.peer == impl_->job.self) return impl_->sleepers.wake();
  impl_->job.transport->wake_for_lane(member.peer);
}

}  // namespace sluice
