// What a process says of itself so that others can reach it by verbs: to all, gathered at MPI_Init, and to one peer, over the
// connection by which the two were introduced. Fixed sizes, little-endian, versioned; nothing is used before all was checked.
//
//   VerbsAddress, 32 bytes          VerbsHello, 48 bytes
//    0  magic "SLVA"  4              0  magic "SLVG"  4
//    4  version       2              4  version       2
//    6  network       1              6  step          1   1 hello, 2 ready, 3 goodbye
//    7  path MTU      1  (code)      7  zero          1
//    8  LID           2              8  queue pair    4
//   10  port          1             12  packet number 4   first one that it sends
//   11  zero          1             16  window        4   messages that it has buffers for
//   12  reads         4             20  buffer bytes  4   of each
//   16  GID          16             24  ring words    8   where they are (verbs/eager_ring.hpp); 0: no rings
//                                   32  key           4   of these
//                                   36  ring slots    4   of each ring
//                                   40  zero          8
//
// `network` none: this process has no adapter that it could use; all other fields are zero then.
//
// Threading: none of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/transport/rdma.hpp"
#include "verbs/port_choice.hpp"

namespace sluice {

struct VerbsAddress {
  static constexpr std::size_t wire_bytes = 32;
  using Wire = std::array<std::byte, wire_bytes>;

  VerbsNetwork network = VerbsNetwork::none;
  std::uint8_t mtu = 0;  // ibv_mtu
  std::uint16_t lid = 0;
  std::uint8_t port = 0;
  std::uint32_t reads = 0;  // RDMA reads of one peer that the adapter answers at a time
  Gid gid{};

  bool operator==(const VerbsAddress&) const = default;
  [[nodiscard]] Wire encode() const;
  /// Nothing for what is none.
  [[nodiscard]] static std::optional<VerbsAddress> decode(std::span<const std::byte, wire_bytes> wire);
};

/// Whether all of a job can reach each other by verbs; otherwise why not, naming the first rank that is to blame. By rank.
[[nodiscard]] std::string why_not_together(std::span<const VerbsAddress> addresses);

struct VerbsHello {
  static constexpr std::size_t wire_bytes = 48;
  using Wire = std::array<std::byte, wire_bytes>;
  /// goodbye: this process ends the job, and the end of the connection that follows is no fault.
  enum class Step : std::uint8_t { hello = 1, ready = 2, goodbye = 3 };

  Step step{};
  std::uint32_t queue_pair = 0;
  std::uint32_t packet_number = 0;
  std::uint32_t window = 0;
  std::uint32_t buffer_bytes = 0;
  RemoteMemory ring_words = {};
  std::uint32_t ring_slots = 0;

  bool operator==(const VerbsHello&) const = default;
  [[nodiscard]] Wire encode() const;
  [[nodiscard]] static std::optional<VerbsHello> decode(std::span<const std::byte, wire_bytes> wire);
};

}  // namespace sluice
