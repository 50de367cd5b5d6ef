// Noticing that a peer is not there any more, although nothing says so: a link that is down for good, a machine without power.
//
// While nothing is under way, the kernel's keepalive does it. While something is, keepalive is silent, and the kernel goes on
// retransmitting for a quarter of an hour. TCP_USER_TIMEOUT would shorten that, but it also ends the connection with a peer
// that computes for longer than the timeout without taking what waits for it, and acknowledges that it is there all the time. So
// the kernel is asked now and then: a connection is dead when it has been retransmitting, or asking for room in vain, for the
// whole time, and not one acknowledgement has come.
//
// Threading: engine lock.
#pragma once

#include <cstdint>

namespace sluice {

/// Options that every connection of a job has: no delay of small messages, keepalive.
void tune_socket(int socket, unsigned timeout_seconds);

class Supervision {
 public:
  /// How often `is_dead` has to be asked, so that it answers within the timeout.
  [[nodiscard]] static std::uint64_t interval_ns(unsigned timeout_seconds);

  [[nodiscard]] bool is_dead(int socket, unsigned timeout_seconds);

 private:
  std::uint64_t silent_since_ = 0;  // 0: the peer answers, or has nothing to answer
};

}  // namespace sluice
