#include "interpose/session/mixed_transport.hpp"

#include <poll.h>
#include <sys/syscall.h>

#include <array>

#include "runtime/base/clock.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t look_interval_ns = 500;

}  // namespace

MixedTransport::MixedTransport(ShmemTransport& shmem, NetworkTransport& network, std::vector<bool> shares_memory)
    : shmem_(shmem), network_(network), shares_memory_(std::move(shares_memory)) {}

std::byte* MixedTransport::reserve(Peer to, std::size_t payload_bytes) {
  return shares_memory(to) ? shmem_.reserve(to, payload_bytes) : network_.reserve(to, payload_bytes);
}

void MixedTransport::commit(Peer to, const WireHeader& header) {
  if (shares_memory(to)) return shmem_.commit(to, header);
  network_.commit(to, header);
  holds_output_ = network_.holds_output();
}

std::size_t MixedTransport::stream(Peer to, std::uint64_t subject, std::span<const std::byte> next) {
  const std::size_t bytes = network_.stream(to, subject, next);
  holds_output_ = network_.holds_output();
  return bytes;
}

bool MixedTransport::send(Peer to, const WireHeader& header, std::span<const std::byte> prefix,
                          std::span<const std::byte> bytes) {
  const bool sent = network_.send(to, header, prefix, bytes);
  holds_output_ = network_.holds_output();
  return sent;
}

int MixedTransport::poll(MessageSink& sink) {
  int moved = shmem_.poll(sink);
  const std::uint64_t now = now_ns();
  if (now < next_look_ && !network_.pending()) return moved;
  next_look_ = now + look_interval_ns;
  moved += network_.poll(sink);
  holds_output_ = network_.holds_output();
  return moved;
}

void MixedTransport::set_wake_mask(WakeMask level) {
  network_.set_wake_mask(level);
  shmem_.set_wake_mask(level);
}

void MixedTransport::sleep_helper() {
  constexpr long millisecond_ns = 1'000'000;
  std::array<pollfd, 2> files{{{shmem_.helper_descriptor(), POLLIN, 0}, {network_.helper_descriptor(), POLLIN, 0}}};
  for (bool woken = false; !woken;) {
    const int wait_ms = network_.helper_wait_ms();
    const timespec timeout{wait_ms / 1000, wait_ms % 1000 * millisecond_ns};
    ::syscall(SYS_ppoll, files.data(), files.size(), wait_ms < 0 ? nullptr : &timeout, nullptr, 0);
    woken = shmem_.take_helper_events();
    woken |= network_.take_helper_events();
  }
}

void MixedTransport::attend() {
  network_.attend();
  holds_output_ = network_.holds_output();
}

Peer MixedTransport::vanished() const {
  const Peer local = shmem_.vanished();
  return static_cast<int>(local) >= 0 ? local : network_.vanished();
}

const char* MixedTransport::cause() const { return static_cast<int>(shmem_.vanished()) >= 0 ? shmem_.cause() : network_.cause(); }

}  // namespace sluice
