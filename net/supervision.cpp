#include "net/supervision.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>

#include "net/system.hpp"
#include "runtime/base/clock.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::uint64_t millisecond_ns = 1'000'000;
/// A quarter of the timeout is for noticing that there is silence, and for being asked again once it has lasted.
constexpr unsigned looks_per_timeout = 8;
/// One question for room that has no answer yet is usual.
constexpr unsigned unanswered_probes = 2;
constexpr int keepalive_probes = 4;

}  // namespace

void tune_socket(int socket, unsigned timeout_seconds) {
  // None of these can fail on a TCP socket; over a socket of another kind (unit tests) they mean nothing.
  system::set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  system::set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  const int idle = std::max(1, static_cast<int>(timeout_seconds / 3));
  const int interval = std::max(1, (static_cast<int>(timeout_seconds) - idle) / keepalive_probes);
  system::set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, idle);
  system::set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  system::set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
}

std::uint64_t Supervision::interval_ns(unsigned timeout_seconds) { return timeout_seconds * ns_per_second / looks_per_timeout; }

bool Supervision::is_dead(int socket, unsigned timeout_seconds) {
  tcp_info info{};
  if (system::get_option(socket, IPPROTO_TCP, TCP_INFO, info) != 0) return false;
  const std::uint64_t now = now_ns();
  const bool retransmits = info.tcpi_unacked != 0 && info.tcpi_retransmits != 0;
  const bool answered = silent_since_ != 0 && info.tcpi_last_ack_recv * millisecond_ns < now - silent_since_;
  if (answered || !(retransmits || info.tcpi_probes >= unanswered_probes)) {
    silent_since_ = 0;
  } else if (silent_since_ == 0) {
    silent_since_ = now;
  }
  return silent_since_ != 0 &&
         now - silent_since_ >= timeout_seconds * ns_per_second * (looks_per_timeout - 2) / looks_per_timeout;
}

}  // namespace sluice
