#include "net/handshake.hpp"

#include <algorithm>
#include <cassert>

#include "net/wire.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t handshake_version = 1;

/// Eight letters as the number that puts them on the wire in that order.
constexpr std::uint64_t word(const char (&letters)[9]) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) number = number << 8 | static_cast<unsigned char>(letters[i]);
  return number;
}

constexpr std::uint64_t hello_magic = word("sluice>>");
constexpr std::uint64_t challenge_magic = word("<<sluice");
constexpr std::uint64_t initiator_label = word("initiate");
constexpr std::uint64_t accept_label = word("accept..");
constexpr std::uint64_t decline_label = word("decline.");

constexpr std::uint32_t verdict_accept = 1;
constexpr std::uint32_t verdict_decline = 2;

// Offsets in a hello and in a challenge: magic 0, version 8, from 12, to 16, zero 20, nonce 24.
constexpr std::size_t nonce_offset = 24;
static_assert(nonce_offset + sizeof(Nonce) == Handshake::hello_bytes);

std::uint32_t from_of(std::span<const std::byte, Handshake::hello_bytes> received) {
  return wire::get<12, std::uint32_t>(received);
}

/// One comparison of two registers: its time does not tell how many bits agree.
bool same_proof(std::uint64_t ours, std::uint64_t theirs) { return (ours ^ theirs) == 0; }

}  // namespace

Handshake Handshake::initiate(const JobSecret& secret, Peer self, Peer wanted, const Nonce& nonce) {
  Handshake made(secret, self, wanted, 0);
  made.greet(made.hello(), hello_magic, nonce);
  made.put_out(made.hello());
  made.expect(Step::challenge, hello_bytes);
  return made;
}

Handshake Handshake::accept(const JobSecret& secret, Peer self, std::uint32_t ranks, const Nonce& nonce) {
  Handshake made(secret, self, Peer{-1}, ranks);
  made.nonce_ = nonce;
  made.expect(Step::hello, hello_bytes);
  return made;
}

void Handshake::greet(Hello target, std::uint64_t magic, const Nonce& nonce) {
  wire::put<0>(target, magic);
  wire::put<8>(target, handshake_version);
  wire::put<12>(target, static_cast<std::int32_t>(self_));
  wire::put<16>(target, static_cast<std::int32_t>(peer_));
  wire::put<20>(target, std::uint32_t{0});
  std::copy(nonce.begin(), nonce.end(), target.begin() + nonce_offset);
}

void Handshake::expect(Step step, std::size_t bytes) {
  step_ = step;
  expected_ = static_cast<std::uint8_t>(bytes);
  filled_ = 0;
}

void Handshake::put_out(std::span<const std::byte> bytes) {
  assert(output().empty());
  std::copy(bytes.begin(), bytes.end(), out_.begin());
  out_bytes_ = static_cast<std::uint8_t>(bytes.size());
  sent_ = 0;
}

void Handshake::sent(std::size_t bytes) {
  assert(bytes <= output().size());
  sent_ = static_cast<std::uint8_t>(sent_ + std::min(bytes, output().size()));
}

Handshake::State Handshake::refuse(Cause cause, std::uint32_t found) {
  cause_ = cause;
  found_ = found;
  out_bytes_ = sent_ = 0;
  return state_ = State::refused;
}

Handshake::State Handshake::feed(std::span<const std::byte> bytes) {
  assert(bytes.size() <= wanted());
  bytes = bytes.first(std::min(bytes.size(), wanted()));
  std::copy(bytes.begin(), bytes.end(), in_.begin() + filled_);
  filled_ = static_cast<std::uint8_t>(filled_ + bytes.size());
  if (state_ != State::going_on || filled_ < expected_) return state_;
  switch (step_) {
    case Step::hello:
      return on_hello();
    case Step::challenge:
      return on_challenge();
    case Step::proof:
      return on_proof();
    case Step::verdict:
      return on_verdict();
    case Step::over:
      break;
  }
  return state_;
}

Handshake::Cause Handshake::check_hello(ConstHello received, std::uint64_t magic) {
  if (wire::get<0, std::uint64_t>(received) != magic) return Cause::magic;
  if (wire::get<8, std::uint32_t>(received) != handshake_version) return Cause::version;
  if (wire::get<20, std::uint32_t>(received) != 0) return Cause::reserved;
  if (wire::get<16, std::int32_t>(received) != static_cast<std::int32_t>(self_)) return Cause::wrong_self;
  return Cause::none;
}

/// Acceptor.
Handshake::State Handshake::on_hello() {
  const ConstHello received(in_);
  if (const Cause cause = check_hello(received, hello_magic); cause != Cause::none) {
    return refuse(cause,
                  cause == Cause::version ? wire::get<8, std::uint32_t>(received) : wire::get<16, std::uint32_t>(received));
  }
  const std::uint32_t from = from_of(received);
  if (from >= ranks_ || from == static_cast<std::uint32_t>(self_)) return refuse(Cause::wrong_peer, from);
  peer_ = static_cast<Peer>(from);
  std::copy(in_.begin(), in_.end(), hello().begin());
  greet(challenge(), challenge_magic, nonce_);
  put_out(challenge());
  expect(Step::proof, proof_bytes);
  return state_;
}

/// Initiator. A challenge before the hello has left is an answer to nothing.
Handshake::State Handshake::on_challenge() {
  const ConstHello received(in_);
  if (!output().empty()) return refuse(Cause::magic, 0);
  if (const Cause cause = check_hello(received, challenge_magic); cause != Cause::none) {
    return refuse(cause,
                  cause == Cause::version ? wire::get<8, std::uint32_t>(received) : wire::get<16, std::uint32_t>(received));
  }
  if (from_of(received) != static_cast<std::uint32_t>(peer_)) return refuse(Cause::wrong_peer, from_of(received));
  std::copy(in_.begin(), in_.end(), challenge().begin());
  std::array<std::byte, proof_bytes> record{};
  wire::put<0>(std::span(record), proof_of(initiator_label));
  put_out(record);
  expect(Step::verdict, verdict_bytes);
  return state_;
}

/// Acceptor.
Handshake::State Handshake::on_proof() {
  const std::span<const std::byte, hello_bytes> record(in_);
  if (!output().empty() || !same_proof(proof_of(initiator_label), wire::get<0, std::uint64_t>(record)))
    return refuse(Cause::proof, 0);
  expect(Step::over, 0);
  return state_ = State::proven;
}

void Handshake::decide(bool keep) {
  assert(state_ == State::proven && ranks_ != 0);
  std::array<std::byte, verdict_bytes> record{};
  wire::put<0>(std::span(record), keep ? verdict_accept : verdict_decline);
  wire::put<8>(std::span(record), proof_of(keep ? accept_label : decline_label));
  put_out(record);
  if (!keep) state_ = State::declined;
}

/// Initiator. Verdict: what 0, zero 4, proof 8.
Handshake::State Handshake::on_verdict() {
  const std::span<const std::byte, hello_bytes> record(in_);
  const auto what = wire::get<0, std::uint32_t>(record);
  if ((what != verdict_accept && what != verdict_decline) || wire::get<4, std::uint32_t>(record) != 0 || !output().empty()) {
    return refuse(Cause::verdict, what);
  }
  const bool accepted = what == verdict_accept;
  if (!same_proof(proof_of(accepted ? accept_label : decline_label), wire::get<8, std::uint64_t>(record))) {
    return refuse(Cause::proof, 0);
  }
  expect(Step::over, 0);
  return state_ = accepted ? State::proven : State::declined;
}

std::uint64_t Handshake::proof_of(std::uint64_t label) {
  wire::put<0>(std::span(transcript_), label);
  return siphash(*secret_, transcript_);
}

std::string Handshake::why() const {
  const auto number = [this] { return std::to_string(static_cast<std::int32_t>(found_)); };
  switch (cause_) {
    case Cause::magic:
      return "it is no process of Sluice";
    case Cause::version:
      return "it speaks version " + number() + " of the handshake, this process version " + std::to_string(handshake_version);
    case Cause::reserved:
      return "its hello has values where none belong";
    case Cause::wrong_peer:
      return "it says that it is rank " + number() +
             (ranks_ == 0 ? ", not rank " + std::to_string(static_cast<int>(peer_))
                          : " and calls a job of " + std::to_string(ranks_));
    case Cause::wrong_self:
      return "it wants to talk to rank " + number();
    case Cause::proof:
      return "it does not know the job's secret";
    case Cause::verdict:
      return "its verdict " + number() + " means nothing";
    case Cause::none:
      break;
  }
  return {};
}

}  // namespace sluice
