#include "tests/unit/support/model_bowtie.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "runtime/engine.hpp"

namespace sluice {
namespace {

constexpr CallSite here{1};
constexpr Tag tag{0};
/// That a process takes between two exchanges, ns: at random, since no two processes go in step. If they did, what one protocol
/// saves would be as often lost again in who is on the wire first.
constexpr unsigned max_between_exchanges = 200;
constexpr int warm_up = 4;
constexpr int trials = 16;

/// Memory that begins with a page, so that what lies in which page is the same in each run: the model places data by pages.
class PageAligned {
 public:
  explicit PageAligned(std::size_t bytes, std::byte value) : memory_(bytes + page_bytes, value), bytes_(bytes) {}
  [[nodiscard]] std::span<std::byte> bytes() {
    const std::size_t into_page = reinterpret_cast<std::uintptr_t>(memory_.data()) % page_bytes;
    return std::span(memory_).subspan(page_bytes - into_page, bytes_);
  }

 private:
  std::vector<std::byte> memory_;
  std::size_t bytes_;
};

/// One process: `Irecv, Isend, Waitall` without end.
class Process {
 public:
  Process(ModelAdapters& network, std::size_t self, std::size_t processes, const Config& config, const ModelBowtie& bowtie)
      : network_(network),
        random_(static_cast<std::uint32_t>(self) + 1),
        partner_(static_cast<Rank>((self + processes / 2) % processes)),
        outgoing_memory_(bowtie.bytes, std::byte{1}),
        incoming_memory_(bowtie.bytes, std::byte{}),
        engine_({.self = static_cast<Peer>(self),
                 .job_size = processes,
                 .transport = &network.transport(static_cast<Peer>(self)),
                 .arena = nullptr,
                 .host = {},
                 .config = config}) {
    std::vector<Peer> group;
    for (std::size_t i = 0; i < processes; ++i) group.push_back(static_cast<Peer>(i));
    world_ = engine_.contexts().adopt(ContextId{1}, group, static_cast<Rank>(self));
    if (bowtie.equal_last) outgoing_.back() = std::byte{0};
  }

  /// True when an exchange has ended.
  bool advance() {
    engine_.progress();
    if (!requests_[0]) {
      if (network_.now() < begins_) return false;
      outgoing_.front() = static_cast<std::byte>(done_);
      requests_[0] = engine_.start_receive(*world_, partner_, tag, buffer(incoming_), here);
      requests_[1] = engine_.start_send(*world_, partner_, tag, buffer(outgoing_), SendMode::standard, here);
      return false;
    }
    if (!Engine::is_complete(*requests_[0]) || !Engine::is_complete(*requests_[1])) return false;
    for (Request*& request : requests_) engine_.take(std::exchange(request, nullptr));
    if (incoming_.front() != static_cast<std::byte>(done_) || incoming_.back() != outgoing_.back()) {
      std::fprintf(stderr, "bowtie: a message is not what was sent\n");
      std::abort();
    }
    ++done_;
    begins_ = network_.now() + random_() % max_between_exchanges;
    network_.remind_at(begins_);
    return true;
  }
  [[nodiscard]] int done() const { return done_; }

 private:
  static UserBuffer buffer(std::span<std::byte> data) { return {data.data(), data.size(), Layout::contiguous(1)}; }

  ModelAdapters& network_;
  std::minstd_rand random_;
  AdapterKnobs::Nanoseconds begins_ = 0;
  const Rank partner_;
  PageAligned outgoing_memory_;
  PageAligned incoming_memory_;
  const std::span<std::byte> outgoing_ = outgoing_memory_.bytes();
  const std::span<std::byte> incoming_ = incoming_memory_.bytes();
  Engine engine_;  // ends before its buffers: the helper looks at the last bytes of what is announced
  Context* world_ = nullptr;
  std::array<Request*, 2> requests_{};
  int done_ = 0;
};

}  // namespace

AdapterKnobs ModelBowtie::papers_machine() {
  AdapterKnobs knobs;
  knobs.latency = 850;
  knobs.per_message = 76;
  knobs.per_request = 20;
  knobs.bytes_per_ns = 6.79;
  knobs.notification = 150;
  knobs.processes_per_adapter = 16;
  knobs.max_payload = 16384;
  return knobs;
}

double nanoseconds_of(const ModelBowtie& bowtie, const AdapterKnobs& given) {
  AdapterKnobs knobs = given;
  knobs.by_hand = true;
  const std::size_t processes = 2 * knobs.processes_per_adapter;
  Config config;
  config.rendezvous = bowtie.protocol;
  config.eager_limit = 0;
  config.release = ReleaseMode::off;
  config.rtr_wait = 3'600'000'000;  // nobody is late, even where this process is stopped for a while
  ModelAdapters network(processes, knobs);
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t i = 0; i < processes; ++i) all.push_back(std::make_unique<Process>(network, i, processes, config, bowtie));

  AdapterKnobs::Nanoseconds begin = 0;
  const auto slowest = [&all] {
    return (*std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->done() < b->done(); }))
        ->done();
  };
  constexpr int rounds = 3;
  for (bool warm = false; slowest() < warm_up + trials;) {
    for (int round = 0; round < rounds; ++round) {
      for (auto& process : all) process->advance();
    }
    if (!warm && slowest() == warm_up) {
      warm = true;
      begin = network.now();
    }
    if (!network.step() && slowest() < warm_up + trials) {
      std::fprintf(stderr, "bowtie: stuck\n");
      std::abort();
    }
  }
  const auto nanoseconds = static_cast<double>(network.now() - begin) / trials;
  network.let_helpers_go();
  return nanoseconds;
}

namespace {

struct Heading {
  const char* name;
  Rendezvous protocol;
  bool equal_last;
};

/// In the order of BowtieTimes::Column.
constexpr std::array<Heading, BowtieTimes::columns> headings{{{"rput", Rendezvous::rput, false},
                                                              {"getcqe", Rendezvous::getcqe, false},
                                                              {"get", Rendezvous::get, false},
                                                              {"putnr, equal last bytes", Rendezvous::putnr, true},
                                                              {"put, equal last bytes", Rendezvous::put, true},
                                                              {"put", Rendezvous::put, false}}};
constexpr std::size_t bytes_per_kb = 1024;
constexpr double ns_per_us = 1000;

template <class... Values>
std::string line(const char* format, Values... values) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

BowtieTimes::BowtieTimes() {
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      const Heading& heading = headings[column];
      times_[column][size] =
          nanoseconds_of({.protocol = heading.protocol, .bytes = sizes[size], .equal_last = heading.equal_last});
    }
  }
}

std::string BowtieTimes::gain(const char* claim, const char* paper, Column slow, Column fast) const {
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

std::string BowtieTimes::tables() const {
  std::string text = "| message |";
  for (const Heading& heading : headings) text += line(" %s |", heading.name);
  text += "\n|---|";
  for (std::size_t column = 0; column < columns; ++column) text += "---|";
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    text += line("\n| %zu KB |", sizes[size] / bytes_per_kb);
    for (const auto& column : times_) text += line(" %.2f |", column[size] / ns_per_us);
  }
  text += "\n\n| less time | paper | model | at |\n|---|---|---|---|\n";
  text += gain("put against putnr, messages that end with putnr's constant (figure 7)", "up to 24.6 %", putnr_worst, put_worst);
  text += gain("put against get (figure 8)", "up to 16.4 %", get, put);
  text += gain("get against getcqe (figure 6)", "almost none", getcqe, get);
  text += gain("put against rput, MVAPICH2's default (figure 11)", "up to 37.8 %", rput, put);
  text += gain("get against rput (figure 11)", "up to 25.7 %", rput, get);
  return text;
}

}  // namespace sluice
