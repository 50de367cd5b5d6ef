#include "verbs/queue_pair.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "runtime/alias/own_pins.hpp"

namespace sluice {
namespace {

/// What is asked for first; adapters that have less room in a request refuse.
constexpr std::array<std::uint32_t, 4> inline_sizes{256, 128, 64, 0};
/// The largest number that is one everywhere: soft-RoCE takes 7 for never giving up.
constexpr std::uint8_t retries = 6;
constexpr std::uint8_t receiver_not_ready_retries = 6;  // 7 would be for ever
constexpr std::uint8_t receiver_not_ready_timer = 12;   // 0.64 ms
constexpr std::uint8_t longest_timeout_code = 31;
constexpr std::uint8_t hop_limit = 64;
constexpr std::uint32_t max_reads_of_a_field = 255;

std::uint32_t random_packet_number() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) throw_errno("getrandom");
  return number & 0xffffff;
}

ibv_ah_attr address_of(const VerbsAddress& peer, const VerbsDevice& device) {
  ibv_ah_attr address{};
  address.port_num = device.address().port;
  if (peer.network == VerbsNetwork::infiniband) {
    address.dlid = peer.lid;
    return address;
  }
  address.is_global = 1;
  std::memcpy(address.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  address.grh.sgid_index = device.gid_index();
  address.grh.hop_limit = hop_limit;
  return address;
}

}  // namespace

std::uint8_t QueuePair::timeout_code(unsigned seconds) {
  constexpr double unit_s = 4.096e-6;  // InfiniBand specification, 9.7.6.1.3
  std::uint8_t code = 1;
  while (code < longest_timeout_code && unit_s * static_cast<double>(1U << code) * (retries + 1) < seconds) ++code;
  return code;
}

QueuePair::QueuePair(VerbsQueues& queues)
    : device_(queues.device()), queue_pair_(nullptr, device_.library().destroy_qp), packet_number_(random_packet_number()) {
  const own_pins::Making making;
  for (const std::uint32_t size : inline_sizes) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queues.completions();
    wanted.srq = queues.buffers().queue();
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = SendQueue::depth;
    wanted.cap.max_send_sge = SendQueue::max_segments;
    wanted.cap.max_inline_data = size;
    queue_pair_.reset(device_.library().create_qp(device_.domain(), &wanted));
    max_inline_ = size;
    if (queue_pair_) break;
  }
  if (!queue_pair_) throw std::runtime_error(why_failed("ibv_create_qp", device_.library().error()));
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.address().port;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
}

void QueuePair::connect(const VerbsAddress& peer, const VerbsHello& hello, std::uint8_t timeout) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.ah_attr = address_of(peer, device_);
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(peer.mtu, device_.address().mtu));
  attributes.dest_qp_num = hello.queue_pair;
  attributes.rq_psn = hello.packet_number;
  attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(std::min(device_.address().reads, max_reads_of_a_field));
  attributes.min_rnr_timer = receiver_not_ready_timer;
  modify(attributes,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
             IBV_QP_MIN_RNR_TIMER,
         "RTR");

  max_reads_ = std::min({static_cast<std::uint32_t>(device_.limits().max_qp_init_rd_atom), peer.reads, max_reads_of_a_field});
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = packet_number_;
  attributes.timeout = timeout;
  attributes.retry_cnt = retries;
  attributes.rnr_retry = receiver_not_ready_retries;
  attributes.max_rd_atomic = static_cast<std::uint8_t>(max_reads_);
  modify(attributes,
         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC, "RTS");
}

void QueuePair::modify(ibv_qp_attr& attributes, int mask, const char* state) {
  const int error = device_.library().modify_qp(queue_pair_.get(), &attributes, mask);
  if (error != 0) throw std::runtime_error(why_failed((std::string("ibv_modify_qp to ") + state).c_str(), error));
}

}  // namespace sluice
