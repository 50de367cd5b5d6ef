#include "tests/unit/support/model_exchange.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "runtime/engine.hpp"

namespace sluice {
namespace {

constexpr CallSite here{1};
constexpr Tag tag{0};
/// That a process takes between two steps, ns: at random, since no two processes go in step. If they did, what one protocol
/// saves would be as often lost again in who is on the wire first.
constexpr unsigned max_between_steps = 200;
constexpr std::size_t at_a_time = 4;  // of the written-out all-to-all

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

/// One process: exchange after exchange without end.
class Process {
 public:
  Process(ModelAdapters& network, std::size_t self, std::size_t processes, const Config& config, const ModelExchange& exchange)
      : network_(network),
        random_(static_cast<std::uint32_t>(self) + 1),
        ahead_(exchange.ahead),
        steps_(exchange.pattern(self, processes)),
        engine_({.self = static_cast<Peer>(self),
                 .job_size = processes,
                 .transport = &network.transport(static_cast<Peer>(self)),
                 .arena = nullptr,
                 .host = {},
                 .config = config}) {
    std::vector<Peer> group;
    for (std::size_t i = 0; i < processes; ++i) group.push_back(static_cast<Peer>(i));
    world_ = engine_.contexts().adopt(ContextId{1}, group, static_cast<Rank>(self));
    const std::byte last{exchange.equal_last ? std::uint8_t{0} : std::uint8_t{1}};
    for (const ExchangeStep& step : steps_) {
      for (const ExchangeOperation& operation : step) {
        auto& memories = operation.is_send ? outgoing_ : incoming_;
        memories.try_emplace(operation.peer, exchange.bytes, std::byte{operation.is_send});
        if (operation.is_send) outgoing_.at(operation.peer).bytes().back() = last;
      }
    }
  }

  void advance() {
    engine_.progress();
    if (!under_way_) return start();
    if (!std::all_of(requests_.begin(), requests_.end(), [](const Request* request) { return Engine::is_complete(*request); }))
      return;
    for (Request* request : requests_) engine_.take(request);
    requests_.clear();
    under_way_ = false;
    check();
    if (++step_ == steps_.size()) {
      step_ = 0;
      ++done_;
    }
    if (ahead_ != 0) {
      awaits_others_ = true;
      return start_all(false);
    }
    begins_ = network_.now() + random_() % max_between_steps;
    network_.remind_at(begins_);
  }
  /// Everybody has done as much as this process.
  void go_on() {
    if (!awaits_others_) return;
    awaits_others_ = false;
    begins_ = network_.now() + ahead_ + random_() % max_between_steps;
    network_.remind_at(begins_);
  }
  /// Exchanges that are over.
  [[nodiscard]] int done() const { return done_; }

 private:
  void start() {
    if (awaits_others_ || network_.now() < begins_) return;
    if (requests_.empty()) {
      start_all({});
    } else {
      start_all(true);
    }
    under_way_ = true;
  }

  /// Of the step, or of its sends or receives.
  void start_all(std::optional<bool> only_sends) {
    for (const ExchangeOperation& operation : steps_[step_]) {
      if (only_sends && *only_sends != operation.is_send) continue;
      const std::span<std::byte> data = (operation.is_send ? outgoing_ : incoming_).at(operation.peer).bytes();
      const UserBuffer buffer{data.data(), data.size(), Layout::contiguous(1)};
      if (operation.is_send) {
        data.front() = static_cast<std::byte>(done_);
        requests_.push_back(engine_.start_send(*world_, operation.peer, tag, buffer, SendMode::standard, here));
      } else {
        requests_.push_back(engine_.start_receive(*world_, operation.peer, tag, buffer, here));
      }
    }
  }

  /// All messages of an exchange are alike.
  void check() {
    const std::byte last = outgoing_.begin()->second.bytes().back();
    for (const ExchangeOperation& operation : steps_[step_]) {
      if (operation.is_send) continue;
      const std::span<const std::byte> got = incoming_.at(operation.peer).bytes();
      if (got.front() == static_cast<std::byte>(done_) && got.back() == last) continue;
      std::fprintf(stderr, "exchange on the model: a message is not what was sent\n");
      std::abort();
    }
  }

  ModelAdapters& network_;
  std::minstd_rand random_;
  AdapterKnobs::Nanoseconds begins_ = 0;
  const AdapterKnobs::Nanoseconds ahead_;
  const std::vector<ExchangeStep> steps_;
  std::size_t step_ = 0;
  std::map<Rank, PageAligned> outgoing_;  // by peer, as are those that come in
  std::map<Rank, PageAligned> incoming_;
  Engine engine_;  // ends before its buffers: the helper looks at the last bytes of what is announced
  Context* world_ = nullptr;
  std::vector<Request*> requests_;  // of the step that is under way
  bool under_way_ = false;          // all of that is started
  bool awaits_others_ = false;
  int done_ = 0;
};

}  // namespace

std::vector<ExchangeStep> bowtie_pattern(std::size_t self, std::size_t processes) {
  const auto partner = static_cast<Rank>((self + processes / 2) % processes);
  return {{{.is_send = false, .peer = partner}, {.is_send = true, .peer = partner}}};
}

std::vector<ExchangeStep> alltoall_pattern(std::size_t self, std::size_t processes) {
  std::vector<ExchangeStep> steps;
  for (std::size_t first = 0; first < processes; first += at_a_time) {
    ExchangeStep& step = steps.emplace_back();
    for (std::size_t away = first; away < std::min(first + at_a_time, processes); ++away) {
      step.push_back({.is_send = true, .peer = static_cast<Rank>((self + away) % processes)});
      step.push_back({.is_send = false, .peer = static_cast<Rank>((self + processes - away) % processes)});
    }
  }
  return steps;
}

AdapterKnobs machine_of_rv() {
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

double nanoseconds_of(const ModelExchange& exchange, const AdapterKnobs& given) {
  AdapterKnobs knobs = given;
  knobs.by_hand = true;
  const std::size_t processes = 2 * knobs.processes_per_adapter;
  Config config;
  config.rendezvous = exchange.protocol;
  config.eager_limit = 0;
  config.release = ReleaseMode::off;
  config.rtr_wait = 3'600'000'000;  // nobody is late, even where this process is stopped for a while
  ModelAdapters network(processes, knobs);
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t i = 0; i < processes; ++i) {
    all.push_back(std::make_unique<Process>(network, i, processes, config, exchange));
  }

  AdapterKnobs::Nanoseconds begin = 0;
  const auto slowest = [&all] {
    return (*std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->done() < b->done(); }))
        ->done();
  };
  constexpr int rounds = 3;
  const int all_trials = exchange.warm_up + exchange.trials;
  for (bool warm = false; slowest() < all_trials;) {
    for (int round = 0; round < rounds; ++round) {
      for (auto& process : all) process->advance();
    }
    if (exchange.ahead != 0) {
      const int done = slowest();
      for (auto& process : all) {
        if (process->done() == done) process->go_on();
      }
    }
    if (!warm && slowest() == exchange.warm_up) {
      warm = true;
      begin = network.now();
    }
    if (!network.step() && slowest() < all_trials) {
      std::fprintf(stderr, "exchange on the model: stuck\n");
      std::abort();
    }
  }
  const auto nanoseconds = static_cast<double>(network.now() - begin) / exchange.trials - static_cast<double>(exchange.ahead);
  network.let_helpers_go();
  return nanoseconds;
}

}  // namespace sluice
