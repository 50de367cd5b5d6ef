// A reliable connection between two processes: one queue pair, and its way from RESET to RTS.
//
//   INIT   at construction; receive buffers come from the shared queue
//   RTR    the peer's hello says where it is: from now on the peer may send
//   RTS    at once after that
//
// Settings: the smaller path MTU of the two ports; as many RDMA reads at a time as the peer's adapter answers; retries for the
// time that the user grants (`timeout_code`), then the connection is in error; a peer without a receive buffer, which credits
// rule out, is asked again 6 times.
//
// Errors: std::runtime_error. Threading: engine lock.
#pragma once

#include <cstdint>

#include "verbs/queues.hpp"

namespace sluice {

class QueuePair {
 public:
  /// Code of the adapter's timer with which all retries together last at least so long.
  [[nodiscard]] static std::uint8_t timeout_code(unsigned seconds);

  explicit QueuePair(VerbsQueues& queues);

  [[nodiscard]] ibv_qp* get() const { return queue_pair_.get(); }
  [[nodiscard]] std::uint32_t number() const { return queue_pair_->qp_num; }
  [[nodiscard]] std::uint32_t packet_number() const { return packet_number_; }
  /// Longest send that needs no slot once it is posted.
  [[nodiscard]] std::size_t max_inline() const { return max_inline_; }
  /// RDMA reads that may be under way at a time, once connected.
  [[nodiscard]] std::uint32_t max_reads() const { return max_reads_; }

  void connect(const VerbsAddress& peer, const VerbsHello& hello, std::uint8_t timeout_code);

 private:
  void modify(ibv_qp_attr& attributes, int mask, const char* state);

  const VerbsDevice& device_;
  VerbsOwner<ibv_qp> queue_pair_;
  std::uint32_t packet_number_ = 0;
  std::size_t max_inline_ = 0;
  std::uint32_t max_reads_ = 0;
};

}  // namespace sluice
