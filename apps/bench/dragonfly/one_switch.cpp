#include "apps/bench/dragonfly/one_switch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice::one_switch {
namespace {

constexpr std::size_t packet_bytes = 4096;
constexpr std::size_t short_bytes = 64;
constexpr std::size_t sink_bytes = std::size_t{64} << 10;
constexpr std::uint64_t between_short_ones_ns = 100'000;
constexpr unsigned receiver = 0;

}  // namespace

Simulation::Simulation(const Settings& settings)
    : settings_(settings),
      window_(settings.allowed_delay_ns),
      senders_(settings.senders),
      ports_(settings.senders),
      outputs_(1 + settings.senders) {}

std::uint64_t Simulation::time_of(std::size_t bytes, double rate) const {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes) / rate));
}

void Simulation::run(std::uint64_t ns) {
  if (settings_.reads) {
    post_reads();
    for (unsigned i = 0; i < settings_.senders; ++i) {
      // Not all at once.
      after(between_short_ones_ns * i / settings_.senders, [this, i] { say_something(i); });
    }
  }
  for (unsigned i = 0; i < settings_.senders; ++i) send(i);
  const std::uint64_t counted_from = ns / 4;
  while (!events_.empty() && events_.top().time < ns) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    if (!counts_ && now_ >= counted_from) {
      counts_ = true;
      counted_from_ = under_way_since_ = now_;
      most_under_way_ = under_way_;
    }
    event.happens();
  }
  note_under_way();
  counted_ns_ = now_ - counted_from_;
}

// --- reading -----------------------------------------------------------------------------------------------------------

bool Simulation::may_read(Sender& sender, std::size_t bytes) {
  if (settings_.has_window) return window_.take({bytes, sender.reads, settings_.senders}, now_);
  return sender.reads < ReadWindow::most_reads_of_peer;
}

/// Peers take turns, until a whole round of them may not.
void Simulation::post_reads() {
  for (unsigned refused = 0; refused < settings_.senders;) {
    const unsigned source = next_peer_;
    const std::size_t bytes = settings_.has_window ? window_.chunk() : ReadWindow::most_chunk;
    if (!may_read(senders_[source], bytes)) {
      ++refused;
    } else {
      refused = 0;
      begin_read(source, bytes);
    }
    next_peer_ = (next_peer_ + 1) % settings_.senders;
  }
}

void Simulation::begin_read(unsigned source, std::size_t bytes) {
  if (free_reads_.empty()) {
    free_reads_.push_back(static_cast<unsigned>(reads_.size()));
    reads_.emplace_back();
  }
  const unsigned read = free_reads_.back();
  free_reads_.pop_back();
  reads_[read] = {source, bytes, bytes, now_};
  ++senders_[source].reads;
  note_under_way();
  under_way_ += bytes;
  if (counts_) most_under_way_ = std::max(most_under_way_, under_way_);
  after(settings_.wire_ns, [this, source, read, bytes] {
    senders_[source].chunks.push_back({read, bytes});
    send(source);
  });
}

void Simulation::note_under_way() {
  if (counts_) under_way_ns_ += static_cast<double>(under_way_) * static_cast<double>(now_ - under_way_since_);
  under_way_since_ = now_;
}

void Simulation::say_something(unsigned source) {
  senders_[source].short_ones.push_back(now_);
  send(source);
  after(between_short_ones_ns, [this, source] { say_something(source); });
}

// --- the way of a packet -----------------------------------------------------------------------------------------------

/// One kind after the other: short messages, what is read, what goes to the partner.
bool Simulation::next_packet(unsigned source, Packet& packet) {
  constexpr unsigned kinds = 3;
  Sender& sender = senders_[source];
  for (unsigned tried = 0; tried < kinds; ++tried) {
    const unsigned kind = sender.turn++ % kinds;
    if (kind == 0 && !sender.short_ones.empty()) {
      packet = {source, receiver, 0, short_bytes, sender.short_ones.front()};
      sender.short_ones.pop_front();
      return true;
    }
    if (kind == 1 && !sender.chunks.empty()) {
      Chunk& chunk = sender.chunks.front();
      packet = {source, receiver, chunk.read, std::min(packet_bytes, chunk.left), 0};
      chunk.left -= packet.bytes;
      if (chunk.left == 0) sender.chunks.pop_front();
      return true;
    }
    if (kind == 2 && settings_.has_partners) {
      packet = {source, 1 + source, 0, packet_bytes, 0};
      return true;
    }
  }
  return false;
}

void Simulation::send(unsigned source) {
  Sender& sender = senders_[source];
  if (sender.is_sending || sender.on_the_way + packet_bytes > settings_.port_bytes) return;
  Packet packet;
  if (!next_packet(source, packet)) return;
  const bool is_slow = source == 0 && settings_.slow_sender_bytes_per_ns > 0;
  const double rate = is_slow ? settings_.slow_sender_bytes_per_ns : settings_.link_bytes_per_ns;
  sender.is_sending = true;
  sender.on_the_way += packet.bytes;
  const std::uint64_t takes = time_of(packet.bytes, rate);
  after(takes, [this, source] {
    senders_[source].is_sending = false;
    send(source);
  });
  after(takes + settings_.wire_ns / 2, [this, source, packet] {
    ports_[source].push_back(packet);
    settings_.trunk_bytes_per_ns > 0 ? fill_trunk() : forward(packet.destination);
  });
}

/// The first of a port has left it.
void Simulation::let_go(std::deque<Packet>& port, const Packet& packet) {
  port.pop_front();
  if (&port == &trunk_port_) {
    trunk_bytes_ -= packet.bytes;
    fill_trunk();
  } else {
    senders_[packet.source].on_the_way -= packet.bytes;
    send(packet.source);
  }
  // Whoever was behind it is the first now.
  if (!port.empty()) settings_.trunk_bytes_per_ns > 0 && &port != &trunk_port_ ? fill_trunk() : forward(port.front().destination);
}

void Simulation::fill_trunk() {
  if (trunk_is_sending_ || trunk_bytes_ + packet_bytes > settings_.port_bytes) return;
  for (unsigned tried = 0; tried < settings_.senders; ++tried) {
    std::deque<Packet>& port = ports_[trunk_turn_++ % settings_.senders];
    if (port.empty()) continue;
    const Packet packet = port.front();
    trunk_is_sending_ = true;
    trunk_bytes_ += packet.bytes;
    after(time_of(packet.bytes, settings_.trunk_bytes_per_ns), [this, packet] {
      trunk_is_sending_ = false;
      trunk_port_.push_back(packet);
      if (trunk_port_.size() == 1) forward(packet.destination);
      fill_trunk();
    });
    return let_go(port, packet);
  }
}

/// Which has a packet for that output in front.
std::deque<Simulation::Packet>* Simulation::port_for(Output& output, unsigned destination) {
  if (settings_.trunk_bytes_per_ns > 0) {
    return !trunk_port_.empty() && trunk_port_.front().destination == destination ? &trunk_port_ : nullptr;
  }
  for (unsigned tried = 0; tried < settings_.senders; ++tried) {
    std::deque<Packet>& port = ports_[output.turn++ % settings_.senders];
    if (!port.empty() && port.front().destination == destination) return &port;
  }
  return nullptr;
}

void Simulation::forward(unsigned destination) {
  Output& output = outputs_[destination];
  if (output.is_sending || output.on_the_way + packet_bytes > sink_bytes) return;
  std::deque<Packet>* const port = port_for(output, destination);
  if (!port) return;
  const Packet packet = port->front();
  output.is_sending = true;
  output.on_the_way += packet.bytes;
  const std::uint64_t takes = time_of(packet.bytes, settings_.link_bytes_per_ns);
  after(takes, [this, destination] {
    outputs_[destination].is_sending = false;
    forward(destination);
  });
  after(takes + settings_.wire_ns / 2, [this, destination, packet] {
    outputs_[destination].sink.push_back(packet);
    drain(destination);
  });
  let_go(*port, packet);
}

void Simulation::drain(unsigned destination) {
  Output& output = outputs_[destination];
  if (output.is_draining || output.sink.empty()) return;
  output.is_draining = true;
  const double rate = destination == receiver ? settings_.sink_bytes_per_ns : settings_.link_bytes_per_ns;
  after(time_of(output.sink.front().bytes, rate), [this, destination] {
    Output& done = outputs_[destination];
    const Packet packet = done.sink.front();
    done.sink.pop_front();
    done.is_draining = false;
    done.on_the_way -= packet.bytes;
    taken(packet);
    drain(destination);
    forward(destination);
  });
}

void Simulation::taken(const Packet& packet) {
  if (packet.sent_ns != 0 || packet.bytes == short_bytes) {
    const std::uint64_t alone = settings_.wire_ns + 2 * time_of(short_bytes, settings_.link_bytes_per_ns);
    const std::uint64_t took = now_ - packet.sent_ns;
    if (counts_ && took > alone) longest_wait_ns_ = std::max(longest_wait_ns_, took - alone);
    return;
  }
  if (counts_) outputs_[packet.destination].taken += packet.bytes;
  if (packet.destination != receiver) return;
  if (counts_) {
    read_bytes_ += packet.bytes;
    senders_[packet.source].taken += packet.bytes;
  }
  Read& read = reads_[packet.read];
  read.left -= packet.bytes;
  if (read.left > 0) return;
  note_under_way();
  under_way_ -= read.bytes;
  --senders_[read.source].reads;
  free_reads_.push_back(packet.read);
  if (settings_.has_window) window_.give_back(read.bytes, read.posted_ns, now_);
  post_reads();
}

// --- what became of it -------------------------------------------------------------------------------------------------

double Simulation::evenness() const {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < senders_.size(); ++i) {
    least = std::min(least, senders_[i].taken);
    sum += senders_[i].taken;
  }
  return sum == 0 ? 0 : static_cast<double>(least) * static_cast<double>(senders_.size() - 1) / static_cast<double>(sum);
}

double Simulation::partner_rate() const {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 1; i < outputs_.size(); ++i) least = std::min(least, outputs_[i].taken);
  return rate_of(least);
}

}  // namespace sluice::one_switch
