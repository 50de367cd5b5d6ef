#include "runtime/transport/network_transport.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "runtime/base/clock.hpp"

namespace sluice {
namespace {

constexpr long millisecond_ns = 1'000'000;

}  // namespace

int NetworkTransport::helper_wait_ms() const {
  constexpr std::uint64_t longest_ms = 3'600'000;
  const std::uint64_t deadline = deadline_.load(std::memory_order_relaxed);
  const std::uint64_t now = now_ns();
  if (deadline == never) return -1;
  return deadline <= now ? 0 : static_cast<int>(std::min((deadline - now) / millisecond_ns + 1, longest_ms));
}

void NetworkTransport::sleep_helper() {
  pollfd file{helper_descriptor(), POLLIN, 0};
  do {
    const int wait_ms = helper_wait_ms();
    const timespec timeout{wait_ms / 1000, wait_ms % 1000 * millisecond_ns};
    ::syscall(SYS_ppoll, &file, 1, wait_ms < 0 ? nullptr : &timeout, nullptr, 0);
  } while (!take_helper_events());
}

}  // namespace sluice
