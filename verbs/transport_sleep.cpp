// Sleeping and being woken, and the helper thread.

#include <poll.h>

#include <algorithm>

#include "net/system.hpp"
#include "runtime/base/clock.hpp"
#include "verbs/transport.hpp"
#include "verbs/watch_tags.hpp"

namespace sluice {
namespace {

/// Between two looks at a ring of whose messages nobody tells: by a thread that sleeps, and by the helper thread.
constexpr std::chrono::microseconds short_sleep{50};
constexpr std::uint64_t ring_interval_ns = 1'000'000;

}  // namespace

void VerbsTransport::set_wake_mask(WakeMask level) {
  const bool wanted = level != WakeMask::none;
  wake_mask_ = level;
  if (wanted) close_rings();
  const bool restless = wanted && rings_are_restless();
  sleeps_short_.store(restless, std::memory_order_relaxed);
  if (wanted) {
    const VerbsLibrary& library = device_.library();
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    if (queue_armed_ && library.get_cq_event(queues_->channel(), &queue, &context) == 0) {
      library.ack_cq_events(queue, 1);
      queue_armed_ = false;
    }
    if (!queue_armed_) queue_armed_ = ibv_req_notify_cq(queues_->completions(), 0) == 0;
  }
  const bool helper_wanted = wanted && (options_.hears_for_sleepers || level != WakeMask::sleeper);
  if (!helper_wanted && !helper_armed_) return;
  helper_armed_ = helper_wanted;
  const std::uint32_t events = EPOLLONESHOT | (helper_wanted ? std::uint32_t{EPOLLIN} : 0);
  system::epoll_control(helper_epoll_.get(), EPOLL_CTL_MOD, queues_->channel()->fd, events, watch_tags::channel);
  if (!helper_wanted || !restless || look_at_rings_ != never) return;
  look_at_rings_ = now_ns() + ring_interval_ns;
  note_deadline();
  wake_helper();
}

void VerbsTransport::sleep(std::chrono::microseconds limit) {
  if (sleeps_short_.load(std::memory_order_relaxed)) limit = std::min(limit, short_sleep);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec timeout{seconds.count(), std::chrono::nanoseconds(limit - seconds).count()};
  std::array<pollfd, 2> files{{{queues_->channel()->fd, POLLIN, 0}, {poke_.descriptor(), POLLIN, 0}}};
  ::syscall(SYS_ppoll, files.data(), files.size(), &timeout, nullptr, 0);
}

void VerbsTransport::poke() {
  poked_ = true;
  poke_.ring();
}

void VerbsTransport::forget_pokes() {
  if (poked_) poke_.silence();
  poked_ = false;
}

void VerbsTransport::note_deadline() { attend_at(std::min({connector_.deadline(), look_at_rings_, parted_deadline_})); }

bool VerbsTransport::take_helper_events() {
  std::array<epoll_event, 16> events{};
  const int count = system::epoll_wait(helper_epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
    if (tag == watch_tags::bell) bell_.silence();
    if (tag == watch_tags::listeners) listeners_rang_ = true;
    if (tag == watch_tags::adapter) adapter_rang_ = true;
    if (tag >= watch_tags::first_peer) rang_.push_back(Peer{static_cast<std::int32_t>(tag - watch_tags::first_peer)});
  }
  return count > 0 || helper_wait_ms() == 0;
}

void VerbsTransport::wake_helper() { bell_.ring(); }

void VerbsTransport::attend() {
  if (std::exchange(listeners_rang_, false) || now_ns() >= connector_.deadline()) connector_.step();
  if (std::exchange(adapter_rang_, false)) hear_adapter();
  for (const Peer peer : rang_) hear(endpoint(peer));
  rang_.clear();
  if (now_ns() >= look_at_rings_) look_at_rings_ = never;
  if (now_ns() >= parted_deadline_) {
    parted_deadline_ = never;
    vanish(parted_, "it called MPI_Abort, and nobody has ended this process since");
  }
  note_deadline();
}

}  // namespace sluice
