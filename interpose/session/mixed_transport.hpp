// A job on several nodes with several processes on some: shared memory to the peers on this node, verbs or TCP to all others,
// behind one face, so that one matching engine sees both.
//
// Each peer belongs to one of the two, so order between a pair is theirs to keep. With coop-hca the adapter of the far one reads
// parts of large messages of peers on this node besides (Adapters::loopback), which has no order to keep. What needs more than a
// look at who is meant:
//
//   poll       Shared memory is looked at every time; the network, whose look may be a system call, not more often than twice a
//              microsecond, which is little against what a message takes on its way.
//   attention  Both are told. A thread of the application sleeps on the word that peers on this node see; what comes from
//              elsewhere meanwhile wakes the helper thread, which pokes it (Options::hears_for_sleepers of the far one).
//   helper     Sleeps on the descriptors of both.
//
// docs/concurrency.md says why no wake-up is lost.
//
// Threading: as in runtime/transport/transport.hpp.
#pragma once

#include <vector>

#include "runtime/transport/far_transport.hpp"
#include "shmem/transport.hpp"

namespace sluice {

class MixedTransport final : public Transport {
 public:
  /// Both outlive it. `is_near`: by peer, whether `near` reaches it.
  MixedTransport(ShmemTransport& near, FarTransport& far, std::vector<bool> is_near);

  [[nodiscard]] std::size_t max_payload(Peer peer) const override {
    return is_near(peer) ? near_.max_payload(peer) : far_.max_payload(peer);
  }
  std::byte* reserve(Peer to, std::size_t payload_bytes) override;
  void commit(Peer to, const MessageHeader& header) override;
  [[nodiscard]] bool streams_directly(Peer peer) const override { return !is_near(peer) && far_.streams_directly(peer); }
  std::size_t stream(Peer to, std::uint64_t subject, std::span<const std::byte> next) override;
  bool send(Peer to, const MessageHeader& header, std::span<const std::byte> prefix, std::span<const std::byte> bytes) override;
  [[nodiscard]] std::size_t eager_limit(Peer peer) const override { return is_near(peer) ? 0 : far_.eager_limit(peer); }
  int poll(MessageSink& sink) override;
  [[nodiscard]] bool pending() const override { return near_.pending() || far_.pending(); }

  [[nodiscard]] bool can_write(Peer peer) const override { return is_near(peer) && near_.can_write(peer); }
  [[nodiscard]] bool can_read_blocks(Peer peer) const override { return is_near(peer) && near_.can_read_blocks(peer); }
  [[nodiscard]] bool can_read(Peer peer) const override { return is_near(peer) && near_.can_read(peer); }
  bool write(Peer peer, std::uint64_t file_offset, std::span<const std::byte> source, TargetLines lines) override {
    return near_.write(peer, file_offset, source, lines);
  }
  bool read_block(Peer peer, std::uint64_t file_offset, std::span<std::byte> target, TargetLines lines,
                  SourceLines source) override {
    return near_.read_block(peer, file_offset, target, lines, source);
  }
  std::size_t read(Peer peer, std::uint64_t peer_address, std::span<std::byte> target) override {
    return near_.read(peer, peer_address, target);
  }
  std::uint32_t open_progress_slot() override { return near_.open_progress_slot(); }
  void close_progress_slot(std::uint32_t slot) override { near_.close_progress_slot(slot); }
  [[nodiscard]] std::uint64_t progress(std::uint32_t slot) const override { return near_.progress(slot); }
  void report_progress(Peer to, std::uint32_t slot, std::uint64_t bytes) override { near_.report_progress(to, slot, bytes); }
  std::atomic<std::uint64_t>& claims(std::uint32_t slot) override { return near_.claims(slot); }
  std::atomic<std::uint64_t>* claims_at(Peer peer, std::uint32_t slot) override { return near_.claims_at(peer, slot); }

  [[nodiscard]] CopyLoad copy_load(Peer peer) const override { return near_.copy_load(peer); }
  void expect_copy(Peer by, std::int64_t bytes) override { near_.expect_copy(by, bytes); }
  void copied(std::size_t bytes) override { near_.copied(bytes); }
  [[nodiscard]] std::size_t adapter_work() const override { return near_.adapter_work(); }
  void note_adapter_work(int transfers) override { near_.note_adapter_work(transfers); }
  [[nodiscard]] bool is_attentive(Peer peer) const override { return is_near(peer) && near_.is_attentive(peer); }
  [[nodiscard]] bool is_attentive_soon(Peer peer) const override { return is_near(peer) && near_.is_attentive_soon(peer); }
  [[nodiscard]] std::uint32_t ns_of_a_line(Peer peer) override { return near_.ns_of_a_line(peer); }
  void mark_lines() override { near_.mark_lines(); }
  [[nodiscard]] std::uint32_t ns_of_a_line_before(Peer peer, std::uint64_t end) override {
    return near_.ns_of_a_line_before(peer, end);
  }
  [[nodiscard]] bool is_asleep(Peer peer) const override { return is_near(peer) && near_.is_asleep(peer); }

  [[nodiscard]] std::byte* lane(Peer owner, std::uint32_t lane) const override { return near_.lane(owner, lane); }
  [[nodiscard]] const std::atomic<Attention>* attention_of(Peer peer) const override { return near_.attention_of(peer); }
  void wake_for_lane(Peer peer) override { near_.wake_for_lane(peer); }

  [[nodiscard]] Rdma* rdma(Peer peer) override { return is_near(peer) ? near_.rdma(peer) : far_.rdma(peer); }
  [[nodiscard]] Rdma* loopback(Peer peer) override { return is_near(peer) ? far_.loopback(peer) : nullptr; }

  void tell_of_waiting() override { near_.tell_of_waiting(); }
  void flush_alerts() override { near_.flush_alerts(); }
  void leave_address_space() override { near_.leave_address_space(); }
  void leave_alerts() override { near_.leave_alerts(); }
  void set_attention(Attention level) override;
  void sleep(std::chrono::microseconds limit) override { near_.sleep(limit); }
  void poke() override { near_.poke(); }
  void sleep_helper() override;
  void wake_helper() override { near_.wake_helper(); }
  void attend() override;
  void say_goodbye() override { far_.say_goodbye(); }
  [[nodiscard]] Peer vanished() const override;
  [[nodiscard]] const char* cause() const override;

 private:
  [[nodiscard]] bool is_near(Peer peer) const { return is_near_[static_cast<std::size_t>(peer)]; }

  ShmemTransport& near_;
  FarTransport& far_;
  std::vector<bool> is_near_;
  std::uint64_t next_look_ = 0;  // at the far transport
};

}  // namespace sluice
