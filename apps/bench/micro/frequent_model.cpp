// frequent_model [times]: the tables of docs/results/frequent-buffers.md. Without an argument those in counts, which are the same
// in each run; with `times` those of this machine: what decides how many uses pay, and the table of uses beside a tree.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/registration/buffer_use_table.hpp"
#include "runtime/registration/frequent_probe.hpp"
#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/model_adapter.hpp"
#include "tests/unit/support/model_frequent.hpp"

namespace sluice {
namespace {

constexpr std::size_t lookups = 200'000;
constexpr int batches = 9;
constexpr std::size_t plenty_of_mappings = 1000;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// ns a look at one of so many buffers, in random order.
template <class Look>
double time_of(const std::vector<std::uintptr_t>& asked, Look&& look) {
  std::vector<double> found;
  for (int batch = 0; batch < batches; ++batch) {
    const std::uint64_t began = now_ns();
    for (const std::uintptr_t address : asked) look(address);
    found.push_back(static_cast<double>(now_ns() - began) / static_cast<double>(asked.size()));
  }
  return median(found);
}

void print_searches() {
  std::puts("| buffers | table, ns | tree, ns |\n|---|---|---|");
  for (std::size_t number = 100; number <= 1'000'000; number *= 10) {
    BufferUseTable table;
    std::map<std::uintptr_t, std::uint32_t> tree;
    std::minstd_rand random(1);
    std::vector<std::uintptr_t> asked;
    for (std::size_t i = 1; i <= number; ++i) {
      // Frequent, or it would stop growing as chains form.
      if (const auto entered = table.use(i * page_bytes); entered != 0) table.mark_frequent(entered);
      tree[i * page_bytes] = 1;
    }
    for (std::size_t i = 0; i < lookups; ++i) asked.push_back((1 + random() % number) * page_bytes);
    const double in_table = time_of(asked, [&](std::uintptr_t address) { table.use(address); });
    const double in_tree = time_of(asked, [&](std::uintptr_t address) { ++tree.find(address)->second; });
    std::printf("| %zu | %.1f | %.1f |\n", number, in_table, in_tree);
  }
}

/// With the model of an adapter, which pins nothing and asks no hardware: R is the block alone.
void print_terms() {
  std::vector<double> copies;
  std::vector<double> uses;
  std::vector<double> registrations;
  watched_memory::set_usable(true);
  for (int batch = 0; batch < batches; ++batch) {
    AliasArena arena{plenty_of_mappings};
    ModelAdapters network(2);
    EngineBelow below{Peer{0}, network.transport(Peer{0}), {}, &arena};
    FrequentProbe probe;
    const auto terms = probe.measure({arena, below.blocks, below.registrations, *network.transport(Peer{0}).rdma(Peer{1})});
    if (!terms) continue;
    copies.push_back(terms->copy_per_byte);
    uses.push_back(terms->use);
    registrations.push_back(terms->register_per_page);
  }
  if (copies.empty()) return;
  const FrequentTerms terms{median(copies), median(uses), median(registrations)};
  std::printf("C = %.3f ns a byte, V = %.0f ns, R = %.0f ns a page\n\n| bytes | n |\n|---|---|\n", terms.copy_per_byte, terms.use,
              terms.register_per_page);
  FrequentSends sends(100);
  sends.set_terms(terms);
  for (std::size_t bytes = 512; bytes <= 32'768; bytes *= 2) {
    const std::uint32_t needed = sends.uses_needed(bytes);
    const bool is_never = needed == ~std::uint32_t{0};
    std::printf("| %zu | %s |\n", bytes, is_never ? "never" : std::to_string(needed).c_str());
  }
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "times") == 0) {
    sluice::print_terms();
    std::puts("");
    sluice::print_searches();
  } else {
    using sluice::ModelFrequent;
    for (const std::string& table : {ModelFrequent::ping_pongs(), ModelFrequent::spectra(), ModelFrequent::spectra_by_rule()})
      std::puts(table.c_str());
  }
  return 0;
}
