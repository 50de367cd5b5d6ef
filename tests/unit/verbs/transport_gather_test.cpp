// Messages whose payload the adapter gathers from the program's memory, over a real adapter (in the soft-RoCE guest; skipped
// where there is none), by both paths.

#include <algorithm>

#include "tests/unit/support/verbs_fixture.hpp"

namespace sluice {
namespace {

constexpr Peer one{1};

/// With so many rings.
class verbs_gather : public VerbsFixture, public testing::WithParamInterface<std::size_t> {
 protected:
  void SetUp() override {
    VerbsFixture::SetUp();
    if (!hosts) return;
    VerbsTransport::Options options;
    options.rings = GetParam();
    hosts = std::make_unique<VerbsHosts>(2, options);
    connect();
  }
  bool send_sge(std::span<const std::byte> payload, std::uint32_t key, std::uint64_t token) {
    WireHeader header;
    header.kind = MessageKind::eager;
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    return host(0).send_sge(one, header, payload, key, token);
  }
};

INSTANTIATE_TEST_SUITE_P(Rings, verbs_gather, testing::Values(0, 4),
                         [](const auto& instance) { return instance.param == 0 ? "sent" : "by_ring"; });

TEST_P(verbs_gather, payloads_of_all_sizes_and_places_arrive_whole_between_others_and_their_end_is_told) {
  constexpr std::size_t count = 300;
  const std::size_t max_payload = host(0).max_payload(one) - eager_ring::trailer_bytes;
  std::vector<std::byte> memory(max_payload + count);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 7 + i / 251);
  const Registration registration = registered(0, memory);
  const auto payload_of = [&](std::size_t number) { return std::span(memory).subspan(number, 1 + (number * 977) % max_payload); };
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(poll_until([&] { return send_sge(payload_of(i), registration.local_key, i + 1); })) << i;
    send_surely(0, 1, "between");
  }
  ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == 2 * count && sinks[0].transferred.size() == count; }));
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const std::byte> expected = payload_of(i);
    const std::string& got = sinks[1].messages[2 * i].payload;
    ASSERT_EQ(got.size(), expected.size()) << i;
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), std::as_bytes(std::span(got)).begin())) << i;
    EXPECT_EQ(sinks[1].messages[2 * i + 1].payload, "between");
    EXPECT_EQ(sinks[0].transferred[i], i + 1);
  }
  EXPECT_EQ(host(0).statistics().ring_messages_sent > 0, GetParam() != 0);
  host(0).deregister(registration);
}

}  // namespace
}  // namespace sluice
