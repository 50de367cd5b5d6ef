// How two processes of the job come to have a connection: calls that this process makes, and callers that come to it.
//
// One connection for each pair, opened when the first of the two wants to talk. Both may call at the same time; then the call
// of the lower rank stands. Only the acceptor decides, by its verdict at the end of the handshake:
//
//   a caller that has proven to be rank P               verdict
//   there is a connection with P                        decline
//   a call to P is under way, and this rank is lower    decline
//   a call to P is under way, and this rank is higher   accept, give up the own call
//   otherwise                                           accept
//
// A lower rank never accepts while its own call is under way, and never calls when it has accepted, so at most one of the two
// calls of a pair is accepted. Who was declined waits for the other's call, and calls again if it does not come.
//
// At most `max_unauthenticated` callers may be unproven at a time; another one takes the place of the oldest. Each has
// `unauthenticated_seconds`, and costs a PendingConnection. A call that ends before the verdict (its place was taken) is made
// again.
//
// Threading: engine lock, every function.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/listener.hpp"
#include "net/pending_connection.hpp"

namespace sluice {

class Connector {
 public:
  static constexpr std::size_t max_unauthenticated = 64;
  static constexpr unsigned unauthenticated_seconds = 10;

  /// What becomes of a call, told to the owner.
  struct Outcomes {
    std::function<bool(Peer)> is_connected;  // false for a rank that is none
    std::function<void(Peer, Descriptor)> connected;
    std::function<void(Peer, const std::string& cause)> unreachable;
  };
  struct Options {
    Peer self{};
    std::uint32_t ranks = 0;
    JobSecret secret{};
    unsigned timeout_seconds = 0;
  };
  /// Where a peer may be reached, best first.
  struct Destination {
    Address address;
    std::uint16_t port = 0;
  };

  /// The addresses that a peer offers, in the order in which they are to be tried from a process that offers `own`.
  [[nodiscard]] static std::vector<Destination> destinations_of(const TcpEndpoint& theirs, const TcpEndpoint& own,
                                                                bool peer_on_this_host);

  Connector(const Options& options, Listener listener, Outcomes outcomes);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  /// Readable, as an epoll descriptor, when `step` has something to do before `deadline`.
  [[nodiscard]] int descriptor() const { return epoll_.get(); }
  /// When `step` has to be called even if nothing happens (now_ns); ~0 when never.
  [[nodiscard]] std::uint64_t deadline() const;

  /// Calls the peer unless that is under way.
  void call(Peer peer, std::vector<Destination> destinations);
  void step();

  /// Callers that were not of this job, or not in time.
  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }

 private:
  struct Call {
    std::vector<Destination> destinations;
    std::size_t tried = 0;                     // the one that is tried
    std::optional<PendingConnection> attempt;  // none: between two attempts
    std::uint64_t began = 0;
    std::uint64_t deadline = 0;  // of connecting, or of the pause between two attempts
    std::string last_failure;
  };
  struct Caller {
    PendingConnection pending;
    std::uint64_t deadline = 0;
  };

  void dial(Peer peer, Call& call);
  void pause(Call& call, std::uint64_t ns);
  /// False when the call is over.
  bool go_on(Peer peer, Call& call);
  bool try_next(Peer peer, Call& call);
  void listen(bool now);
  void admit_callers();
  void hear_callers();
  [[nodiscard]] bool may_stay(Peer peer) const;
  void watch(int descriptor);
  [[nodiscard]] static Nonce fresh_nonce();

  Options options_;
  Listener listener_;
  Outcomes outcomes_;
  Descriptor epoll_;
  std::map<Peer, Call> calls_;
  std::deque<Caller> callers_;
  std::uint64_t rejected_ = 0;
  std::uint64_t accept_again_ = ~std::uint64_t{0};
};

}  // namespace sluice
