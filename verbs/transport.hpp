// The transport over RDMA adapters: a reliable connection (queue pair) to each peer that this process talks to, one shared
// receive queue, one completion queue.
//
// Who polls. A thread inside a call polls the completion queue, which costs no system call. Who goes to sleep arms the queue
// first and then looks once more (`set_wake_mask`, `pending`); the entry that comes then makes the completion channel readable.
// The helper thread sleeps in an epoll set, which holds
//
//   bell      wake_helper
//   listeners the connector: callers, calls (net/connector.hpp)
//   channel   completions, watched only while the wake mask asks for it
//   adapter   asynchronous events: a queue pair, a port or the adapter in error
//   sockets   of all connections: hellos, and the end of a peer
//
// The channel's event is taken only under the engine lock, when the wake mask is raised again: a stale one wakes somebody once
// for nothing, a lost one cannot be. A sleeping application thread waits on the channel itself, and on an eventfd by which other
// threads poke it; where another transport sleeps for this one (`hears_for_sleepers`), the helper thread is armed instead and
// pokes.
//
// Order: everything to one peer goes to its one queue pair, in the order of the calls. What is sent from within `poll` is
// collected and posted at its end. Small messages take the fast path where there is one (verbs/eager_ring.hpp), which needs no
// entry in the completion queue; both paths keep one order.
//
// Threading: as in runtime/transport/transport.hpp; `attend` is the helper thread's. Nothing here enters the application's
// allocator.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/bell.hpp"
#include "net/connector.hpp"
#include "runtime/transport/network_transport.hpp"
#include "verbs/endpoint.hpp"
#include "verbs/queues.hpp"

namespace sluice {

class VerbsTransport final : public NetworkTransport, public Rdma {
 public:
  struct Options {
    Peer self{};
    JobSecret secret{};
    unsigned handshake_seconds = 30;  // SLUICE_TCP_TIMEOUT
    unsigned retry_seconds = 4;       // SLUICE_VERBS_TIMEOUT
    bool places_in_order = true;      // SLUICE_VERBS_ORDERED
    std::size_t rings = 0;            // SLUICE_VERBS_RINGS
    bool hears_for_sleepers = false;
  };
  struct Statistics {
    std::uint64_t connections = 0;
    std::uint64_t rejected = 0;
    std::uint64_t messages_sent = 0;
    std::array<std::uint64_t, message_kinds> sent_of_kind{};  // the same, by MessageKind
    std::uint64_t bytes_sent = 0;                             // payloads of these
    std::uint64_t credit_messages = 0;
    std::uint64_t waits_for_credit = 0;
    std::uint64_t ring_messages_sent = 0;  // of messages_sent
    std::uint64_t rings_opened = 0;
    std::uint64_t rings_closed = 0;  // for a sleep, or for somebody else
    std::uint64_t rings_moved = 0;
    std::uint64_t writes = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t reads = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t registrations = 0;
  };
  /// Where the ranks of the job are, by rank.
  struct Job {
    std::vector<VerbsAddress> addresses;
    std::vector<TcpEndpoint> endpoints;
    std::vector<bool> on_this_host;
    std::vector<bool> shares_memory = {};  // shared memory reaches it, and only reads go this way; empty: none
  };

  VerbsTransport(const Options& options, std::unique_ptr<VerbsQueues> queues, Listener listener, Job job);
  ~VerbsTransport() override;
  VerbsTransport(const VerbsTransport&) = delete;
  VerbsTransport& operator=(const VerbsTransport&) = delete;

  void leave() override { leaving_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Statistics statistics() const;
  /// Of an open connection, for whoever wants to disturb it.
  [[nodiscard]] const QueuePair* queue_pair(Peer peer) const;
  [[nodiscard]] RemoteMemory ring_of(Peer peer) const;  // into which this process writes; address 0: none
  [[nodiscard]] const std::string& description() const { return device_.description(); }

  [[nodiscard]] int helper_descriptor() const override { return helper_epoll_.get(); }
  bool take_helper_events() override;
  void say_goodbye() override;

  [[nodiscard]] std::size_t max_payload(Peer) const override { return verbs_slot::max_payload; }
  std::byte* reserve(Peer to, std::size_t payload_bytes) override;
  void commit(Peer to, const WireHeader& header) override;
  int poll(MessageSink& sink) override;
  [[nodiscard]] bool pending() const override;

  [[nodiscard]] Rdma* rdma(Peer) override { return this; }
  [[nodiscard]] Rdma* loopback(Peer peer) override;
  using NodeMemory::read;
  using NodeMemory::write;
  bool register_memory(ByteRange bytes, Registration& registration) override;
  void deregister(const Registration& registration) override;
  bool write(Peer peer, std::span<const std::byte> local, std::uint32_t local_key, RemoteMemory remote,
             std::uint64_t token) override;
  bool read(Peer peer, std::span<std::byte> local, std::uint32_t local_key, RemoteMemory remote, std::uint64_t token) override;
  bool send_sge(Peer to, const WireHeader& header, std::span<const std::byte> payload, std::uint32_t local_key,
                std::uint64_t token) override;
  [[nodiscard]] bool may_read(Peer peer) override;
  [[nodiscard]] bool places_in_order() const override { return options_.places_in_order; }
  [[nodiscard]] std::size_t largest_transfer() const override;

  void flush_wakeups() override {}
  void set_wake_mask(WakeMask level) override;
  void sleep(std::chrono::microseconds limit) override;
  void poke() override;
  void forget_pokes() override;
  void wake_helper() override;
  void attend() override;
  [[nodiscard]] Peer vanished() const override { return vanished_.load(std::memory_order_acquire); }
  [[nodiscard]] const char* cause() const override { return cause_.data(); }

 private:
  using Endpoint = VerbsEndpoint;
  enum class Path : std::uint8_t { sent, ring };
  static constexpr int batch = 16;

  // --- messages (transport.cpp) -------------------------------------------------------------------------------------
  bool refuse(Endpoint& endpoint, Endpoint::Want want);
  void send_slot(Endpoint& endpoint, const WireHeader& header, SendQueue::Request message);
  void post(Endpoint& endpoint, const SendQueue::Request& request);
  void flush(Endpoint& endpoint);
  std::uint32_t begin_slot(Endpoint& endpoint, std::byte* slot, verbs_slot::What what);
  bool fetch() const;
  void on_completion(const ibv_wc& entry, MessageSink& sink);
  void on_receive(Endpoint& endpoint, const ibv_wc& entry, MessageSink& sink);
  bool deliver(Endpoint& endpoint, std::span<const std::byte> message, Path path, MessageSink& sink);
  bool accept_grants(Endpoint& endpoint, std::span<const std::byte> message);
  void owe(Endpoint& endpoint);
  void on_sent(Endpoint& endpoint, std::uint64_t number, MessageSink& sink);
  void post_receives();
  void grant();
  void grant_alone(Endpoint& endpoint);
  [[nodiscard]] bool has_room(const Endpoint& endpoint) const;
  int tell_room(MessageSink& sink);

  // --- the fast path (transport_ring.cpp) ---------------------------------------------------------------------------
  [[nodiscard]] static std::size_t max_rings(const Options& options);
  [[nodiscard]] static bool may_go_by_ring(const WireHeader& header);
  void write_to_ring(Endpoint& endpoint, SendQueue::Request message);
  int poll_rings(MessageSink& sink);
  bool take_from_ring(Endpoint& endpoint, MessageSink& sink);
  [[nodiscard]] bool rings_pending() const;
  void note_small(Endpoint& endpoint, Path path);
  [[nodiscard]] VerbsMemory* memory_for_ring();
  void write_offer(Endpoint& endpoint);
  void open_ring(Endpoint& endpoint);
  void close_ring(Endpoint& endpoint);
  void on_begun_read(Endpoint& endpoint);
  [[nodiscard]] bool must_be_woken_by(const Endpoint& endpoint) const;
  void close_rings();
  [[nodiscard]] bool rings_are_restless() const;

  // --- connections (transport_connections.cpp) ----------------------------------------------------------------------
  Endpoint& endpoint(Peer peer);
  [[nodiscard]] bool is_connected(Peer peer) const;
  void call(Endpoint& endpoint);
  void greet(Peer peer, Descriptor socket);
  void say(Endpoint& endpoint, VerbsHello::Step step);
  void hear(Endpoint& endpoint);
  void on_hello(Endpoint& endpoint, const VerbsHello& hello);
  void hear_adapter();
  void on_adapter_event(const ibv_async_event& event);
  void lose(Endpoint& endpoint, const std::string& cause);
  void lose_queue_pair(Endpoint& endpoint, const std::string& cause);
  void vanish(Peer peer, const std::string& cause);
  int end_failed_reads(MessageSink& sink);
  void note_deadline();

  const Options options_;
  std::unique_ptr<VerbsQueues> queues_;
  const VerbsDevice& device_;
  Job job_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;  // by rank; none where nothing was ever said
  std::unordered_map<std::uint32_t, Endpoint*> by_queue_pair_;
  std::uint32_t reserved_ = SendSlots::none;
  bool polling_ = false;
  std::vector<Endpoint*> waiting_;   // that want something
  std::vector<Endpoint*> to_flush_;  // with requests that are built and not posted
  std::vector<Endpoint*> consumed_;  // one entry for each message whose buffer is not posted again yet
  std::vector<Endpoint*> to_grant_;  // with credits to tell
  std::vector<Endpoint*> ringed_;    // with a ring in this process
  std::vector<Endpoint*> failed_;    // those on this node, whose reads under way are not ended yet
  std::vector<std::unique_ptr<VerbsMemory>> ring_memory_;
  std::size_t max_rings_;
  std::size_t connections_ = 0;
  std::uint64_t small_messages_ = 0;  // by rings
  WakeMask wake_mask_ = WakeMask::none;
  std::uint64_t look_at_rings_ = never;  // when the helper thread looks for messages of which nobody tells it
  mutable std::array<ibv_wc, batch> entries_{};
  mutable int fetched_ = 0;
  mutable int next_ = 0;
  Statistics counts_;

  Descriptor helper_epoll_;
  Bell bell_;
  Bell poke_;
  Connector connector_;
  bool queue_armed_ = false;  // or its event has come and was not taken
  bool helper_armed_ = false;
  bool poked_ = false;
  bool said_goodbye_ = false;  // connections that open from now on hear it first
  std::atomic<bool> sleeps_short_{false};
  Peer parted_{-1};  // one that has said goodbye and gone
  std::uint64_t parted_deadline_ = never;
  std::vector<Peer> rang_;       // sockets that the helper thread was woken for; its own
  bool adapter_rang_ = false;    // the helper thread's own
  bool listeners_rang_ = false;  // likewise
  std::atomic<bool> leaving_{false};
  std::atomic<Peer> vanished_{Peer{-1}};
  std::array<char, 256> cause_{};
};

}  // namespace sluice
