#include "tests/unit/support/rendezvous_times.hpp"

#include <cstdio>

namespace sluice {
namespace {

struct Heading {
  const char* name;
  Rendezvous protocol;
  bool equal_last;
};

/// In the order of RendezvousTimes::Column.
constexpr std::array<Heading, RendezvousTimes::columns> headings{{{"rput", Rendezvous::rput, false},
                                                                  {"getcqe", Rendezvous::getcqe, false},
                                                                  {"get", Rendezvous::get, false},
                                                                  {"putnr, equal last bytes", Rendezvous::putnr, true},
                                                                  {"put, equal last bytes", Rendezvous::put, true},
                                                                  {"put", Rendezvous::put, false}}};
constexpr std::size_t bytes_per_kb = 1024;
constexpr double ns_per_us = 1000;
constexpr const char* headings_of_gains = "\n| less time | paper | model | at |\n|---|---|---|---|\n";

template <class... Values>
std::string line(const char* format, Values... values) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

double RendezvousTimes::at(Column column, std::size_t size) {
  double& time = times_[column][size];
  if (time == 0) {
    ModelExchange exchange = exchange_;
    exchange.protocol = headings[column].protocol;
    exchange.equal_last = headings[column].equal_last;
    exchange.bytes = sizes[size];
    time = nanoseconds_of(exchange, knobs_);
  }
  return time;
}

std::string RendezvousTimes::row(std::size_t size) {
  std::string text = line("| %zu KB |", sizes[size] / bytes_per_kb);
  for (std::size_t column = 0; column < columns; ++column) text += line(" %.2f |", at(Column{column}, size) / ns_per_us);
  return text + "\n";
}

std::string RendezvousTimes::table() {
  std::string text = "| message |";
  for (const Heading& heading : headings) text += line(" %s |", heading.name);
  text += "\n|---|";
  for (std::size_t column = 0; column < columns; ++column) text += "---|";
  text += "\n";
  for (std::size_t size = 0; size < sizes.size(); ++size) text += row(size);
  return text;
}

std::string RendezvousTimes::gain(const char* claim, const char* paper, Column slow, Column fast) {
  double most = 0;
  std::size_t where = 0;
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    const double share = 1 - at(fast, size) / at(slow, size);
    if (share <= most) continue;
    most = share;
    where = size;
  }
  return line("| %s | %s | up to %.1f %% | %zu KB |\n", claim, paper, 100 * most, sizes[where] / bytes_per_kb);
}

RendezvousTimes bowtie_times() { return RendezvousTimes({.pattern = bowtie_pattern}); }

std::string bowtie_tables(RendezvousTimes& times) {
  using Times = RendezvousTimes;
  return times.table() + headings_of_gains +
         times.gain("put against putnr, messages that end with putnr's constant (figure 7)", "up to 24.6 %", Times::putnr_worst,
                    Times::put_worst) +
         times.gain("put against get (figure 8)", "up to 16.4 %", Times::get, Times::put) +
         times.gain("get against getcqe (figure 6)", "almost none", Times::getcqe, Times::get) +
         times.gain("put against rput, MVAPICH2's default (figure 11)", "up to 37.8 %", Times::rput, Times::put) +
         times.gain("get against rput (figure 11)", "up to 25.7 %", Times::rput, Times::get);
}

/// Several times as long as an announcement takes, with those of others before it.
double ahead_time(Rendezvous protocol, std::size_t bytes) {
  constexpr AdapterKnobs::Nanoseconds ahead = 5000;
  return nanoseconds_of({.pattern = bowtie_pattern, .protocol = protocol, .bytes = bytes, .ahead = ahead});
}

std::string ahead_table() {
  constexpr std::array protocols{Rendezvous::getcqe, Rendezvous::get, Rendezvous::put, Rendezvous::automatic};
  std::string text = "| message |";
  for (const Rendezvous protocol : protocols) text += line(" %s |", name_of(protocol).c_str());
  text += "\n|---|---|---|---|---|\n";
  for (const std::size_t bytes : RendezvousTimes::sizes) {
    text += line("| %zu KB |", bytes / bytes_per_kb);
    for (const Rendezvous protocol : protocols) text += line(" %.2f |", ahead_time(protocol, bytes) / ns_per_us);
    text += "\n";
  }
  return text;
}

/// An exchange has 1,024 messages, so that a few say as much as many of BOWTIE's.
RendezvousTimes alltoall_times(InsideANode inside) {
  AdapterKnobs knobs = machine_of_rv();
  knobs.own_node_on_wire = inside == InsideANode::by_the_adapter;
  return RendezvousTimes({.pattern = alltoall_pattern, .warm_up = 1, .trials = 2}, knobs);
}

std::string alltoall_tables(RendezvousTimes& by_the_adapter, RendezvousTimes& beside_it) {
  using Times = RendezvousTimes;
  return by_the_adapter.table() + headings_of_gains +
         by_the_adapter.gain("put against get (figure 9)", "up to 26.1 %", Times::get, Times::put) +
         beside_it.gain("the same, a node's own messages beside the wire", "up to 26.1 %", Times::get, Times::put) +
         by_the_adapter.gain("put against putnr, messages that end with putnr's constant", "not told", Times::putnr_worst,
                             Times::put_worst) +
         by_the_adapter.gain("put against rput", "not told", Times::rput, Times::put);
}

}  // namespace sluice
