// How two processes prove to each other that they belong to the same job, before a connection counts for anything.
//
// The job secret, 128 random bits, reached every process through the host MPI. Neither it nor anything that would let it be
// guessed goes over a connection: what travels are SipHash results under it as key, over both sides' fresh nonces.
//
//   initiator                                    acceptor
//   hello(version, I, A, nonce_i)     40 B  →
//                                     40 B  ←    challenge(version, A, I, nonce_a)
//   proof = S("initiate" hello challenge) 8 B →
//                                     16 B  ←    verdict(accept or decline), S("accept.." or "decline." hello challenge)
//
// Each proof covers the whole exchange so far: version, both ranks, both nonces; and it begins with a word that only that role
// says, so that no answer can be sent back as one's own (reflection), or used on another connection (replay). The acceptor
// shows nothing made with the secret to anybody who has not proven it. It says last whether it keeps the connection, as only it
// knows of both where two processes call each other at the same time; its verdict is its proof.
//
//   states of an initiator: going_on → proven | declined | refused
//   states of an acceptor:  going_on → proven → (decide) proven | declined; or refused
//
// The memory of an unauthenticated caller is one object of this class, a fixed size; nothing is allocated before (or by) the
// proof. Bytes in, bytes out: sockets, deadlines and the number of callers are the caller's. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "net/siphash.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

using JobSecret = SipKey;
using Nonce = std::array<std::byte, 16>;  // fresh random bytes for every connection

class Handshake {
 public:
  enum class State : std::uint8_t {
    going_on,
    proven,    // acceptor: the peer is known, and the caller has to decide
    declined,  // the acceptor is genuine and does not want this connection (there is another)
    refused,   // not of the job, or not one to talk to: `why` says
  };

  /// `secret` must outlive the object. `ranks`: size of the job; whoever claims to be another rank is refused.
  static Handshake initiate(const JobSecret& secret, Peer self, Peer wanted, const Nonce& nonce);
  static Handshake accept(const JobSecret& secret, Peer self, std::uint32_t ranks, const Nonce& nonce);

  /// Bytes that the current record still lacks; 0 when the other side has nothing to say now. Whoever reads never more than
  /// this leaves what follows the handshake in the socket.
  [[nodiscard]] std::size_t wanted() const { return state_ == State::going_on ? expected_ - filled_ : 0; }
  /// Takes at most `wanted()` bytes, fewer as well. May make output.
  State feed(std::span<const std::byte> bytes);

  /// What is to be written now, and that so much of it was written.
  [[nodiscard]] std::span<const std::byte> output() const { return std::span(out_).subspan(sent_, out_bytes_ - sent_); }
  void sent(std::size_t bytes);

  /// [acceptor, once proven] Makes the verdict, which is output then.
  void decide(bool keep);

  [[nodiscard]] State state() const { return state_; }
  /// The other side; only believed once it is proven. An acceptor knows none before the hello: Peer{-1}.
  [[nodiscard]] Peer peer() const { return peer_; }
  /// [refused] The exact cause.
  [[nodiscard]] std::string why() const;

  static constexpr std::size_t hello_bytes = 40;
  static constexpr std::size_t proof_bytes = 8;
  static constexpr std::size_t verdict_bytes = 16;

 private:
  enum class Step : std::uint8_t { hello, challenge, proof, verdict, over };  // the record that is expected next
  enum class Cause : std::uint8_t { none, magic, version, reserved, wrong_peer, wrong_self, proof, verdict };
  /// The first record of either side; a challenge has the same form.
  using Hello = std::span<std::byte, hello_bytes>;
  using ConstHello = std::span<const std::byte, hello_bytes>;
  static constexpr std::size_t label_bytes = 8;

  Handshake(const JobSecret& secret, Peer self, Peer peer, std::uint32_t ranks)
      : secret_(&secret), self_(self), peer_(peer), ranks_(ranks) {}

  [[nodiscard]] Hello hello() { return Hello(transcript_.data() + label_bytes, hello_bytes); }
  [[nodiscard]] Hello challenge() { return Hello(transcript_.data() + label_bytes + hello_bytes, hello_bytes); }
  void greet(Hello target, std::uint64_t magic, const Nonce& nonce);
  void expect(Step step, std::size_t bytes);
  void put_out(std::span<const std::byte> bytes);
  State refuse(Cause cause, std::uint32_t found);

  State on_hello();
  State on_challenge();
  State on_proof();
  State on_verdict();
  [[nodiscard]] Cause check_hello(ConstHello received, std::uint64_t magic);
  [[nodiscard]] std::uint64_t proof_of(std::uint64_t label);

  const JobSecret* secret_;
  Peer self_;
  Peer peer_;
  std::uint32_t ranks_;
  std::uint32_t found_ = 0;  // the value that caused the refusal
  State state_ = State::going_on;
  Step step_{};
  Cause cause_ = Cause::none;
  std::uint8_t expected_ = 0;
  std::uint8_t filled_ = 0;
  std::uint8_t out_bytes_ = 0;
  std::uint8_t sent_ = 0;
  Nonce nonce_{};
  std::array<std::byte, hello_bytes> in_{};
  std::array<std::byte, hello_bytes> out_{};
  std::array<std::byte, label_bytes + 2 * hello_bytes> transcript_{};  // what proofs are made of
};
static_assert(sizeof(Handshake) <= 256, "what an unauthenticated caller costs");

}  // namespace sluice
