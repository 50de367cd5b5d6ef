#include "apps/bench/dragonfly/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sluice::dragonfly {

Simulation::Simulation(const Settings& settings)
    : settings_(settings),
      topology_(settings_),
      calendar_(std::max(Fabric::longest_delay(settings_), settings_.slow_factor * packet_ticks)),
      random_(settings_.seed),
      fabric_(settings_, topology_, calendar_, packets_, random_),
      nodes_(settings_, topology_, calendar_, packets_, random_, fabric_) {
  fabric_.set_nodes(nodes_);
  nodes_.begin();
  keep_half();
}

void Simulation::keep_half() {
  half_.totals = nodes_.totals();
  half_.drained.resize(nodes_.count());
  for (unsigned node = 0; node < nodes_.count(); ++node) half_.drained[node] = nodes_.drained_by(node);
}

void Simulation::run(unsigned cycles) {
  const unsigned count = cycles / sample_cycles;
  for (unsigned sample = 0; sample < count; ++sample) {
    if (sample == count / 2) keep_half();
    const std::uint64_t before = nodes_.totals().drained;
    calendar_.run_until(calendar_.now() + sample_cycles * ticks_per_cycle, [this](const Event& event) { handle(event); });
    const auto flits = static_cast<double>((nodes_.totals().drained - before) * packet_flits);
    samples_.push_back(flits / sample_cycles / nodes_.count());
  }
}

bool Simulation::run_until_empty() {
  nodes_.stop();
  calendar_.run_until(std::numeric_limits<Tick>::max(), [this](const Event& event) { handle(event); });
  return packets_.alive() == 0 && nodes_.totals().injected == nodes_.totals().drained && fabric_.is_empty() && nodes_.is_empty();
}

void Simulation::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::arrives:
      return fabric_.arrives(event.where, event.what);
    case Event::Kind::crossed:
      return fabric_.crossed(event.where, event.in, event.out);
    case Event::Kind::credit:
      return fabric_.credit(event.where, event.in, event.out != 0);
    case Event::Kind::reaches:
      return nodes_.arrives(event.where, event.what);
    case Event::Kind::inject:
      return nodes_.woken(event.where);
    case Event::Kind::generate:
      return nodes_.generate(event.where, event.what);
    case Event::Kind::drained:
      return nodes_.drained(event.where);
    case Event::Kind::returned:
      return nodes_.returned(event.where);
    case Event::Kind::granted:
      return nodes_.granted(event.where, event.what);
  }
}

double Simulation::throughput() const {
  const auto begin = samples_.begin() + static_cast<std::ptrdiff_t>(samples_.size() / 2);
  return std::accumulate(begin, samples_.end(), 0.0) / static_cast<double>(samples_.end() - begin);
}

Simulation::Converged Simulation::converged() const {
  constexpr double threshold = 0.05;
  constexpr unsigned running = 3;
  unsigned calm = 0;
  for (std::size_t sample = 1; sample < samples_.size(); ++sample) {
    calm = std::abs(samples_[sample] - samples_[sample - 1]) < threshold * samples_[sample - 1] ? calm + 1 : 0;
    if (calm == running) return {samples_[sample], static_cast<unsigned>(sample)};
  }
  return {samples_.back(), static_cast<unsigned>(samples_.size() - 1)};
}

double Simulation::worst_fast_node() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (unsigned node = 0; node < nodes_.count(); ++node) {
    if (!nodes_.is_slow(node)) least = std::min(least, nodes_.drained_by(node) - half_.drained[node]);
  }
  const std::size_t samples = samples_.size() - samples_.size() / 2;
  return static_cast<double>(least * packet_flits) / sample_cycles / static_cast<double>(samples);
}

double Simulation::mean_fast_node() const {
  std::uint64_t sum = 0;
  unsigned fast = 0;
  for (unsigned node = 0; node < nodes_.count(); ++node) {
    if (nodes_.is_slow(node)) continue;
    ++fast;
    sum += nodes_.drained_by(node) - half_.drained[node];
  }
  const std::size_t samples = samples_.size() - samples_.size() / 2;
  return static_cast<double>(sum * packet_flits) / fast / sample_cycles / static_cast<double>(samples);
}

double Simulation::latency() const {
  const auto ticks = static_cast<double>(nodes_.totals().latency_ticks - half_.totals.latency_ticks);
  return ticks / ticks_per_cycle / static_cast<double>(nodes_.totals().drained - half_.totals.drained);
}

double Simulation::least_latency() const {
  const auto ticks = static_cast<double>(nodes_.totals().least_ticks - half_.totals.least_ticks);
  return ticks / ticks_per_cycle / static_cast<double>(nodes_.totals().drained - half_.totals.drained);
}

}  // namespace sluice::dragonfly
