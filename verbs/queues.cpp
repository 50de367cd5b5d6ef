#include "verbs/queues.hpp"

#include <fcntl.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/alias/own_pins.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t buffers_per_peer = Credits::buffers(VerbsQueues::window);
constexpr std::uint32_t entries_per_peer = buffers_per_peer + SendQueue::depth;

std::size_t entries_of(std::size_t peers, std::size_t node_peers) {
  return peers * entries_per_peer + node_peers * SendQueue::depth;
}
/// Adapters make no empty queues and registrations.
std::size_t at_least_one(std::size_t peers) { return std::max<std::size_t>(peers, 1); }

VerbsDevice with_room_for(VerbsDevice device, std::size_t peers, std::size_t node_peers) {
  const ibv_device_attr& limits = device.limits();
  const auto check = [&](const char* what, std::size_t needed, int granted) {
    if (needed <= static_cast<std::size_t>(granted)) return;
    throw std::runtime_error(device.description() + ": " + std::to_string(peers + node_peers) + " peers need " +
                             std::to_string(needed) + " " + what + ", the adapter has " + std::to_string(granted));
  };
  check("queue pairs", peers + node_peers, limits.max_qp);
  check("entries of a completion queue", entries_of(peers, node_peers), limits.max_cqe);
  check("entries of a shared receive queue", peers * buffers_per_peer, limits.max_srq_wr);
  check("requests in a send queue", SendQueue::depth, limits.max_qp_wr);
  return device;
}

/// Whoever reads it looks whether there is anything.
void never_wait(int descriptor) {
  checked(::fcntl(descriptor, F_SETFL, checked(::fcntl(descriptor, F_GETFL), "fcntl") | O_NONBLOCK), "fcntl");
}

}  // namespace

VerbsQueues::VerbsQueues(VerbsDevice device, std::size_t peers, std::size_t node_peers)
    : device_(with_room_for(std::move(device), peers, node_peers)),
      channel_(device_.library().create_comp_channel(device_.context()), device_.library().destroy_comp_channel),
      completions_(nullptr, device_.library().destroy_cq),
      buffers_(device_, static_cast<std::uint32_t>(at_least_one(peers)) * buffers_per_peer, buffers_per_peer),
      slots_(device_, send_slots),
      ring_words_(device_, at_least_one(peers) * sizeof(RingWords), VerbsMemory::Access::peers) {
  const VerbsLibrary& library = device_.library();
  if (!channel_) throw std::runtime_error(why_failed("ibv_create_comp_channel", library.error()));
  const auto entries = static_cast<int>(entries_of(peers, node_peers));
  const own_pins::Making making;
  completions_.reset(library.create_cq(device_.context(), entries, nullptr, channel_.get(), 0));
  if (!completions_) throw std::runtime_error(why_failed("ibv_create_cq", library.error()));
  never_wait(channel_->fd);
  never_wait(device_.context()->async_fd);
}

}  // namespace sluice
