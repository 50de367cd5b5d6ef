#include "net/connector.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "net/interfaces.hpp"
#include "net/supervision.hpp"
#include "net/system.hpp"
#include "runtime/base/clock.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t never = ~std::uint64_t{0};
/// Between two rounds of attempts, and after the peer has declined because it calls itself.
constexpr std::uint64_t pause_ns = second_ns / 20;
constexpr std::uint64_t retry_ns = second_ns;
/// Accepted in one step; the rest is there the next time.
constexpr int max_accepted = 32;

}  // namespace

std::vector<Connector::Destination> Connector::destinations_of(const TcpEndpoint& theirs, const TcpEndpoint& own,
                                                               bool peer_on_this_host) {
  const auto addresses = std::span(theirs.addresses).first(theirs.count);
  std::vector<Destination> destinations;
  for (const Address& address : order_candidates(addresses, std::span(own.addresses).first(own.count), peer_on_this_host)) {
    const auto same =
        std::find_if(addresses.begin(), addresses.end(), [&](const Address& one) { return one.same_host(address); });
    destinations.push_back({address, theirs.ports[static_cast<std::size_t>(same - addresses.begin())]});
  }
  return destinations;
}

Connector::Connector(const Options& options, Listener listener, Outcomes outcomes)
    : options_(options), listener_(std::move(listener)), outcomes_(std::move(outcomes)), epoll_(system::new_epoll()) {
  for (const Descriptor& socket : listener_.sockets()) {
    checked(system::epoll_control(epoll_.get(), EPOLL_CTL_ADD, socket.get(), EPOLLIN, 0), "epoll_ctl");
  }
}

/// While callers cannot be accepted, their waiting must not keep `descriptor` readable.
void Connector::listen(bool now) {
  accept_again_ = now ? never : now_ns() + retry_ns;
  for (const Descriptor& socket : listener_.sockets()) {
    system::epoll_control(epoll_.get(), EPOLL_CTL_MOD, socket.get(), now ? std::uint32_t{EPOLLIN} : 0, 0);
  }
}

Nonce Connector::fresh_nonce() {
  Nonce nonce{};
  if (::syscall(SYS_getrandom, nonce.data(), nonce.size(), 0) != static_cast<long>(nonce.size())) throw_errno("getrandom");
  return nonce;
}

/// Every step goes on as far as it can, so only changes matter.
void Connector::watch(int descriptor) {
  system::epoll_control(epoll_.get(), EPOLL_CTL_ADD, descriptor, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 0);
}

std::uint64_t Connector::deadline() const {
  std::uint64_t first = accept_again_;
  for (const auto& [peer, call] : calls_) first = std::min(first, call.deadline);
  for (const Caller& caller : callers_) first = std::min(first, caller.deadline);
  return first;
}

void Connector::step() {
  std::array<epoll_event, 16> events{};
  system::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);  // edges are taken note of
  admit_callers();
  hear_callers();
  for (auto entry = calls_.begin(); entry != calls_.end();) {
    entry = go_on(entry->first, entry->second) ? std::next(entry) : calls_.erase(entry);
  }
}

// --- calls ---------------------------------------------------------------------------------------------------------------

void Connector::call(Peer peer, std::vector<Destination> destinations) {
  const auto [entry, is_new] = calls_.try_emplace(peer);
  if (!is_new) return;
  entry->second.destinations = std::move(destinations);
  entry->second.began = now_ns();
  entry->second.last_failure = "it offers no address that this process could reach";
  dial(peer, entry->second);
}

void Connector::dial(Peer peer, Call& call) {
  if (call.tried >= call.destinations.size()) return pause(call, pause_ns);
  const Destination& destination = call.destinations[call.tried];
  call.attempt.emplace(to_sockaddr(destination.address, destination.port),
                       Handshake::initiate(options_.secret, options_.self, peer, fresh_nonce()));
  // So long for one address when there are others; connecting, that is: who is connected may be slow to answer.
  call.deadline = now_ns() + std::max<std::uint64_t>(1, options_.timeout_seconds / call.destinations.size()) * second_ns;
  if (call.attempt->state() == PendingConnection::State::failed) return;  // go_on finds out
  tune_socket(call.attempt->descriptor(), options_.timeout_seconds);
  watch(call.attempt->descriptor());
}

void Connector::pause(Call& call, std::uint64_t ns) {
  call.attempt.reset();
  call.deadline = now_ns() + ns;
}

bool Connector::try_next(Peer peer, Call& call) {
  const Destination& destination = call.destinations[call.tried];
  call.last_failure = to_string(destination.address) + " port " + std::to_string(destination.port) + ": " + call.last_failure;
  if (now_ns() - call.began > options_.timeout_seconds * second_ns) {
    outcomes_.unreachable(peer, call.last_failure);
    return false;
  }
  if (++call.tried < call.destinations.size()) {
    dial(peer, call);
  } else {
    call.tried = 0;
    pause(call, pause_ns);
  }
  return true;
}

bool Connector::go_on(Peer peer, Call& call) {
  if (!call.attempt) {
    if (now_ns() < call.deadline) return true;
    if (call.destinations.empty()) {
      outcomes_.unreachable(peer, call.last_failure);
      return false;
    }
    dial(peer, call);
    if (!call.attempt) return true;
  }
  switch (call.attempt->step()) {
    case PendingConnection::State::connecting:
      if (now_ns() < call.deadline) return true;
      call.last_failure = "no answer";
      return try_next(peer, call);
    case PendingConnection::State::handshaking:
      call.deadline = never;  // that the other end is alive is the kernel's to watch now
      return true;
    case PendingConnection::State::proven:
      system::epoll_control(epoll_.get(), EPOLL_CTL_DEL, call.attempt->descriptor(), 0, 0);
      outcomes_.connected(peer, call.attempt->take_socket());
      return false;
    case PendingConnection::State::declined:
      pause(call, retry_ns);
      return true;
    case PendingConnection::State::failed:
      call.last_failure = call.attempt->why();
      return try_next(peer, call);
  }
  return true;
}

// --- callers -------------------------------------------------------------------------------------------------------------

void Connector::admit_callers() {
  if (accept_again_ != never) {
    if (now_ns() < accept_again_) return;
    listen(true);
  }
  for (const Descriptor& socket : listener_.sockets()) {
    for (int count = 0; count < max_accepted; ++count) {
      Descriptor accepted(system::accept(socket.get()));
      if (!accepted) {
        if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) break;
        return listen(false);  // out of descriptors, for instance
      }
      if (callers_.size() == max_unauthenticated) {
        callers_.pop_front();
        ++rejected_;
      }
      watch(accepted.get());
      callers_.push_back({PendingConnection(std::move(accepted),
                                            Handshake::accept(options_.secret, options_.self, options_.ranks, fresh_nonce())),
                          now_ns() + unauthenticated_seconds * second_ns});
    }
  }
}

bool Connector::may_stay(Peer peer) const {
  if (outcomes_.is_connected(peer)) return false;
  const auto own = calls_.find(peer);
  const bool under_way = own != calls_.end() && own->second.attempt.has_value();
  return !under_way || peer < options_.self;
}

void Connector::hear_callers() {
  for (auto caller = callers_.begin(); caller != callers_.end();) {
    PendingConnection& pending = caller->pending;
    const auto state = pending.step();
    if (state == PendingConnection::State::handshaking && now_ns() < caller->deadline) {
      ++caller;
      continue;
    }
    if (state == PendingConnection::State::proven) {
      const Peer peer = pending.peer();
      const bool stays = may_stay(peer);
      pending.decide(stays);
      if (stays && pending.state() == PendingConnection::State::proven) {
        system::epoll_control(epoll_.get(), EPOLL_CTL_DEL, pending.descriptor(), 0, 0);
        calls_.erase(peer);
        outcomes_.connected(peer, pending.take_socket());
      }
    } else if (pending.is_refused() || !outcomes_.is_connected(pending.peer())) {
      // Otherwise a call that was given up for another.
      ++rejected_;
    }
    caller = callers_.erase(caller);
  }
}

}  // namespace sluice
