#include "net/handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

using State = Handshake::State;

constexpr Peer first{0};
constexpr Peer second{1};
constexpr std::uint32_t job_size = 3;

template <class Bytes>
Bytes filled(int value) {
  Bytes bytes;
  bytes.fill(static_cast<std::byte>(value));
  return bytes;
}

const JobSecret secret = filled<JobSecret>(7);
const JobSecret other_secret = filled<JobSecret>(8);

Handshake initiator(const JobSecret& key = secret, Peer self = first, Peer wanted = second) {
  return Handshake::initiate(key, self, wanted, filled<Nonce>(1));
}
Handshake acceptor(const JobSecret& key = secret, Peer self = second) {
  return Handshake::accept(key, self, job_size, filled<Nonce>(2));
}

std::vector<std::byte> take_output(Handshake& from) {
  const auto out = from.output();
  std::vector<std::byte> bytes(out.begin(), out.end());
  from.sent(bytes.size());
  return bytes;
}

/// Carries all that one side has to say to the other, in segments of at most `segment` bytes.
State carry(Handshake& from, Handshake& to, std::size_t segment = 1000) {
  const auto bytes = take_output(from);
  std::span<const std::byte> rest(bytes);
  while (!rest.empty()) {
    const std::size_t count = std::min({segment, rest.size(), to.wanted()});
    if (count == 0) break;
    to.feed(rest.first(count));
    rest = rest.subspan(count);
  }
  return to.state();
}

/// As far as the acceptor's proof of the initiator.
State introduce(Handshake& calling, Handshake& called) {
  carry(calling, called);
  carry(called, calling);
  return carry(calling, called);
}

TEST(Handshake, both_sides_are_proven_when_both_know_the_secret) {
  Handshake calling = initiator();
  Handshake called = acceptor();

  EXPECT_EQ(introduce(calling, called), State::proven);
  EXPECT_EQ(calling.state(), State::going_on);
  called.decide(true);
  EXPECT_EQ(carry(called, calling), State::proven);

  EXPECT_EQ(called.peer(), first);
  EXPECT_EQ(calling.peer(), second);
}

TEST(Handshake, works_byte_by_byte_and_wants_no_byte_more) {
  Handshake calling = initiator();
  Handshake called = acceptor();

  EXPECT_EQ(called.wanted(), Handshake::hello_bytes);
  carry(calling, called, 1);
  carry(called, calling, 1);
  EXPECT_EQ(calling.wanted(), Handshake::verdict_bytes);
  EXPECT_EQ(called.wanted(), Handshake::proof_bytes);
  EXPECT_EQ(carry(calling, called, 1), State::proven);
  called.decide(true);
  EXPECT_EQ(carry(called, calling, 1), State::proven);
  EXPECT_EQ(calling.wanted(), 0U);
  EXPECT_EQ(called.wanted(), 0U);
}

TEST(Handshake, acceptor_may_decline_a_genuine_peer) {
  Handshake calling = initiator();
  Handshake called = acceptor();

  introduce(calling, called);
  called.decide(false);

  EXPECT_EQ(carry(called, calling), State::declined);
}

TEST(Handshake, initiator_without_the_secret_is_refused_and_shown_nothing_made_with_it) {
  Handshake calling = initiator(other_secret);
  Handshake called = acceptor();

  EXPECT_EQ(introduce(calling, called), State::refused);

  EXPECT_EQ(called.why(), "it does not know the job's secret");
  EXPECT_TRUE(called.output().empty());
}

TEST(Handshake, acceptor_without_the_secret_cannot_make_a_verdict) {
  Handshake calling = initiator();
  Handshake impostor = acceptor();
  carry(calling, impostor);
  carry(impostor, calling);
  const auto proof = take_output(calling);

  std::vector<std::byte> verdict(Handshake::verdict_bytes);
  verdict[0] = std::byte{1};
  std::copy(proof.begin(), proof.end(), verdict.begin() + 8);  // the initiator's own proof sent back

  EXPECT_EQ(calling.feed(verdict), State::refused);
  EXPECT_EQ(calling.why(), "it does not know the job's secret");
}

TEST(Handshake, a_declining_verdict_cannot_be_turned_into_an_accepting_one) {
  Handshake calling = initiator();
  Handshake called = acceptor();
  introduce(calling, called);
  called.decide(false);
  auto verdict = take_output(called);
  verdict[0] = std::byte{1};

  EXPECT_EQ(calling.feed(verdict), State::refused);
}

TEST(Handshake, a_hello_sent_back_is_no_challenge) {
  Handshake calling = initiator();

  EXPECT_EQ(calling.feed(take_output(calling)), State::refused);
  EXPECT_EQ(calling.why(), "it is no process of Sluice");
}

TEST(Handshake, proofs_of_another_connection_are_worth_nothing) {
  Handshake earlier_calling = initiator();
  Handshake earlier_called = acceptor();
  carry(earlier_calling, earlier_called);
  carry(earlier_called, earlier_calling);
  const auto proof = take_output(earlier_calling);

  Handshake replaying = initiator();
  Handshake called = Handshake::accept(secret, second, job_size, filled<Nonce>(3));
  carry(replaying, called);

  EXPECT_EQ(called.feed(proof), State::refused);
}

TEST(Handshake, a_flipped_bit_anywhere_is_refused) {
  constexpr std::size_t bits = 8 * (2 * Handshake::hello_bytes + Handshake::proof_bytes + Handshake::verdict_bytes);
  for (std::size_t flipped = 0; flipped < bits; ++flipped) {
    Handshake calling = initiator();
    Handshake called = acceptor();
    std::size_t place = 0;
    const auto carry_damaged = [&](Handshake& from, Handshake& to) {
      auto bytes = take_output(from);
      if (flipped / 8 >= place && flipped / 8 < place + bytes.size()) {
        bytes[flipped / 8 - place] ^= static_cast<std::byte>(1U << flipped % 8);
      }
      place += bytes.size();
      return to.state() == State::going_on ? to.feed(bytes) : to.state();
    };
    carry_damaged(calling, called);
    carry_damaged(called, calling);
    if (carry_damaged(calling, called) == State::proven) {
      called.decide(true);
      carry_damaged(called, calling);
      EXPECT_EQ(calling.state(), State::refused) << "bit " << flipped;
    } else {
      EXPECT_TRUE(called.state() == State::refused || calling.state() == State::refused) << "bit " << flipped;
    }
  }
}

TEST(Handshake, names_a_rank_that_the_job_does_not_have) {
  Handshake calling = initiator(secret, Peer{5});
  Handshake called = acceptor();

  EXPECT_EQ(carry(calling, called), State::refused);
  EXPECT_EQ(called.why(), "it says that it is rank 5 and calls a job of 3");
}

TEST(Handshake, nobody_is_the_rank_that_he_calls) {
  Handshake calling = initiator(secret, second, second);
  Handshake called = acceptor();

  EXPECT_EQ(carry(calling, called), State::refused);
}

TEST(Handshake, a_call_for_another_rank_is_refused) {
  Handshake calling = initiator(secret, first, Peer{2});
  Handshake called = acceptor();

  EXPECT_EQ(carry(calling, called), State::refused);
  EXPECT_EQ(called.why(), "it wants to talk to rank 2");
}

TEST(Handshake, names_another_version) {
  Handshake calling = initiator();
  Handshake called = acceptor();
  auto hello = take_output(calling);
  hello[8] = std::byte{9};

  EXPECT_EQ(called.feed(hello), State::refused);
  EXPECT_EQ(called.why(), "it speaks version 9 of the handshake, this process version 1");
}

TEST(Handshake, the_secret_is_not_among_the_bytes_that_travel) {
  JobSecret key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(0xa0 + i);
  Handshake calling = initiator(key);
  Handshake called = acceptor(key);
  std::vector<std::byte> all;
  const auto carry_seen = [&](Handshake& from, Handshake& to) {
    const auto bytes = take_output(from);
    all.insert(all.end(), bytes.begin(), bytes.end());
    to.feed(bytes);
  };
  carry_seen(calling, called);
  carry_seen(called, calling);
  carry_seen(calling, called);
  called.decide(true);
  carry_seen(called, calling);

  ASSERT_EQ(calling.state(), State::proven);
  EXPECT_EQ(std::search(all.begin(), all.end(), key.begin(), key.begin() + 4), all.end());
  EXPECT_EQ(std::search(all.begin(), all.end(), key.end() - 4, key.end()), all.end());
}

}  // namespace
}  // namespace sluice
