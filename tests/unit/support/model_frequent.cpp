#include "tests/unit/support/model_frequent.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/watched_memory.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/engine.hpp"
#include "runtime/guard/page_guard.hpp"
#include "runtime/registration/frequent_sends.hpp"
#include "tests/unit/support/model_adapter.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

constexpr CallSite here{1};
constexpr Tag tag{0};
constexpr std::size_t plenty_of_mappings = 10'000;
constexpr unsigned paper_share = 25;

AdapterKnobs knobs() {
  AdapterKnobs knobs;
  knobs.by_hand = true;
  knobs.max_payload = 16'384;
  return knobs;
}

Config with_second_use() {
  Config config;
  config.release = ReleaseMode::off;
  config.frequent_sends = FrequentChoice::nonblocking;
  config.frequent_share = 0;
  return config;
}

/// A mapping that is joined with no other one, such as a thread's stack, and with a page on each side that is no buffer: where
/// one page is left of a mapping, it cannot become a block.
class Buffers {
 public:
  explicit Buffers(std::size_t bytes)
      : mapping_(::mmap(nullptr, bytes + 4 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes + 4 * page_bytes) {
    if (mapping_.start() == MAP_FAILED) std::abort();
    if (::mprotect(mapping_.start() + page_bytes, bytes + 2 * page_bytes, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  [[nodiscard]] std::byte* start() const { return mapping_.start() + 2 * page_bytes; }

 private:
  Mapping mapping_;
};

std::size_t in_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

/// Two processes, of which each sends from blocks of its own.
class Pair {
 public:
  Pair() {
    watched_memory::set_usable(true);
    // No block is made while a thread is: the engines' own have begun.
    while (!PageGuard::holds_writers_up()) std::this_thread::yield();
  }
  ~Pair() {
    network_.let_helpers_go();
    watched_memory::set_usable(false);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void send(std::size_t from, std::span<std::byte> sent, std::span<std::byte> received) {
    Side& sender = sides_[from];
    Side& receiver = sides_[1 - from];
    Request* const receive = receiver.engine.start_receive(*receiver.world, static_cast<Rank>(from), tag, buffer(received), here);
    Request* const send =
        sender.engine.start_send(*sender.world, static_cast<Rank>(1 - from), tag, buffer(sent), SendMode::standard, here);
    while (!Engine::is_complete(*receive) || (send && !Engine::is_complete(*send))) {
      for (Side& side : sides_) side.engine.progress();
      network_.step();
    }
    if (send) sender.engine.take(send);
    receiver.engine.take(receive);
  }
  [[nodiscard]] FrequentCounts counts(std::uint64_t messages) {
    FrequentCounts counts{.messages = messages};
    for (const Peer side : {Peer{0}, Peer{1}}) {
      counts.saved += network_.counts(side).sge_sends;
      counts.registered += network_.counts(side).registrations;
    }
    return counts;
  }

 private:
  struct Side {
    Side(Peer self, ModelAdapters& network) : engine(one_of_two(self, network.transport(self), with_second_use(), &arena)) {
      world = engine.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, static_cast<Rank>(self));
    }
    AliasArena arena{plenty_of_mappings};
    Engine engine;
    Context* world = nullptr;
  };
  static UserBuffer buffer(std::span<std::byte> data) { return {data.data(), data.size(), sluice::Layout::contiguous(1)}; }

  ModelAdapters network_{2, knobs()};
  Side sides_[2] = {{Peer{0}, network_}, {Peer{1}, network_}};
};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text.data();
}

std::string shown(std::uint64_t number) { return std::to_string(number); }

std::string row(const std::vector<std::string>& cells) {
  std::string text(1, '|');
  for (const std::string& cell : cells) {
    text.push_back(' ');
    text += cell;
    text += " |";
  }
  text.push_back('\n');
  return text;
}

/// Copies that are left when each registration is paid with n of them.
std::string net(const FrequentCounts& counts, unsigned n) {
  const auto left = static_cast<double>(counts.saved) - static_cast<double>(counts.registered) * n;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100.0 * left / static_cast<double>(counts.messages));
  return text.data();
}

std::string heading(const std::vector<std::string>& cells) {
  return row(cells) + row(std::vector<std::string>(cells.size(), "---"));
}

}  // namespace

FrequentCounts ModelFrequent::ping_pong(std::size_t bytes, unsigned trips) {
  const Buffers memory(4 * in_pages(bytes));
  const auto part = [&](std::size_t number) { return std::span(memory.start() + number * in_pages(bytes), bytes); };
  Pair pair;
  for (unsigned i = 0; i < trips; ++i) {
    pair.send(0, part(0), part(1));
    pair.send(1, part(2), part(3));
  }
  return pair.counts(2ULL * trips);
}

FrequentCounts ModelFrequent::spectrum(std::size_t bytes, Layout layout, unsigned number) {
  const std::size_t apart = layout == Layout::separate_pages ? in_pages(bytes) : bytes;
  const Buffers sent(in_pages(apart * number));
  const Buffers received(in_pages(bytes));
  Pair pair;
  for (unsigned i = 1; i <= number; ++i) {
    for (unsigned use = 0; use < i; ++use) pair.send(0, {sent.start() + (i - 1) * apart, bytes}, {received.start(), bytes});
  }
  return pair.counts(std::uint64_t{number} * (number + 1) / 2);
}

FrequentCounts ModelFrequent::spectrum_by_rule(std::size_t bytes, unsigned n, unsigned share, unsigned number) {
  FrequentSends sends(share);
  const auto pages = static_cast<double>(in_pages(bytes) / page_bytes);
  // C - V is 1 ns, and R is n of them.
  sends.set_terms({.copy_per_byte = 1, .use = static_cast<double>(bytes) - 1, .register_per_page = n / pages});
  std::set<FrequentSends::Number> registered;
  FrequentCounts counts;
  for (unsigned i = 1; i <= number; ++i) {
    for (unsigned use = 0; use < i; ++use) {
      const ByteRange message{i * in_pages(bytes), i * in_pages(bytes) + bytes};
      const auto frequent = sends.use(message, FrequentSends::Call::goes_on, [] { return std::optional<FrequentTerms>(); });
      ++counts.messages;
      if (frequent == 0) continue;
      ++counts.saved;
      registered.insert(frequent);
    }
  }
  counts.registered = registered.size();
  return counts;
}

std::string ModelFrequent::ping_pongs() {
  std::string text = heading({"bytes", "messages", "copies saved", "of all", "registrations"});
  for (const std::size_t bytes : {128, 256, 512, 1024, 2048, 4096, 8192}) {
    const FrequentCounts counts = ping_pong(bytes);
    text += row({shown(bytes), shown(counts.messages), shown(counts.saved), percent(counts.saved, counts.messages),
                 shown(counts.registered)});
  }
  return text;
}

std::string ModelFrequent::spectrum_row(std::size_t bytes, Layout layout) {
  const FrequentCounts counts = spectrum(bytes, layout);
  return row({shown(bytes), layout == Layout::back_to_back ? "back to back" : "in separate pages", shown(counts.messages),
              shown(counts.saved), percent(counts.saved, counts.messages), shown(counts.registered)});
}

std::string ModelFrequent::spectra() {
  std::string text = heading({"bytes", "buffers lie", "messages", "copies saved", "of all", "registrations"});
  for (const std::size_t bytes : {512, 2048, 8192}) {
    for (const Layout layout : {Layout::back_to_back, Layout::separate_pages}) text += spectrum_row(bytes, layout);
  }
  return text;
}

std::string ModelFrequent::spectra_by_rule() {
  std::string text =
      heading({"bytes", "n, fast path", "saved", "net", "n, other path", "saved", "net", "n, one-sided", "saved", "net"});
  for (const PaperUses& uses : paper) {
    std::vector<std::string> cells{shown(uses.bytes)};
    for (const unsigned n : {uses.fast_path, uses.other_path, uses.one_sided}) {
      const FrequentCounts counts = spectrum_by_rule(uses.bytes, n, paper_share);
      cells.insert(cells.end(), {shown(n), percent(counts.saved, counts.messages), net(counts, n)});
    }
    text += row(cells);
  }
  return text;
}

}  // namespace sluice
