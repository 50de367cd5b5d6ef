#include "verbs/address.hpp"

#include <algorithm>
#include <cstring>

#include "net/wire.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t address_magic = 0x41564c53;  // "SLVA"
constexpr std::uint32_t hello_magic = 0x47564c53;    // "SLVG"
constexpr std::uint16_t version = 2;
constexpr std::uint32_t max_24_bits = 0xffffff;
constexpr std::uint8_t smallest_mtu = 1;  // IBV_MTU_256
constexpr std::uint8_t largest_mtu = 5;   // IBV_MTU_4096
/// A window is counted in 16 bits in front of each message.
constexpr std::uint32_t largest_window = 0xffff;
/// And the slots of a ring in 8.
constexpr std::uint32_t max_ring_slots = 0xff;

}  // namespace

VerbsAddress::Wire VerbsAddress::encode() const {
  Wire bytes{};
  const std::span<std::byte, wire_bytes> record(bytes);
  wire::put<0>(record, address_magic);
  wire::put<4>(record, version);
  wire::put<6>(record, static_cast<std::uint8_t>(network));
  wire::put<7>(record, mtu);
  wire::put<8>(record, lid);
  wire::put<10>(record, port);
  wire::put<12>(record, reads);
  std::memcpy(bytes.data() + 16, gid.data(), gid.size());
  return bytes;
}

std::optional<VerbsAddress> VerbsAddress::decode(std::span<const std::byte, wire_bytes> record) {
  if (wire::get<0, std::uint32_t>(record) != address_magic || wire::get<4, std::uint16_t>(record) != version) return std::nullopt;
  const auto network = wire::get<6, std::uint8_t>(record);
  VerbsAddress address;
  if (network > static_cast<std::uint8_t>(VerbsNetwork::roce_v2_ipv6) || wire::get<11, std::uint8_t>(record) != 0)
    return std::nullopt;
  address.network = static_cast<VerbsNetwork>(network);
  address.mtu = wire::get<7, std::uint8_t>(record);
  address.lid = wire::get<8, std::uint16_t>(record);
  address.port = wire::get<10, std::uint8_t>(record);
  address.reads = wire::get<12, std::uint32_t>(record);
  std::memcpy(address.gid.data(), record.data() + 16, address.gid.size());
  if (address.network == VerbsNetwork::none) return address == VerbsAddress{} ? std::optional(address) : std::nullopt;
  if (address.mtu < smallest_mtu || address.mtu > largest_mtu || address.port == 0) return std::nullopt;
  if (address.network == VerbsNetwork::infiniband ? address.lid == 0 : address.gid == Gid{}) return std::nullopt;
  return address;
}

std::string why_not_together(std::span<const VerbsAddress> addresses) {
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    const VerbsNetwork network = addresses[rank].network;
    if (network == VerbsNetwork::none) return "rank " + std::to_string(rank) + " has no RDMA adapter that it could use";
    if (network == addresses[0].network) continue;
    return "rank " + std::to_string(rank) + " is on " + name_of(network) + ", rank 0 on " + name_of(addresses[0].network);
  }
  return {};
}

VerbsHello::Wire VerbsHello::encode() const {
  Wire bytes{};
  const std::span<std::byte, wire_bytes> record(bytes);
  wire::put<0>(record, hello_magic);
  wire::put<4>(record, version);
  wire::put<6>(record, static_cast<std::uint8_t>(step));
  wire::put<8>(record, queue_pair);
  wire::put<12>(record, packet_number);
  wire::put<16>(record, window);
  wire::put<20>(record, buffer_bytes);
  wire::put<24>(record, ring_words.address);
  wire::put<32>(record, ring_words.key);
  wire::put<36>(record, ring_slots);
  return bytes;
}

std::optional<VerbsHello> VerbsHello::decode(std::span<const std::byte, wire_bytes> record) {
  if (wire::get<0, std::uint32_t>(record) != hello_magic || wire::get<4, std::uint16_t>(record) != version) return std::nullopt;
  const auto step = wire::get<6, std::uint8_t>(record);
  if (step < static_cast<std::uint8_t>(Step::hello) || step > static_cast<std::uint8_t>(Step::goodbye)) return std::nullopt;
  if (wire::get<7, std::uint8_t>(record) != 0 || wire::get<40, std::uint64_t>(record) != 0) return std::nullopt;
  const VerbsHello hello{.step = static_cast<Step>(step),
                         .queue_pair = wire::get<8, std::uint32_t>(record),
                         .packet_number = wire::get<12, std::uint32_t>(record),
                         .window = wire::get<16, std::uint32_t>(record),
                         .buffer_bytes = wire::get<20, std::uint32_t>(record),
                         .ring_words = {wire::get<24, std::uint64_t>(record), wire::get<32, std::uint32_t>(record)},
                         .ring_slots = wire::get<36, std::uint32_t>(record)};
  if (hello.queue_pair > max_24_bits || hello.packet_number > max_24_bits) return std::nullopt;
  if (hello.window == 0 || hello.window > largest_window) return std::nullopt;
  if (hello.ring_slots > max_ring_slots || (hello.ring_slots == 0) != (hello.ring_words.address == 0)) return std::nullopt;
  return hello;
}

}  // namespace sluice
