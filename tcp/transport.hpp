// The transport between hosts: one TCP connection for each pair of processes that talk.
//
// Who polls. A thread inside a call reads the sockets themselves; with more than a few of them it asks epoll first. The helper
// thread sleeps in an epoll set of its own, which holds
//
//   bell      wake_helper
//   listeners the connector: callers, calls (always watched: handshakes must not wait for the application)
//   links     an epoll set of all open connections, watched only while the wake mask asks for it (armed)
//
// `links` is level-triggered, so there is no moment at which an arrival could be missed: what is in a socket when the wake mask
// is raised wakes the helper thread at once. It is armed for one wake-up at a time, so that data that waits for an application
// thread to take it does not keep waking the helper thread. Nothing complete ever stays in user space between two polls. Within a
// frame a socket counts as readable only once it holds 128 KB or the rest of the frame (SO_RCVLOWAT), while the helper thread is
// armed: `set_wake_mask` puts the mark there, before it arms, and takes it away when somebody comes into a call. Nobody reads
// between that and the next call of `set_wake_mask` but the helper thread, which then arms anew; so the mark is never above what
// is left of the frame when somebody waits.
//
// A sleeping application thread waits on `links` itself, and on an eventfd by which other threads of the process poke it. Where
// another transport sleeps for this one (`hears_for_sleepers`), the helper thread is armed instead and pokes.
//
// Threading: as in runtime/transport/transport.hpp; `attend` is the helper thread's.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "net/bell.hpp"
#include "net/connector.hpp"
#include "net/supervision.hpp"
#include "runtime/transport/network_transport.hpp"
#include "tcp/connection.hpp"

namespace sluice {

class TcpTransport final : public NetworkTransport {
 public:
  struct Options {
    Peer self{};
    JobSecret secret{};
    unsigned timeout_seconds = 30;
    std::size_t eager_limit = std::size_t{64} << 10;
    std::size_t staging_bytes = std::size_t{512} << 10;
    bool hears_for_sleepers = false;
  };
  struct Statistics {
    std::uint64_t connections = 0;
    std::uint64_t rejected = 0;
    Connection::Counts counts;
  };

  /// `endpoints`: of all ranks of the job. `on_this_host`: by rank.
  TcpTransport(const Options& options, Listener listener, std::vector<TcpEndpoint> endpoints, std::vector<bool> on_this_host);
  ~TcpTransport() override;
  TcpTransport(const TcpTransport&) = delete;
  TcpTransport& operator=(const TcpTransport&) = delete;

  void leave() override { leaving_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Statistics statistics() const;

  [[nodiscard]] int helper_descriptor() const override { return helper_epoll_.get(); }
  bool take_helper_events() override;

  [[nodiscard]] std::size_t max_payload(Peer) const override { return Connection::max_payload; }
  std::byte* reserve(Peer to, std::size_t payload_bytes) override;
  void commit(Peer to, const WireHeader& header) override;
  [[nodiscard]] bool streams_directly(Peer) const override { return true; }
  std::size_t stream(Peer to, std::uint64_t subject, std::span<const std::byte> next) override;
  bool send(Peer to, const WireHeader& header, std::span<const std::byte> prefix, std::span<const std::byte> bytes) override;
  [[nodiscard]] std::size_t eager_limit(Peer) const override { return options_.eager_limit; }
  int poll(MessageSink& sink) override;
  [[nodiscard]] bool pending() const override { return !rooms_.empty() || failing_; }

  void flush_wakeups() override {}
  void set_wake_mask(WakeMask level) override;
  void sleep(std::chrono::microseconds limit) override;
  void poke() override;
  void forget_pokes() override;
  void wake_helper() override;
  void attend() override;
  void say_goodbye() override;
  [[nodiscard]] Peer vanished() const override { return vanished_.load(std::memory_order_acquire); }
  [[nodiscard]] const char* cause() const override { return cause_.data(); }

 private:
  struct Link {
    Connection connection;
    Supervision supervision;
    bool watched_for_room = false;
    bool counted_holding = false;
    bool in_rooms = false;
    bool in_begun = false;
    bool failed = false;

    Link(Peer peer, std::size_t staging_bytes) : connection(peer, staging_bytes), peer_number(peer) {}
    Peer peer_number;
  };

  Link& link(Peer peer);
  [[nodiscard]] bool is_connected(Peer peer) const;
  void open(Peer peer, Descriptor socket);
  void call(Link& link);
  /// After anything was done with the output of a link.
  void note_output(Link& link);
  void watch(Link& link, int operation);
  int tell_room(MessageSink& sink);
  int serve(Link& link, MessageSink& sink);
  void wake_within_frames_by(std::size_t max_bytes);
  void bury_failed(MessageSink& sink);
  void lose(Link& link, const std::string& cause);
  void vanish(Peer peer, const std::string& cause);
  void supervise();
  void note_deadline();

  const Options options_;
  std::vector<TcpEndpoint> endpoints_;
  std::vector<bool> on_this_host_;
  std::vector<std::unique_ptr<Link>> links_;  // by rank; none where nothing was ever said
  std::vector<Link*> open_;
  std::vector<Link*> rooms_;   // links whose peers must be told of room
  std::vector<Link*> begun_;   // links within a frame, or whose wake-ups are still as if they were
  std::size_t holding_ = 0;    // links with staged output
  bool failing_ = false;       // some link has an error that nobody has looked at
  bool said_goodbye_ = false;  // connections that open from now on hear it first
  std::uint64_t connections_ = 0;
  Peer parted_{-1};  // the first that said goodbye and is gone
  std::uint64_t parted_at_ = 0;
  std::uint64_t look_again_ = ~std::uint64_t{0};  // when connections are supervised next

  Descriptor links_epoll_;
  Descriptor helper_epoll_;
  Bell bell_;
  Bell poke_;
  Connector connector_;
  bool armed_ = false;
  bool poked_ = false;
  std::atomic<bool> listeners_rang_{false};
  std::atomic<bool> leaving_{false};
  std::atomic<Peer> vanished_{Peer{-1}};
  std::array<char, 256> cause_{};
};

}  // namespace sluice
