// Two processes that a real adapter joins, for tests of the transport; skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/verbs_hosts.hpp"

namespace sluice {

class TransferSink final : public RecordingSink {
 public:
  void on_transferred(std::uint64_t token) override { transferred.push_back(token); }
  void on_transfer_failed(std::uint64_t token) override { failed.push_back(token); }
  std::vector<std::uint64_t> transferred;
  std::vector<std::uint64_t> failed;
};

class VerbsFixture : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_none = VerbsHosts::why_none();
    if (!why_none.empty()) GTEST_SKIP() << why_none;
    hosts = std::make_unique<VerbsHosts>(2);
  }

  /// Polls until the message has found room.
  void send_surely(std::size_t from, std::size_t to, const std::string& payload) {
    const Peer peer{static_cast<std::int32_t>(to)};
    ASSERT_TRUE(poll_until([&] { return send(host(from), peer, payload); }));
  }
  bool poll_until(const std::function<bool()>& done) { return hosts->poll_until({&sinks[0], &sinks[1]}, done); }
  void connect() {
    send_surely(0, 1, "first");
    ASSERT_TRUE(poll_until([&] { return !sinks[1].messages.empty(); }));
    sinks[1].messages.clear();
  }
  Registration registered(std::size_t index, std::span<std::byte> bytes) {
    Registration registration;
    EXPECT_TRUE(host(index).register_memory(ByteRange::of(bytes.data(), bytes.size()), registration));
    return registration;
  }
  VerbsTransport& host(std::size_t index) { return (*hosts)[index]; }
  static RemoteMemory remote(const Registration& registration) { return {registration.bytes.begin, registration.remote_key}; }

  std::unique_ptr<VerbsHosts> hosts;
  std::array<TransferSink, 2> sinks;
};

}  // namespace sluice
