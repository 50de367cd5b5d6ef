#include "net/pending_connection.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include "net/system.hpp"

namespace sluice {
namespace {

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

PendingConnection::PendingConnection(Descriptor socket, const Handshake& handshake)
    : socket_(std::move(socket)), handshake_(handshake) {}

PendingConnection::PendingConnection(const SocketAddress& to, const Handshake& handshake)
    : socket_(system::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)),
      handshake_(handshake),
      state_(State::connecting) {
  if (!socket_ || (system::connect(socket_.get(), to.get(), to.bytes) != 0 && errno != EINPROGRESS && errno != EINTR))
    fail(errno);
}

void PendingConnection::fail(int error) {
  error_ = error;
  state_ = State::failed;
}

bool PendingConnection::finish_connecting() {
  int error = 0;
  if (system::get_option(socket_.get(), SOL_SOCKET, SO_ERROR, error) != 0) error = errno;
  if (error != 0) {
    fail(error);
    return false;
  }
  sockaddr_storage peer{};
  socklen_t bytes = sizeof peer;
  if (::syscall(SYS_getpeername, socket_.get(), &peer, &bytes) != 0) return false;  // still connecting
  state_ = State::handshaking;
  return true;
}

bool PendingConnection::write_output() {
  while (!handshake_.output().empty()) {
    const auto output = handshake_.output();
    const ssize_t sent = system::send(socket_.get(), output.data(), output.size());
    if (sent < 0) {
      if (!would_block(errno)) fail(errno);
      return false;
    }
    handshake_.sent(static_cast<std::size_t>(sent));
  }
  return true;
}

bool PendingConnection::read_input() {
  std::array<std::byte, Handshake::hello_bytes> input{};
  const ssize_t received = system::receive(socket_.get(), input.data(), handshake_.wanted());
  if (received < 0) {
    if (!would_block(errno)) fail(errno);
    return false;
  }
  if (received == 0) {
    fail(0);
    return false;
  }
  handshake_.feed(std::span(input).first(static_cast<std::size_t>(received)));
  return true;
}

PendingConnection::State PendingConnection::step() {
  if (state_ == State::connecting && !finish_connecting()) return state_;
  while (state_ == State::handshaking) {
    switch (handshake_.state()) {
      case Handshake::State::proven:
        return state_ = State::proven;
      case Handshake::State::declined:
        return state_ = State::declined;
      case Handshake::State::refused:
        return state_ = State::failed;
      case Handshake::State::going_on:
        if (!write_output() || !read_input()) return state_;
    }
  }
  return state_;
}

/// The verdict is the second thing that is sent over the connection, so there is room for it.
void PendingConnection::decide(bool keep) {
  handshake_.decide(keep);
  if (!write_output() && state_ != State::failed) fail(EPIPE);
  if (state_ != State::failed) state_ = keep ? State::proven : State::declined;
}

std::string PendingConnection::why() const {
  if (is_refused()) return handshake_.why();
  return error_ != 0 ? std::generic_category().message(error_) : "the connection was closed";
}

}  // namespace sluice
