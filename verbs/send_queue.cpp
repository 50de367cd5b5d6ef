#include "verbs/send_queue.hpp"

namespace sluice {

int SendQueue::append(const Request& request) {
  int error = 0;
  if (chained_ == chain) error = flush();
  const bool holds_slot = request.slot != SendSlots::none && !request.is_inline;
  unsignalled_slots_ += holds_slot ? 1 : 0;
  ++unsignalled_;
  const bool signal = request.token != 0 || unsignalled_ == signal_interval ||
                      (holds_slot && (slots_->scarce() || unsignalled_slots_ == slot_interval));
  if (signal) unsignalled_ = unsignalled_slots_ = 0;

  auto& segments = segments_[chained_];
  int count = 0;
  const auto add = [&](const std::byte* from, std::size_t bytes, std::uint32_t key) {
    segments[static_cast<std::size_t>(count++)] = {reinterpret_cast<std::uint64_t>(from), static_cast<std::uint32_t>(bytes), key};
  };
  add(request.start, request.bytes, request.local_key);
  if (!request.sge_payload.empty()) add(request.sge_payload.data(), request.sge_payload.size(), request.sge_key);
  if (request.tail_bytes != 0) add(request.start + request.bytes, request.tail_bytes, request.local_key);
  ibv_send_wr& built = requests_[chained_];
  built = {};
  built.wr_id = posted_ | mark;
  built.sg_list = segments.data();
  built.num_sge = count;
  built.opcode = request.operation;
  if (signal) built.send_flags |= IBV_SEND_SIGNALED;
  if (request.is_inline) built.send_flags |= IBV_SEND_INLINE;
  built.wr.rdma = {request.remote_address, request.remote_key};
  if (chained_ != 0) requests_[chained_ - 1].next = &built;
  inline_slots_[chained_] = request.is_inline ? request.slot : SendSlots::none;
  ++chained_;
  records_[posted_ % depth] = {holds_slot ? request.slot : SendSlots::none, request.token, request.operation == IBV_WR_RDMA_READ};
  ++posted_;
  return error;
}

int SendQueue::flush() {
  if (chained_ == 0) return 0;
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(queue_pair_, requests_.data(), &bad);
  for (std::size_t i = 0; i < chained_; ++i) {
    if (inline_slots_[i] != SendSlots::none) slots_->give_back(inline_slots_[i]);
  }
  chained_ = 0;
  return error;
}

}  // namespace sluice
