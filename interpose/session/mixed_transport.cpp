#include "interpose/session/mixed_transport.hpp"

#include <poll.h>
#include <sys/syscall.h>

#include <array>

#include "runtime/base/clock.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t look_interval_ns = 500;

}  // namespace

MixedTransport::MixedTransport(ShmemTransport& near, FarTransport& far, std::vector<bool> is_near)
    : near_(near), far_(far), is_near_(std::move(is_near)) {}

std::byte* MixedTransport::reserve(Peer to, std::size_t payload_bytes) {
  return is_near(to) ? near_.reserve(to, payload_bytes) : far_.reserve(to, payload_bytes);
}

void MixedTransport::commit(Peer to, const MessageHeader& header) {
  if (is_near(to)) return near_.commit(to, header);
  far_.commit(to, header);
  holds_output_ = far_.holds_output();
}

std::size_t MixedTransport::stream(Peer to, std::uint64_t subject, std::span<const std::byte> next) {
  const std::size_t bytes = far_.stream(to, subject, next);
  holds_output_ = far_.holds_output();
  return bytes;
}

bool MixedTransport::send(Peer to, const MessageHeader& header, std::span<const std::byte> prefix,
                          std::span<const std::byte> bytes) {
  const bool sent = far_.send(to, header, prefix, bytes);
  holds_output_ = far_.holds_output();
  return sent;
}

int MixedTransport::poll(MessageSink& sink) {
  int moved = near_.poll(sink);
  const std::uint64_t now = now_ns();
  if (now < next_look_ && !far_.pending()) return moved;
  next_look_ = now + look_interval_ns;
  moved += far_.poll(sink);
  holds_output_ = far_.holds_output();
  return moved;
}

void MixedTransport::set_attention(Attention level) {
  far_.set_attention(level);
  near_.set_attention(level);
}

void MixedTransport::sleep_helper() {
  constexpr long millisecond_ns = 1'000'000;
  std::array<pollfd, 2> files{{{near_.helper_descriptor(), POLLIN, 0}, {far_.helper_descriptor(), POLLIN, 0}}};
  for (bool woken = false; !woken;) {
    const int patience = far_.helper_patience();
    const timespec timeout{patience / 1000, patience % 1000 * millisecond_ns};
    ::syscall(SYS_ppoll, files.data(), files.size(), patience < 0 ? nullptr : &timeout, nullptr, 0);
    woken = near_.take_helper_events();
    woken |= far_.take_helper_events();
  }
}

void MixedTransport::attend() {
  far_.attend();
  holds_output_ = far_.holds_output();
}

Peer MixedTransport::vanished() const {
  const Peer near = near_.vanished();
  return static_cast<int>(near) >= 0 ? near : far_.vanished();
}

const char* MixedTransport::cause() const { return static_cast<int>(near_.vanished()) >= 0 ? near_.cause() : far_.cause(); }

}  // namespace sluice
