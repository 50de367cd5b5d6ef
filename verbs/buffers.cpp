#include "verbs/buffers.hpp"

#include <stdexcept>

#include "runtime/alias/own_pins.hpp"

namespace sluice {

SendSlots::SendSlots(const VerbsDevice& device, std::uint32_t count) : count_(count), memory_(device, count * verbs_slot::bytes) {
  free_.reserve(count);
  for (std::uint32_t slot = count; slot-- > 0;) free_.push_back(slot);
}

std::uint32_t SendSlots::take() {
  if (free_.empty()) return none;
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

ReceiveBuffers::ReceiveBuffers(const VerbsDevice& device, std::uint32_t max_receives, std::uint32_t step)
    : device_(device), step_(step), queue_(nullptr, device.library().destroy_srq) {
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = max_receives;
  attributes.attr.max_sge = 1;
  const own_pins::Making making;
  queue_.reset(device.library().create_srq(device.domain(), &attributes));
  if (!queue_) throw std::runtime_error(why_failed("ibv_create_srq", device.library().error()));
}

const std::byte* ReceiveBuffers::at(std::uint32_t buffer) const {
  return blocks_[buffer / step_].start() + buffer % step_ * verbs_slot::bytes;
}

void ReceiveBuffers::grow() {
  const auto first = static_cast<std::uint32_t>(blocks_.size()) * step_;
  blocks_.emplace_back(device_, step_ * verbs_slot::bytes);
  int error = 0;
  for (std::uint32_t i = 0; i < step_ && error == 0; ++i) error = repost(first + i);
  if (error == 0) error = flush();
  if (error != 0) throw std::runtime_error(why_failed("ibv_post_srq_recv", error));
}

int ReceiveBuffers::repost(std::uint32_t buffer) {
  waiting_[waiting_count_++] = buffer;
  return waiting_count_ == batch ? flush() : 0;
}

int ReceiveBuffers::flush() {
  if (waiting_count_ == 0) return 0;
  std::array<ibv_sge, batch> segments{};
  std::array<ibv_recv_wr, batch> requests{};
  for (std::size_t i = 0; i < waiting_count_; ++i) {
    const std::uint32_t buffer = waiting_[i];
    segments[i] = {reinterpret_cast<std::uint64_t>(at(buffer)), verbs_slot::bytes, blocks_[buffer / step_].local_key()};
    requests[i].wr_id = buffer;
    requests[i].sg_list = &segments[i];
    requests[i].num_sge = 1;
    requests[i].next = i + 1 < waiting_count_ ? &requests[i + 1] : nullptr;
  }
  waiting_count_ = 0;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_srq_recv(queue_.get(), requests.data(), &bad);
}

}  // namespace sluice
