#include "shmem/bootstrap.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/support/shmem_node.hpp"

namespace sluice {
namespace {

/// What connecting to `addresses` says, empty when it succeeds.
std::string failure_of(ShmemBootstrap& bootstrap, const std::vector<ShmemAddress>& addresses) {
  try {
    bootstrap.connect(addresses);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

ShmemBootstrap::Options hurried(std::size_t self, std::size_t size) {
  auto options = node_options(self, size);
  options.deadline = Clock::now() + std::chrono::milliseconds(50);
  return options;
}

TEST(ShmemBootstrap, AProcessAloneOnItsNodeNeedsNobody) {
  ShmemBootstrap alone(node_options(0, 1));
  EXPECT_EQ(failure_of(alone, {alone.address()}), "");
}

TEST(ShmemBootstrap, IntroducesManyProcessesInsideOne) { EXPECT_NO_THROW(ShmemNode node(8)); }

TEST(ShmemBootstrap, IntroducesForkedProcesses) {
  Board* board = Board::make();
  const auto meets_everybody = [](ShmemTransport& transport, Board&) { return transport.vanished() == Peer{-1}; };
  ForkedPeer one(*board, 1, 4, meets_everybody);
  ForkedPeer two(*board, 2, 4, meets_everybody);
  ForkedPeer three(*board, 3, 4, meets_everybody);
  EXPECT_NO_THROW(join_node(*board, 0, 4));
  EXPECT_TRUE(one.wait());
  EXPECT_TRUE(two.wait());
  EXPECT_TRUE(three.wait());
}

TEST(ShmemBootstrap, NamesThePeerThatDoesNotAnswer) {
  ShmemBootstrap self(hurried(1, 2));
  ShmemBootstrap silent(node_options(0, 2));
  const std::string failure = failure_of(self, {silent.address(), self.address()});
  EXPECT_NE(failure.find("rank 0"), std::string::npos) << failure;
  EXPECT_NE(failure.find("did not answer in time"), std::string::npos) << failure;
}

TEST(ShmemBootstrap, NamesThePeerThatNeverCalls) {
  ShmemBootstrap self(hurried(0, 2));
  ShmemBootstrap silent(node_options(1, 2));
  const std::string failure = failure_of(self, {self.address(), silent.address()});
  EXPECT_NE(failure.find("rank 1"), std::string::npos) << failure;
}

TEST(ShmemBootstrap, SaysThatNobodyListensWhenThePeerHasEnded) {
  ShmemBootstrap self(node_options(1, 2));
  const ShmemAddress ended = ShmemBootstrap(node_options(0, 2)).address();
  const std::string failure = failure_of(self, {ended, self.address()});
  EXPECT_NE(failure.find("rank 0"), std::string::npos) << failure;
  EXPECT_NE(failure.find("nobody listens"), std::string::npos) << failure;
}

TEST(ShmemBootstrap, RefusesAPeerOfAnotherVersion) {
  ShmemBootstrap self(node_options(0, 2));
  ShmemAddress other = self.address();
  other.layout++;
  EXPECT_NE(failure_of(self, {self.address(), other}).find("another version"), std::string::npos);
}

TEST(ShmemBootstrap, RefusesAPeerThatCouldNotMakeItsPart) {
  ShmemBootstrap self(node_options(0, 2));
  EXPECT_NE(failure_of(self, {self.address(), ShmemAddress{}}).find("cannot share memory"), std::string::npos);
}

TEST(ShmemBootstrap, ACallerThatDoesNotKnowTheTokensIsNotLetIn) {
  ShmemBootstrap self(hurried(0, 2));
  ShmemBootstrap outsider(hurried(1, 2));
  ShmemAddress wrong_token = outsider.address();
  wrong_token.token[0]++;
  std::jthread caller([&] { failure_of(outsider, {self.address(), outsider.address()}); });
  EXPECT_NE(failure_of(self, {self.address(), wrong_token}).find("rank 1"), std::string::npos);
}

TEST(ShmemBootstrap, ACallerThatSaysSomethingElseIsDroppedAndTheOthersMeet) {
  ShmemBootstrap zero(node_options(0, 2));
  ShmemBootstrap one(node_options(1, 2));
  const Descriptor intruder(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + 1, zero.address().name.data(), zero.address().name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + zero.address().name.size());
  ASSERT_EQ(connect(intruder.get(), reinterpret_cast<const sockaddr*>(&name), bytes), 0);
  ASSERT_EQ(write(intruder.get(), "hello?", 6), 6);
  const std::vector addresses{zero.address(), one.address()};
  std::jthread other([&] { EXPECT_EQ(failure_of(one, addresses), ""); });
  EXPECT_EQ(failure_of(zero, addresses), "");
}

TEST(ShmemBootstrap, EachNameIsDrawnAnew) {
  EXPECT_NE(ShmemBootstrap(node_options(0, 1)).address().name, ShmemBootstrap(node_options(0, 1)).address().name);
}

}  // namespace
}  // namespace sluice
