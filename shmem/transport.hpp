// The transport between processes of one node: an inbox per process with a ring per sender, and single copies between the
// processes' memories.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/transport/transport.hpp"
#include "shmem/bootstrap.hpp"
#include "shmem/cross_memory.hpp"
#include "shmem/peer_memory.hpp"

namespace sluice {

/// Which copies between two processes are allowed (SLUICE_SHMEM_COPY).
enum class CopyMode { automatic, alias, cma, stream };

/// "auto", "alias", "cma" or "stream"; anything else is taken for auto, the configuration table has checked it.
CopyMode copy_mode(std::string_view name);

class ShmemTransport final : public Transport {
 public:
  /// Socket, helper bell and alias file.
  static constexpr std::size_t descriptors_of_a_peer = 3;

  /// Takes over what `bootstrap` has connected. `oversubscribed`: its processes share processors.
  ShmemTransport(ShmemBootstrap&& bootstrap, CopyMode mode, bool oversubscribed);
  ~ShmemTransport() override;
  ShmemTransport(const ShmemTransport&) = delete;
  ShmemTransport& operator=(const ShmemTransport&) = delete;

  /// From now on this process may end without being taken for vanished.
  void leave();

  /// Why `write`, `read` or `write_at` is not possible, for the summary; empty when all are.
  [[nodiscard]] std::string refusals(Peer peer) const;

  /// What sleep_helper waits for, and what it does with it: for a transport that sleeps for several. True when the helper
  /// thread was woken for something.
  [[nodiscard]] int helper_descriptor() const { return epoll_.get(); }
  bool take_helper_events(int limit_ms = 0);

  [[nodiscard]] std::size_t max_payload(Peer) const override;
  std::byte* reserve(Peer to, std::size_t payload_bytes) override;
  void commit(Peer to, const WireHeader& header) override;
  int poll(MessageSink& sink) override;
  [[nodiscard]] bool is_at_rest() const override { return deferred_.empty() && waiting_for_room_ == 0; }
  [[nodiscard]] bool is_silent() const override;
  [[nodiscard]] bool pending() const override;

  [[nodiscard]] bool can_write(Peer peer) const override;
  [[nodiscard]] bool can_read_blocks(Peer peer) const override;
  [[nodiscard]] bool can_read(Peer peer) const override;
  bool write(Peer peer, std::uint64_t file_offset, std::span<const std::byte> source, TargetLines lines) override;
  bool read_block(Peer peer, std::uint64_t file_offset, std::span<std::byte> target, TargetLines lines,
                  SourceLines source) override;
  [[nodiscard]] std::uint32_t line_latency_ns(Peer peer) override;
  void mark_lines() override;
  [[nodiscard]] std::uint32_t line_latency_before_ns(Peer peer, std::uint64_t end) override;
  std::size_t read(Peer peer, std::uint64_t peer_address, std::span<std::byte> target) override;
  [[nodiscard]] bool can_write_at(Peer peer) const override { return link(peer).cross.may_write(); }
  std::size_t write_at(Peer peer, std::uint64_t peer_address, std::span<const std::byte> source) override {
    return link(peer).cross.write(peer_address, source);
  }
  bool read_places(Peer peer, std::span<const iovec> places, std::byte* target) override {
    return link(peer).cross.read_places(places, target);
  }
  bool write_places(Peer peer, std::span<const iovec> places, const std::byte* source) override {
    return link(peer).cross.write_places(places, source);
  }

  std::uint32_t open_progress_slot() override;
  void close_progress_slot(std::uint32_t slot) override;
  [[nodiscard]] std::uint64_t progress(std::uint32_t slot) const override;
  void report_progress(Peer to, std::uint32_t slot, std::uint64_t bytes) override;
  std::atomic<std::uint64_t>& claims(std::uint32_t slot) override;
  std::atomic<std::uint64_t>* claims_at(Peer peer, std::uint32_t slot) override;

  [[nodiscard]] CopyLoad copy_load(Peer peer) const override;
  [[nodiscard]] std::size_t adapter_work() const override;
  void note_adapter_work(int transfers) override;
  void expect_copy(Peer by, std::int64_t bytes) override;
  void copied(std::size_t bytes) override;
  [[nodiscard]] bool is_attentive(Peer peer) const override;
  [[nodiscard]] bool is_attentive_soon(Peer peer) const override;
  [[nodiscard]] bool is_asleep(Peer peer) const override;

  [[nodiscard]] std::byte* lane(Peer owner, std::uint32_t lane) const override { return inbox_of(owner).lane(lane); }
  [[nodiscard]] const std::atomic<WakeMask>* wake_mask_of(Peer peer) const override { return &inbox_of(peer).wake_mask(); }
  void wake_for_lane(Peer peer) override { wake_for(link(peer), EventMask::lane); }

  void tell_of_waiting() override;
  void flush_wakeups() override;
  void leave_address_space() override;
  void leave_wakeups() override;
  void set_wake_mask(WakeMask level) override;
  void sleep(std::chrono::microseconds limit) override;
  void poke() override;
  void sleep_helper() override;
  void wake_helper() override;
  [[nodiscard]] Peer vanished() const override;

 private:
  /// A peer on this node, by local index.
  struct LinkTerms {
    CopyMode mode{};
    bool elsewhere = false;  // the processes have a processor each
    std::size_t lap = 0;     // of a ring
  };

  struct Link {
    Peer peer{};
    RingWriter out;
    RingReader in;
    Inbox inbox;  // the peer's
    Descriptor socket;
    Descriptor helper_bell;
    bool waits_for_room = false;         // a reserve failed; the peer has been told
    bool answers = true;                 // a message has come since this process's last one
    std::uint64_t seen_mark = 0;         // of the peer's, at the last look
    EventMask untold = EventMask::none;  // what the peer may have to be woken for; unless none, it is in `deferred_`
    bool has_sent = false;
    const Link* sent_before = nullptr;  // the sender that was met before this one
    PeerMemory memory;
    CrossMemory cross;

    Link(ShmemPeer&& peer, const Inbox& own, std::size_t self, std::size_t index, const LinkTerms& terms);
  };

  [[nodiscard]] Link& link(Peer peer) const { return *links_[local_of_[static_cast<std::size_t>(peer)]]; }
  /// After what the peer is told of was published: sequentially consistently, but for EventMask::eager. Most often nobody has
  /// asked.
  void wake_for(Link& link, EventMask events) {
    if (asks_for(link.inbox.wake_mask().load(std::memory_order_seq_cst), events)) [[unlikely]]
      wake_who_asked(link, events);
  }
  void wake_who_asked(Link& link, EventMask events);
  void ring_unless_back(Link& link, EventMask events);
  void ring_overdue();
  /// Has the helper thread look for messages some ms from now.
  void remind_helper();
  int drain(Link& link, MessageSink& sink);
  [[nodiscard]] const Inbox& inbox_of(Peer peer) const;
  void admit_new_senders(std::size_t word);
  void deliver_room(MessageSink& sink);
  void give_up(const Link& link, const char* cause);
  void hear(const Link& link);

  const pid_t owner_;
  const std::size_t self_;
  Inbox inbox_;
  std::size_t contact_words_;
  std::vector<std::unique_ptr<Link>> links_;       // by local index; none for self
  std::vector<std::uint32_t> local_of_;            // by peer
  std::vector<Link*> senders_;                     // those that have sent something
  std::atomic<const Link*> last_sender_{nullptr};  // ... and never left: a chain for looks without the lock
  std::size_t waiting_for_room_ = 0;               // links with waits_for_room
  const bool patient_;                             // as processes share processors: see wake_who_asked()
  std::vector<Link*> deferred_;                    // peers whose helper threads may have to be woken
  std::uint64_t deferred_until_ = 0;
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t marks_ = 0;
  std::uint64_t copied_ = 0;
  std::uint64_t adapter_work_ = 0;
  std::atomic<int> sleepers_{0};       // threads inside `sleep`
  std::atomic<bool> reminded_{false};  // `reminder_` is set
  std::atomic<Peer> vanished_{Peer{-1}};
  Descriptor helper_bell_;
  Descriptor reminder_;  // a timerfd
  Descriptor epoll_;
};

}  // namespace sluice
