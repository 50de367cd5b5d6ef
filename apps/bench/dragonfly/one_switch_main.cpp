// one_switch: the table of docs/results/receivers.md about one receiver, or with options --name=value one line of it. Sizes in
// KB, rates in bytes per ns.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/dragonfly/one_switch.hpp"

namespace {

using sluice::one_switch::Settings;
using sluice::one_switch::Simulation;

constexpr std::uint64_t run_ns = 20'000'000;
constexpr double link = 12.5;
constexpr double kib = 1024;

using Setter = std::function<void(Settings&, double)>;
const std::map<std::string, Setter> knobs{
    {"senders", [](Settings& settings, double value) { settings.senders = static_cast<unsigned>(value); }},
    {"link", [](Settings& settings, double value) { settings.link_bytes_per_ns = value; }},
    {"sink", [](Settings& settings, double value) { settings.sink_bytes_per_ns = value; }},
    {"trunk", [](Settings& settings, double value) { settings.trunk_bytes_per_ns = value; }},
    {"slow-sender", [](Settings& settings, double value) { settings.slow_sender_bytes_per_ns = value; }},
    {"port", [](Settings& settings, double value) { settings.port_bytes = static_cast<std::size_t>(value * kib); }},
    {"partners", [](Settings& settings, double value) { settings.has_partners = value != 0; }},
    {"reads", [](Settings& settings, double value) { settings.reads = value != 0; }},
    {"window", [](Settings& settings, double value) { settings.has_window = value != 0; }},
    {"delay-us", [](Settings& settings, double value) { settings.allowed_delay_ns = static_cast<std::uint64_t>(1000 * value); }},
};

struct Case {
  const char* title;
  Settings settings;
};

std::vector<Case> cases() {
  const Settings victims{.senders = 16, .sink_bytes_per_ns = link / 8, .has_partners = true};
  Settings behind_trunk = victims;
  behind_trunk.trunk_bytes_per_ns = 4 * link;
  return {{"64 senders", {}},
          {"64 senders, sink of 1/2", {.sink_bytes_per_ns = link / 2}},
          {"64 senders, sink of 1/4", {.sink_bytes_per_ns = link / 4}},
          {"64 senders, sink of 1/8", {.sink_bytes_per_ns = link / 8}},
          {"16 senders, one of 1/64", {.senders = 16, .slow_sender_bytes_per_ns = link / 64}},
          {"16 senders with partners, sink of 1/8", victims},
          {"the same behind a trunk of 4 links", behind_trunk}};
}

std::string rates_of_partners(Settings settings, const Simulation& simulation) {
  if (!settings.has_partners) return "–";
  settings.reads = false;
  Simulation alone(settings);
  alone.run(run_ns);
  char text[64];
  std::snprintf(text, sizeof text, "%.2f of %.2f", simulation.partner_rate(), alone.partner_rate());
  return text;
}

void print_row(const Case& one, const char* bound, const Settings& settings) {
  Simulation simulation(settings);
  simulation.run(run_ns);
  std::printf("| %s | %s | %.2f | %.2f | %.0f KB | %.0f KB | %.0f µs | %s |\n", one.title, bound, simulation.rate(),
              simulation.evenness(), simulation.mean_under_way() / kib, static_cast<double>(simulation.most_under_way()) / kib,
              static_cast<double>(simulation.longest_wait_ns()) / 1000, rates_of_partners(settings, simulation).c_str());
}

void print_table() {
  std::puts("| case | bound | GB/s | least sender | under way | at most | longest wait | partners, GB/s |");
  std::puts("|---|---|---|---|---|---|---|---|");
  for (const Case& one : cases()) {
    print_row(one, "each message", one.settings);
    Settings with_window = one.settings;
    with_window.has_window = true;
    print_row(one, "window", with_window);
  }
}

void set(Settings& settings, const std::string& option) {
  const std::size_t equals = option.find('=');
  const auto knob =
      option.starts_with("--") && equals != std::string::npos ? knobs.find(option.substr(2, equals - 2)) : knobs.end();
  if (knob == knobs.end()) throw std::invalid_argument("unknown option " + option);
  knob->second(settings, std::stod(option.substr(equals + 1)));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Settings settings;
    for (int i = 1; i < argc; ++i) set(settings, argv[i]);
    if (argc == 1) {
      print_table();
    } else {
      print_row({"one", settings}, settings.has_window ? "window" : "each message", settings);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "one_switch: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
