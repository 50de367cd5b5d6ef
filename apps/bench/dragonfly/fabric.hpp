// The routers of the network: input-queued, a crossbar of 2.4 times the speed of a link, virtual channels with credits, packets
// that cut through. As booksim2's `iq` router, which the paper uses, but a packet at a time.
//
// A packet at the head of its input queue asks for an output and a virtual channel there. It gets them when the output's and the
// input's side of the crossbar are free and the next queue has a place; the one that asked first goes first. The output link
// sends what has crossed in that order. Three events for each hop: a head arrives, a packet has crossed, a place is free again.
//
// No deadlock: channels are ordered along every way. l0 < l1 < g0 < l2 < (l3) < g1 < last: hops inside the source's group, to the
// other group, inside it, to the destination's group, inside that. `Settings::one_source_channel` gives that up.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/bench/dragonfly/calendar.hpp"
#include "apps/bench/dragonfly/packets.hpp"
#include "apps/bench/dragonfly/random.hpp"
#include "apps/bench/dragonfly/settings.hpp"
#include "apps/bench/dragonfly/topology.hpp"

namespace sluice::dragonfly {

class Fabric {
 public:
  /// What is at the nodes' end of their links.
  class Nodes {
   public:
    /// The head of a packet is there.
    virtual void arrives(unsigned node, std::uint32_t packet) = 0;
    /// The router has one more place for what the node sends.
    virtual void has_place(unsigned node) = 0;

   protected:
    ~Nodes() = default;
  };

  Fabric(const Settings& settings, const Topology& topology, Calendar& calendar, Packets& packets, Random& random);
  void set_nodes(Nodes& nodes) { nodes_ = &nodes; }

  /// The longest time between an event and one that it causes: all places of a next router are before a packet on its link.
  static Tick longest_delay(const Settings& settings) {
    return (most_channels * settings.buffer_packets + 2) * packet_ticks + 2 * ticks_per_cycle * settings.global_cycles +
           ticks_per_cycle * (settings.pipeline_cycles + settings.credit_cycles);
  }

  /// A node starts to send; it has seen to it that there is a place.
  void inject(unsigned node, std::uint32_t packet);
  /// A node has taken a packet off its router's hands.
  void taken(unsigned node, unsigned channel);

  // --- events
  void arrives(unsigned place, std::uint32_t packet);
  void crossed(unsigned router, unsigned in, unsigned out);
  /// To a node or to an output: by what it was sent for.
  void credit(unsigned place, unsigned channel, bool to_node);

  /// All places are free, and nothing waits.
  [[nodiscard]] bool is_empty() const;

 private:
  static constexpr std::uint8_t nobody = 0xff;
  static constexpr unsigned most_channels = 5;

  struct Input {
    PacketQueue queue;
    Tick asked = 0;              // when its head became the head
    std::uint8_t next = nobody;  // that waits for the same output and channel
    std::uint8_t out = 0;        // what the head asks for
    bool asking = false;
  };
  struct Waiting {
    std::uint8_t first = nobody;
    std::uint8_t last = nobody;
    std::uint16_t places = 0;
  };
  struct Port {
    Tick link_free = 0;
    std::uint32_t peer = 0;  // the place at the other end, or the node
    std::uint16_t used = 0;  // places of the next queues, all channels
    bool in_busy = false;
    bool out_busy = false;
    std::uint8_t ticks = 0;  // of the link
    bool to_node = false;
    bool is_global = false;
  };
  struct Hop {
    unsigned port;
    unsigned channel;
  };

  [[nodiscard]] unsigned place(unsigned router, unsigned port) const { return router * ports_ + port; }
  [[nodiscard]] Input& input(unsigned place, unsigned channel) { return inputs_[place * channels_ + channel]; }
  [[nodiscard]] Waiting& waiting(unsigned place, unsigned channel) { return waiting_[place * channels_ + channel]; }

  void ask(unsigned router, unsigned in, unsigned channel);
  void serve(unsigned router, unsigned out);
  void cross(unsigned router, unsigned entry, unsigned before, unsigned out, unsigned channel);
  void mark(Packet& packet, const Waiting& next);
  Hop route(unsigned router, unsigned in, Packet& packet);
  void decide(unsigned router, Packet& packet);
  [[nodiscard]] Hop towards(unsigned router, const Packet& packet) const;
  [[nodiscard]] unsigned queued(unsigned router, Hop hop);

  const Settings& settings_;
  const Topology& topology_;
  Calendar& calendar_;
  Packets& packets_;
  Random& random_;
  Nodes* nodes_ = nullptr;
  unsigned ports_;
  unsigned channels_;
  unsigned last_channel_;
  Tick pipeline_;
  Tick credit_;
  std::vector<Port> all_ports_;   // by place
  std::vector<Input> inputs_;     // by place and channel
  std::vector<Waiting> waiting_;  // by place and channel
};

}  // namespace sluice::dragonfly
