// What is simulated: a dragonfly as in section 4.1 of RD (Schneider et al., "Fast Networks and Slow Memories"), what its nodes
// send, and how the sending is held back. Where the paper is silent, the comment says what is assumed.
//
// Units: cycles of a link, which carries a flit in each; packets of 16 flits. For the product's read window a flit is 256 bytes
// and a cycle is 20 ns long: a packet is 4 KB, a link carries 100 Gbit/s.
#pragma once

#include <cstdint>

namespace sluice::dragonfly {

/// A third of a cycle: with it the time of a packet in a crossbar of 2.4 times the speed of a link is whole.
using Tick = std::uint32_t;
inline constexpr Tick ticks_per_cycle = 3;
inline constexpr unsigned packet_flits = 16;
inline constexpr Tick packet_ticks = packet_flits * ticks_per_cycle;
inline constexpr Tick crossbar_ticks = packet_ticks * 10 / 24;
static_assert(crossbar_ticks * 24 == packet_ticks * 10);
inline constexpr std::uint64_t packet_bytes = 4096;
/// Of that many ticks.
constexpr std::uint64_t nanoseconds(Tick ticks) { return std::uint64_t{ticks} * 20 / ticks_per_cycle; }

enum class Routing : std::uint8_t {
  minimal,
  valiant,      // by a random other group, always
  progressive,  // PAR: that is decided at the source, and once more at the next router of its group
};

enum class Traffic : std::uint8_t {
  uniform,     // each packet to a random node
  next_group,  // to a random node of the next group: the worst case of minimal routing
  pairs,       // of a random matching, both ways
};

enum class Control : std::uint8_t {
  none,
  ecn,      // FECN and BECN
  credits,  // RDRP as the paper simulates it: a node has so many packets outstanding
  window,   // RDRP with the product's ReadWindow at each receiver
};

struct Settings {
  /// h: global links of a router. It has as many nodes, a group has 2h routers, and there are 2h^2 + 1 groups ("balanced").
  unsigned global_links = 2;
  unsigned local_cycles = 2;
  unsigned global_cycles = 10;
  unsigned node_cycles = 1;      // assumed
  unsigned pipeline_cycles = 3;  // of a router; assumed
  unsigned credit_cycles = 2;    // beside the link's; assumed
  unsigned buffer_packets = 16;  // of a virtual channel: 256 flits

  Routing routing = Routing::progressive;
  double bias = 2;  // minimal if its queue is at most `bias` times the other one, and `threshold`; see receivers.md for 0.5
  unsigned threshold = 30;  // flits
  // Assumed, and varied:
  bool queue_of_channel = false;    // those queues are of the virtual channel, not of the whole output
  bool early_minimal = false;       // minimal packets share channels with the first leg of others, not with the last
  bool by_router = false;           // others go by a random router of the other group, not by whichever they reach
  bool one_source_channel = false;  // both hops inside the source's group share one channel; that can come to a deadlock

  Traffic traffic = Traffic::pairs;
  double load = 1;  // of a node's link; 1: always something to send
  double slow_share = 0;
  unsigned slow_factor = 1;  // a slow node takes a flit in so many cycles

  Control control = Control::none;
  bool aggressive = false;  // ECN marks twice as soon, and decays once in 50 cycles in place of 4
  unsigned credits = 30;
  std::uint64_t allowed_delay_ns = 40'000;  // of the window

  std::uint64_t seed = 1;
};

}  // namespace sluice::dragonfly
