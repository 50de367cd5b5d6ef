#include "apps/bench/dragonfly/nodes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace sluice::dragonfly {
namespace {

constexpr unsigned most_counter = 20;
constexpr unsigned counter_of_mark = 8;
/// Allowance that a tick brings to a node that is not held back is `most_counter`.
constexpr unsigned packet_allowance = packet_flits * ticks_per_cycle * most_counter;

}  // namespace

Nodes::Nodes(const Settings& settings, const Topology& topology, Calendar& calendar, Packets& packets, Random& random,
             Fabric& fabric)
    : settings_(settings),
      topology_(topology),
      calendar_(calendar),
      packets_(packets),
      random_(random),
      fabric_(fabric),
      decay_ticks_((settings.aggressive ? 50 : 4) * ticks_per_cycle),
      nodes_(topology.nodes()) {
  if (settings.control != Control::none && settings.traffic != Traffic::pairs) throw std::invalid_argument("control needs pairs");
  for (Node& node : nodes_) {
    node.places = settings.buffer_packets;
    node.allowance = packet_allowance;
  }
  match_pairs();
  choose_slow();
  if (settings.control == Control::window) readers_.assign(nodes_.size(), Reader(settings.allowed_delay_ns));
}

void Nodes::match_pairs() {
  std::vector<unsigned> order(nodes_.size());
  std::iota(order.begin(), order.end(), 0U);
  for (unsigned i = count(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
    nodes_[order[i]].partner = order[i + 1];
    nodes_[order[i + 1]].partner = order[i];
  }
}

void Nodes::choose_slow() {
  auto left = static_cast<unsigned>(std::lround(settings_.slow_share * count()));
  while (left > 0) {
    Node& node = nodes_[random_.below(count())];
    left -= node.slow ? 0 : 1;
    node.slow = true;
  }
}

/// At times of their own within the first packet, so that they do not go in step.
void Nodes::begin() {
  for (unsigned node = 0; node < count(); ++node) {
    const Tick start = 1 + random_.below(packet_ticks);
    if (settings_.load < 1) {
      generate(node, start);
    } else {
      wake(node, start);
    }
    if (settings_.control == Control::window) post_reads(node);
  }
}

// --- sending -----------------------------------------------------------------------------------------------------------

/// After that long a packet comes into being, and others follow at random. The calendar may be too short for it.
void Nodes::generate(unsigned node, Tick left) {
  if (stopped_) return;
  if (left > 0) {
    const Tick now = std::min(left, calendar_.longest());
    return calendar_.after(now, {.kind = Event::Kind::generate, .where = node, .what = left - now});
  }
  ++nodes_[node].backlog;
  inject(node);
  const double mean = packet_ticks / settings_.load;
  generate(node, 1 + static_cast<Tick>(-mean * std::log(1 - random_.share())));
}

void Nodes::wake(unsigned node, Tick delay) {
  if (nodes_[node].wakes) return;
  nodes_[node].wakes = true;
  calendar_.after(delay, {.kind = Event::Kind::inject, .where = node, .what = 0});
}

bool Nodes::has_something(unsigned node) const {
  if (settings_.control == Control::window) return !readers_[node].grants.empty();
  return settings_.load < 1 ? nodes_[node].backlog > 0 : !stopped_;
}

/// False: an event follows when it may.
bool Nodes::may_send(unsigned number) {
  Node& node = nodes_[number];
  if (node.wakes || !has_something(number) || node.places == 0) return false;
  if (settings_.control == Control::credits && node.outstanding >= settings_.credits) return false;
  if (calendar_.now() < node.link_free) {
    wake(number, node.link_free - calendar_.now());
    return false;
  }
  if (settings_.control != Control::ecn) return true;
  let_time_pass(node);
  if (node.allowance >= packet_allowance) return true;
  wake(number, (packet_allowance - node.allowance + most_counter - 1) / most_counter);
  return false;
}

void Nodes::woken(unsigned node) {
  nodes_[node].wakes = false;
  inject(node);
}

void Nodes::inject(unsigned node) {
  if (may_send(node)) send(node);
}

void Nodes::send(unsigned number) {
  Node& node = nodes_[number];
  const std::uint32_t made = packets_.make();
  Packet& packet = packets_[made];
  packet.source = number;
  packet.destination = destination_of(number);
  packet.injected = calendar_.now();
  if (settings_.load < 1) --node.backlog;
  if (settings_.control == Control::credits) ++node.outstanding;
  if (settings_.control == Control::window) {
    Grant& grant = readers_[number].grants.front();
    packet.read = grant.read;
    if (--grant.left == 0) readers_[number].grants.pop_front();
  }
  if (settings_.control == Control::ecn) {
    node.allowance -= packet_allowance;
    packet.backward_marked = node.owed_marks > 0;
    node.owed_marks -= packet.backward_marked ? 1 : 0;
  }
  ++totals_.injected;
  --node.places;
  node.link_free = calendar_.now() + packet_ticks;
  fabric_.inject(number, made);
  wake(number, packet_ticks);
}

unsigned Nodes::destination_of(unsigned node) {
  switch (settings_.traffic) {
    case Traffic::pairs:
      return nodes_[node].partner;
    case Traffic::next_group: {
      const unsigned group = (topology_.group_of(topology_.router_of(node)) + 1) % topology_.groups();
      return group * topology_.nodes_of_group() + random_.below(topology_.nodes_of_group());
    }
    default: {
      const unsigned other = random_.below(count() - 1);
      return other + (other >= node ? 1 : 0);
    }
  }
}

void Nodes::has_place(unsigned node) {
  ++nodes_[node].places;
  inject(node);
}

// --- ECN ---------------------------------------------------------------------------------------------------------------

void Nodes::let_time_pass(Node& node) const {
  const Tick now = calendar_.now();
  while (node.updated < now) {
    const Tick until = std::min(now, node.decayed + decay_ticks_);
    node.allowance = std::min(packet_allowance, node.allowance + (until - node.updated) * (most_counter - node.counter));
    node.updated = until;
    if (until < node.decayed + decay_ticks_) break;
    node.decayed = until;
    node.counter -= node.counter > 0 ? 1 : 0;
  }
}

void Nodes::note_marks(Node& node, const Packet& packet) const {
  let_time_pass(node);
  node.owed_marks += packet.forward_marked ? 1 : 0;
  if (packet.backward_marked) {
    node.counter = std::min(most_counter, node.counter + counter_of_mark);
  } else {
    node.counter -= node.counter > 0 ? 1 : 0;
  }
}

// --- taking ------------------------------------------------------------------------------------------------------------

void Nodes::arrives(unsigned node, std::uint32_t packet) {
  nodes_[node].sink.push(packets_, packet);
  if (!nodes_[node].is_draining) drain_next(node);
}

/// Flits are drained as they come, so that the time counts from the head on.
void Nodes::drain_next(unsigned number) {
  Node& node = nodes_[number];
  node.is_draining = true;
  const Tick ticks = packet_ticks * (node.slow ? settings_.slow_factor : 1);
  calendar_.after(ticks, {.kind = Event::Kind::drained, .where = number, .what = 0});
}

void Nodes::drained(unsigned number) {
  Node& node = nodes_[number];
  const std::uint32_t done = node.sink.pop(packets_);
  node.is_draining = false;
  const Packet packet = packets_[done];
  packets_.drop(done);
  const Tick least = topology_.head_ticks(packet.source, packet.destination);
  ++node.drained;
  ++totals_.drained;
  totals_.latency_ticks += calendar_.now() - packet.injected;
  totals_.least_ticks += least + packet_ticks;
  totals_.marked += packet.forward_marked ? 1 : 0;
  fabric_.taken(number, packet.channel);
  if (settings_.control == Control::ecn) note_marks(node, packet);
  if (settings_.control == Control::credits) {
    calendar_.after(least, {.kind = Event::Kind::returned, .where = packet.source, .what = 0});
  }
  if (settings_.control == Control::window) read_came(number, packet.read);
  if (!node.sink.empty()) drain_next(number);
}

void Nodes::returned(unsigned node) {
  --nodes_[node].outstanding;
  inject(node);
}

// --- the read window ---------------------------------------------------------------------------------------------------

void Nodes::post_reads(unsigned number) {
  Reader& reader = readers_[number];
  Node& node = nodes_[number];
  while (!stopped_) {
    const std::size_t bytes = reader.window.chunk();
    if (!reader.window.take({bytes, node.outstanding, 1}, nanoseconds(calendar_.now()))) return;
    if (reader.free.empty()) {
      reader.free.push_back(static_cast<std::uint16_t>(reader.reads.size()));
      reader.reads.emplace_back();
    }
    const std::uint16_t read = reader.free.back();
    reader.free.pop_back();
    const auto packets = static_cast<unsigned>(bytes / packet_bytes);
    reader.reads[read] = {calendar_.now(), packets, bytes};
    ++node.outstanding;
    calendar_.after(topology_.head_ticks(number, node.partner),
                    {.kind = Event::Kind::granted, .where = node.partner, .what = packets << 16 | read});
  }
}

void Nodes::granted(unsigned node, std::uint32_t what) {
  readers_[node].grants.push_back({static_cast<std::uint16_t>(what), static_cast<std::uint16_t>(what >> 16)});
  inject(node);
}

void Nodes::read_came(unsigned number, unsigned read) {
  Reader& reader = readers_[number];
  Read& one = reader.reads[read];
  if (--one.left > 0) return;
  reader.window.give_back(one.bytes, nanoseconds(one.posted), nanoseconds(calendar_.now()));
  reader.free.push_back(static_cast<std::uint16_t>(read));
  --nodes_[number].outstanding;
  post_reads(number);
}

double Nodes::mean_window() const {
  double sum = 0;
  for (const Reader& reader : readers_) sum += static_cast<double>(reader.window.bytes());
  return readers_.empty() ? 0 : sum / static_cast<double>(readers_.size());
}

bool Nodes::is_empty() const {
  return std::ranges::all_of(nodes_, [&](const Node& node) {
    return node.sink.empty() && node.places == settings_.buffer_packets && node.outstanding == 0 && node.backlog == 0;
  });
}

}  // namespace sluice::dragonfly
