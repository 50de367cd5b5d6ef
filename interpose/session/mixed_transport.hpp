// A job on several nodes with several processes on some: shared memory to the peers on this node, verbs or TCP to all others,
// behind one face, so that one matching engine sees both.
//
// Each peer belongs to one of the two, so order between a pair is theirs to keep. With coop-hca the adapter of the network reads
// parts of large messages of peers on this node besides (Adapters::loopback), which has no order to keep. What needs more than a
// look at who is meant:
//
//   poll       Shared memory is looked at every time; the network, whose look may be a system call, not more often than twice a
//              microsecond, which is little against what a message takes on its way.
//   wake_mask  Both are told. A thread of the application sleeps on the word that peers on this node see; what comes from
//              elsewhere meanwhile wakes the helper thread, which pokes it (Options::hears_for_sleepers of the network's).
//   helper     Sleeps on the descriptors of both.
//
// docs/concurrency.md says why no wake-up is lost.
//
// Threading: as in runtime/transport/transport.hpp.
#pragma once

#include <vector>

#include "runtime/transport/network_transport.hpp"
#include "shmem/transport.hpp"

namespace sluice {

class MixedTransport final : public Transport {
 public:
  /// Both outlive it. `shares_memory`: by peer, whether `shmem` reaches it.
  MixedTransport(ShmemTransport& shmem, NetworkTransport& network, std::vector<bool> shares_memory);

  [[nodiscard]] std::size_t max_payload(Peer peer) const override {
    return shares_memory(peer) ? shmem_.max_payload(peer) : network_.max_payload(peer);
  }
  std::byte* reserve(Peer to, std::size_t payload_bytes) override;
  void commit(Peer to, const WireHeader& header) override;
  [[nodiscard]] bool streams_directly(Peer peer) const override {
    return !shares_memory(peer) && network_.streams_directly(peer);
  }
  std::size_t stream(Peer to, std::uint64_t subject, std::span<const std::byte> next) override;
  bool send(Peer to, const WireHeader& header, std::span<const std::byte> prefix, std::span<const std::byte> bytes) override;
  [[nodiscard]] std::size_t eager_limit(Peer peer) const override { return shares_memory(peer) ? 0 : network_.eager_limit(peer); }
  int poll(MessageSink& sink) override;
  [[nodiscard]] bool pending() const override { return shmem_.pending() || network_.pending(); }

  [[nodiscard]] bool can_write(Peer peer) const override { return shares_memory(peer) && shmem_.can_write(peer); }
  [[nodiscard]] bool can_read_blocks(Peer peer) const override { return shares_memory(peer) && shmem_.can_read_blocks(peer); }
  [[nodiscard]] bool can_read(Peer peer) const override { return shares_memory(peer) && shmem_.can_read(peer); }
  bool write(Peer peer, std::uint64_t file_offset, std::span<const std::byte> source, TargetLines lines) override {
    return shmem_.write(peer, file_offset, source, lines);
  }
  bool read_block(Peer peer, std::uint64_t file_offset, std::span<std::byte> target, TargetLines lines,
                  SourceLines source) override {
    return shmem_.read_block(peer, file_offset, target, lines, source);
  }
  std::size_t read(Peer peer, std::uint64_t peer_address, std::span<std::byte> target) override {
    return shmem_.read(peer, peer_address, target);
  }
  [[nodiscard]] bool can_write_at(Peer peer) const override { return shares_memory(peer) && shmem_.can_write_at(peer); }
  std::size_t write_at(Peer peer, std::uint64_t peer_address, std::span<const std::byte> source) override {
    return shmem_.write_at(peer, peer_address, source);
  }
  bool read_places(Peer peer, std::span<const iovec> places, std::byte* target) override {
    return shmem_.read_places(peer, places, target);
  }
  bool write_places(Peer peer, std::span<const iovec> places, const std::byte* source) override {
    return shmem_.write_places(peer, places, source);
  }
  std::uint32_t open_progress_slot() override { return shmem_.open_progress_slot(); }
  void close_progress_slot(std::uint32_t slot) override { shmem_.close_progress_slot(slot); }
  [[nodiscard]] std::uint64_t progress(std::uint32_t slot) const override { return shmem_.progress(slot); }
  void report_progress(Peer to, std::uint32_t slot, std::uint64_t bytes) override { shmem_.report_progress(to, slot, bytes); }
  std::atomic<std::uint64_t>& claims(std::uint32_t slot) override { return shmem_.claims(slot); }
  std::atomic<std::uint64_t>* claims_at(Peer peer, std::uint32_t slot) override { return shmem_.claims_at(peer, slot); }

  [[nodiscard]] CopyLoad copy_load(Peer peer) const override { return shmem_.copy_load(peer); }
  void expect_copy(Peer by, std::int64_t bytes) override { shmem_.expect_copy(by, bytes); }
  void copied(std::size_t bytes) override { shmem_.copied(bytes); }
  [[nodiscard]] std::size_t adapter_work() const override { return shmem_.adapter_work(); }
  void note_adapter_work(int transfers) override { shmem_.note_adapter_work(transfers); }
  [[nodiscard]] bool is_attentive(Peer peer) const override { return shares_memory(peer) && shmem_.is_attentive(peer); }
  [[nodiscard]] bool is_attentive_soon(Peer peer) const override { return shares_memory(peer) && shmem_.is_attentive_soon(peer); }
  [[nodiscard]] std::uint32_t line_latency_ns(Peer peer) override { return shmem_.line_latency_ns(peer); }
  void mark_lines() override { shmem_.mark_lines(); }
  [[nodiscard]] std::uint32_t line_latency_before_ns(Peer peer, std::uint64_t end) override {
    return shmem_.line_latency_before_ns(peer, end);
  }
  [[nodiscard]] bool is_asleep(Peer peer) const override { return shares_memory(peer) && shmem_.is_asleep(peer); }

  [[nodiscard]] const std::atomic<WakeMask>* wake_mask_of(Peer peer) const override {
    return shares_memory(peer) ? shmem_.wake_mask_of(peer) : nullptr;
  }
  [[nodiscard]] std::byte* lane(Peer owner, std::uint32_t lane) const override {
    return shares_memory(owner) ? shmem_.lane(owner, lane) : nullptr;
  }
  void wake_for_lane(Peer peer) override { shmem_.wake_for_lane(peer); }

  [[nodiscard]] Rdma* rdma(Peer peer) override { return shares_memory(peer) ? shmem_.rdma(peer) : network_.rdma(peer); }
  [[nodiscard]] Rdma* loopback(Peer peer) override { return shares_memory(peer) ? network_.loopback(peer) : nullptr; }

  void tell_of_waiting() override { shmem_.tell_of_waiting(); }
  void flush_wakeups() override { shmem_.flush_wakeups(); }
  void leave_address_space() override { shmem_.leave_address_space(); }
  void leave_wakeups() override { shmem_.leave_wakeups(); }
  void set_wake_mask(WakeMask level) override;
  void sleep(std::chrono::microseconds limit) override { shmem_.sleep(limit); }
  void poke() override { shmem_.poke(); }
  void sleep_helper() override;
  void wake_helper() override { shmem_.wake_helper(); }
  void attend() override;
  void say_goodbye() override { network_.say_goodbye(); }
  [[nodiscard]] Peer vanished() const override;
  [[nodiscard]] const char* cause() const override;

 private:
  [[nodiscard]] bool shares_memory(Peer peer) const { return shares_memory_[static_cast<std::size_t>(peer)]; }

  ShmemTransport& shmem_;
  NetworkTransport& network_;
  std::vector<bool> shares_memory_;
  std::uint64_t next_look_ = 0;  // at the network
};

}  // namespace sluice
