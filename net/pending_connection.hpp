// A connection that is not one yet: its socket, and the handshake by which both ends prove that they belong to the job.
//
//   connecting → (writable) handshaking → proven | declined | failed      of this process's making
//                           handshaking → proven | failed                 of somebody's who came
//
// A fixed size, whatever comes; no byte is read beyond the handshake, so the socket can be handed on when it is proven.
//
// Threading: one at a time. Nothing blocks.
#pragma once

#include <cstdint>
#include <string>

#include "net/address.hpp"
#include "net/handshake.hpp"
#include "runtime/base/posix.hpp"

namespace sluice {

class PendingConnection {
 public:
  enum class State : std::uint8_t { connecting, handshaking, proven, declined, failed };

  /// Somebody who came to the listener.
  PendingConnection(Descriptor socket, const Handshake& handshake);
  /// Begins to connect. `failed` when that is impossible at once.
  PendingConnection(const SocketAddress& to, const Handshake& handshake);

  /// Goes on as far as possible.
  State step();
  /// [came, proven] Tells the peer whether the connection stands.
  void decide(bool keep);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] Peer peer() const { return handshake_.peer(); }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] Descriptor take_socket() { return std::move(socket_); }
  /// It failed because the other side is not of the job, or not what it says; not because it went.
  [[nodiscard]] bool is_refused() const { return handshake_.state() == Handshake::State::refused; }
  /// Why it failed.
  [[nodiscard]] std::string why() const;

 private:
  void fail(int error);
  bool finish_connecting();
  bool write_output();
  bool read_input();

  Descriptor socket_;
  Handshake handshake_;
  State state_ = State::handshaking;
  int error_ = 0;
};

}  // namespace sluice
