#include "apps/bench/dragonfly/fabric.hpp"

#include <algorithm>

namespace sluice::dragonfly {

Fabric::Fabric(const Settings& settings, const Topology& topology, Calendar& calendar, Packets& packets, Random& random)
    : settings_(settings),
      topology_(topology),
      calendar_(calendar),
      packets_(packets),
      random_(random),
      ports_(topology.ports()),
      channels_(settings.by_router ? most_channels : most_channels - 1),
      last_channel_(channels_ - 1),
      pipeline_(settings.pipeline_cycles * ticks_per_cycle),
      credit_(settings.credit_cycles * ticks_per_cycle),
      all_ports_(std::size_t{topology.routers()} * ports_),
      inputs_(all_ports_.size() * channels_),
      waiting_(all_ports_.size() * channels_) {
  for (unsigned router = 0; router < topology.routers(); ++router) {
    for (unsigned port = 0; port < ports_; ++port) {
      Port& made = all_ports_[place(router, port)];
      made.to_node = topology.is_node_port(port);
      made.is_global = topology.is_global_port(port);
      made.ticks = static_cast<std::uint8_t>(topology.link_ticks(port));
      if (made.to_node) {
        made.peer = router * topology.nodes_of_router() + port;
      } else {
        const Topology::End end = topology.other_end(router, port);
        made.peer = place(end.router, end.port);
      }
    }
  }
  for (Waiting& one : waiting_) one.places = static_cast<std::uint16_t>(settings.buffer_packets);
}

void Fabric::inject(unsigned node, std::uint32_t packet) {
  const unsigned at = place(topology_.router_of(node), topology_.port_of(node));
  packets_[packet].channel = 0;
  calendar_.after(all_ports_[at].ticks, {.kind = Event::Kind::arrives, .where = at, .what = packet});
}

void Fabric::taken(unsigned node, unsigned channel) {
  const unsigned at = place(topology_.router_of(node), topology_.port_of(node));
  calendar_.after(all_ports_[at].ticks + credit_,
                  {.kind = Event::Kind::credit, .in = static_cast<std::uint8_t>(channel), .where = at});
}

void Fabric::arrives(unsigned at, std::uint32_t number) {
  Packet& packet = packets_[number];
  packet.arrived = calendar_.now();
  PacketQueue& queue = input(at, packet.channel).queue;
  const bool was_empty = queue.empty();
  queue.push(packets_, number);
  if (was_empty) ask(at / ports_, at % ports_, packet.channel);
}

void Fabric::ask(unsigned router, unsigned in, unsigned channel) {
  Input& asking = input(place(router, in), channel);
  const Hop hop = route(router, in, packets_[asking.queue.first]);
  asking.out = static_cast<std::uint8_t>(hop.port);
  asking.asking = true;
  asking.asked = calendar_.now();
  asking.next = nobody;
  const auto entry = static_cast<std::uint8_t>(in * channels_ + channel);
  Waiting& list = waiting(place(router, hop.port), hop.channel);
  if (list.first == nobody) {
    list.first = entry;
  } else {
    inputs_[router * ports_ * channels_ + list.last].next = entry;
  }
  list.last = entry;
  serve(router, hop.port);
}

/// The oldest of those that can cross to that output now.
void Fabric::serve(unsigned router, unsigned out) {
  const unsigned at = place(router, out);
  if (all_ports_[at].out_busy) return;
  const unsigned base = router * ports_ * channels_;
  unsigned found = nobody;
  unsigned found_before = nobody;
  unsigned found_channel = 0;
  for (unsigned channel = 0; channel < channels_; ++channel) {
    const Waiting& list = waiting(at, channel);
    if (list.places == 0) continue;
    unsigned before = nobody;
    for (unsigned entry = list.first; entry != nobody; before = entry, entry = inputs_[base + entry].next) {
      if (all_ports_[place(router, entry / channels_)].in_busy) continue;
      if (found == nobody || inputs_[base + entry].asked < inputs_[base + found].asked) {
        found = entry;
        found_before = before;
        found_channel = channel;
      }
      break;
    }
  }
  if (found != nobody) cross(router, found, found_before, out, found_channel);
}

void Fabric::cross(unsigned router, unsigned entry, unsigned before, unsigned out, unsigned channel) {
  const unsigned base = router * ports_ * channels_;
  const unsigned in = entry / channels_;
  Input& from = inputs_[base + entry];
  Waiting& list = waiting(place(router, out), channel);
  if (before == nobody) {
    list.first = from.next;
  } else {
    inputs_[base + before].next = from.next;
  }
  if (list.last == entry) list.last = static_cast<std::uint8_t>(before);

  from.asking = false;
  const std::uint32_t number = from.queue.pop(packets_);
  Packet& packet = packets_[number];
  Port& source = all_ports_[place(router, in)];
  Port& target = all_ports_[place(router, out)];
  const Tick now = calendar_.now();
  if (settings_.control == Control::ecn && !target.to_node) mark(packet, list);
  source.in_busy = true;
  target.out_busy = true;
  --list.places;
  ++target.used;
  calendar_.after(crossbar_ticks, {.kind = Event::Kind::crossed,
                                   .in = static_cast<std::uint8_t>(entry),
                                   .out = static_cast<std::uint8_t>(out),
                                   .where = router});
  // The place is free when the tail has left it.
  const Tick left = std::max(now + crossbar_ticks, packet.arrived + packet_ticks);
  calendar_.after(left - now + source.ticks + credit_, {.kind = Event::Kind::credit,
                                                        .in = packet.channel,
                                                        .out = static_cast<std::uint8_t>(source.to_node ? 1 : 0),
                                                        .where = source.to_node ? place(router, in) : source.peer});
  const Tick start = std::max(now + pipeline_, target.link_free);
  target.link_free = start + packet_ticks;
  packet.channel = static_cast<std::uint8_t>(channel);
  packet.global_hops = static_cast<std::uint8_t>(packet.global_hops + (target.is_global ? 1 : 0));
  if (!target.is_global && packet.global_hops == 0) ++packet.source_hops;
  calendar_.after(start + target.ticks - now,
                  {.kind = target.to_node ? Event::Kind::reaches : Event::Kind::arrives, .where = target.peer, .what = number});
}

/// FECN: from half of the next queue on, with a probability that rises to one when it is full.
void Fabric::mark(Packet& packet, const Waiting& next) {
  const double full = 1 - static_cast<double>(next.places) / settings_.buffer_packets;
  const double probability = (full - 0.5) * (settings_.aggressive ? 4 : 2);
  if (probability > 0 && random_.share() < probability) packet.forward_marked = true;
}

void Fabric::crossed(unsigned router, unsigned entry, unsigned out) {
  const unsigned in = entry / channels_;
  const unsigned at = place(router, in);
  all_ports_[at].in_busy = false;
  all_ports_[place(router, out)].out_busy = false;
  const Input& left = input(at, entry % channels_);
  if (!left.asking && !left.queue.empty()) ask(router, in, entry % channels_);
  serve(router, out);
  for (unsigned channel = 0; channel < channels_ && !all_ports_[at].in_busy; ++channel) {
    const Input& other = input(at, channel);
    if (other.asking && other.out != out) serve(router, other.out);
  }
}

void Fabric::credit(unsigned at, unsigned channel, bool to_node) {
  if (to_node) return nodes_->has_place(all_ports_[at].peer);
  ++waiting(at, channel).places;
  --all_ports_[at].used;
  serve(at / ports_, at % ports_);
}

// --- routing -----------------------------------------------------------------------------------------------------------

Fabric::Hop Fabric::route(unsigned router, unsigned in, Packet& packet) {
  const unsigned here = topology_.group_of(router);
  const unsigned target = topology_.group_of(topology_.router_of(packet.destination));
  const bool may_decide = packet.global_hops == 0 && !packet.detour && here != target && !all_ports_[place(router, in)].is_global;
  if (may_decide && settings_.routing != Routing::minimal) decide(router, packet);
  if (packet.detour && packet.global_hops == 1 && (router == packet.via || !settings_.by_router)) packet.reached_via = true;
  return towards(router, packet);
}

/// At the source, and with PAR once more at the next router of the source's group.
void Fabric::decide(unsigned router, Packet& packet) {
  const unsigned here = topology_.group_of(router);
  const unsigned target = topology_.group_of(topology_.router_of(packet.destination));
  unsigned other = random_.below(topology_.groups() - 2);
  other += other >= std::min(here, target) ? 1 : 0;
  other += other >= std::max(here, target) ? 1 : 0;
  Packet by_detour = packet;
  by_detour.detour = true;
  by_detour.via = static_cast<std::uint16_t>(other * topology_.routers_of_group() + random_.below(topology_.routers_of_group()));
  const unsigned own = queued(router, towards(router, packet));
  const unsigned detour = queued(router, towards(router, by_detour));
  const bool minimal = settings_.routing == Routing::progressive && own <= settings_.bias * detour + settings_.threshold;
  if (!minimal) packet = by_detour;
}

/// Flits for which the next queues have not given credit back.
unsigned Fabric::queued(unsigned router, Hop hop) {
  const unsigned at = place(router, hop.port);
  const unsigned used =
      settings_.queue_of_channel ? settings_.buffer_packets - waiting(at, hop.channel).places : all_ports_[at].used;
  return used * packet_flits;
}

Fabric::Hop Fabric::towards(unsigned router, const Packet& packet) const {
  const unsigned here = topology_.group_of(router);
  const unsigned end = topology_.router_of(packet.destination);
  const bool leads_away = packet.detour && !packet.reached_via;
  const unsigned second_local = settings_.one_source_channel ? 0 : 1;
  const unsigned source_channel = packet.source_hops == 0 ? 0 : second_local;
  if (router == end && !leads_away) return {topology_.port_of(packet.destination), last_channel_};
  const unsigned target = leads_away ? topology_.group_of(packet.via) : topology_.group_of(end);
  if (here == target) {
    if (leads_away) return {topology_.local_port(router, packet.via), 2};
    const bool early = settings_.early_minimal && !packet.detour;
    const unsigned channel = packet.global_hops == 0 ? source_channel : early ? 2 : last_channel_;
    return {topology_.local_port(router, end), channel};
  }
  const unsigned gate = topology_.gate(here, target);
  if (gate == router) {
    const bool first_leg = packet.detour ? packet.global_hops == 0 : settings_.early_minimal;
    return {topology_.gate_port(here, target), first_leg ? 0U : 1U};
  }
  const unsigned other_group_channel = settings_.by_router ? 3 : 2;
  return {topology_.local_port(router, gate), packet.global_hops == 0 ? source_channel : other_group_channel};
}

bool Fabric::is_empty() const {
  return std::ranges::all_of(waiting_,
                             [&](const Waiting& one) { return one.first == nobody && one.places == settings_.buffer_packets; }) &&
         std::ranges::all_of(inputs_, [](const Input& one) { return one.queue.empty(); }) &&
         std::ranges::all_of(all_ports_, [](const Port& one) { return one.used == 0 && !one.in_busy && !one.out_busy; });
}

}  // namespace sluice::dragonfly
