// One run of the simulation, by options; prints one line `name=value ...`. docs/results/receivers.md is made of such lines.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "apps/bench/dragonfly/simulation.hpp"

namespace {

using namespace sluice::dragonfly;  // NOLINT(google-build-using-namespace): a program of its own

template <class Choice>
Choice chosen(const std::map<std::string_view, Choice>& choices, std::string_view value) {
  const auto found = choices.find(value);
  if (found == choices.end()) throw std::invalid_argument("unknown value " + std::string(value));
  return found->second;
}

struct Options {
  Settings settings;
  unsigned cycles = 20'000;
  bool samples = false;
};

unsigned number(const std::string& value) { return static_cast<unsigned>(std::stoul(value)); }

using Member = std::variant<unsigned Settings::*, std::uint64_t Settings::*, double Settings::*, bool Settings::*>;
const std::map<std::string_view, Member> members{
    {"global-links", &Settings::global_links},
    {"aggressive", &Settings::aggressive},
    {"credits", &Settings::credits},
    {"load", &Settings::load},
    {"slow", &Settings::slow_share},
    {"factor", &Settings::slow_factor},
    {"seed", &Settings::seed},
    {"bias", &Settings::bias},
    {"threshold", &Settings::threshold},
    {"local-cycles", &Settings::local_cycles},
    {"global-cycles", &Settings::global_cycles},
    {"queue-of-channel", &Settings::queue_of_channel},
    {"early-minimal", &Settings::early_minimal},
    {"by-router", &Settings::by_router},
    {"one-source-channel", &Settings::one_source_channel},
};

void assign(double& member, const std::string& value) { member = std::stod(value); }
void assign(unsigned& member, const std::string& value) { member = number(value); }
void assign(std::uint64_t& member, const std::string& value) { member = std::stoull(value); }
void assign(bool& member, const std::string& value) { member = number(value) != 0; }

void set(Options& options, std::string_view name, const std::string& value) {
  Settings& settings = options.settings;
  if (const auto found = members.find(name); found != members.end()) {
    std::visit([&](auto member) { assign(settings.*member, value); }, found->second);
  } else if (name == "routing") {
    settings.routing =
        chosen<Routing>({{"min", Routing::minimal}, {"val", Routing::valiant}, {"par", Routing::progressive}}, value);
  } else if (name == "traffic") {
    settings.traffic =
        chosen<Traffic>({{"uniform", Traffic::uniform}, {"next", Traffic::next_group}, {"pairs", Traffic::pairs}}, value);
  } else if (name == "control") {
    settings.control = chosen<Control>(
        {{"none", Control::none}, {"ecn", Control::ecn}, {"credits", Control::credits}, {"window", Control::window}}, value);
  } else if (name == "delay-us") {
    settings.allowed_delay_ns = std::uint64_t{1000} * number(value);
  } else if (name == "buffer") {
    settings.buffer_packets = number(value) / packet_flits;
  } else if (name == "cycles") {
    options.cycles = number(value);
  } else if (name == "samples") {
    options.samples = number(value) != 0;
  } else {
    throw std::invalid_argument("unknown option --" + std::string(name));
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string_view::npos) throw std::invalid_argument("expected --name=value");
    set(options, argument.substr(2, equals - 2), std::string(argument.substr(equals + 1)));
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    Simulation simulation(options.settings);
    simulation.run(options.cycles);
    const Simulation::Converged converged = simulation.converged();
    std::printf(
        "nodes=%u throughput=%.4f converged=%.4f converged_cycles=%u worst=%.4f fast=%.4f latency=%.1f least_latency=%.1f "
        "marked=%.4f window=%.0f events=%llu\n",
        simulation.nodes().count(), simulation.throughput(), converged.throughput,
        (converged.sample + 1) * Simulation::sample_cycles, simulation.worst_fast_node(), simulation.mean_fast_node(),
        simulation.latency(), simulation.least_latency(),
        static_cast<double>(simulation.nodes().totals().marked) / static_cast<double>(simulation.nodes().totals().drained),
        simulation.nodes().mean_window(), static_cast<unsigned long long>(simulation.events()));
    if (options.samples) {
      for (const double sample : simulation.samples()) std::printf("%.4f\n", sample);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dragonfly: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
